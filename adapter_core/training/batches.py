"""Batches of samples, and the order of an epoch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample
    from adapter_core.training_loader import Batch, Feeding


def collated(samples: Sequence[Sample]) -> Batch:
    """Return samples as a batch: arrays of equal shapes are stacked, texts and others are lists."""
    import numpy as np

    batch: dict[str, Sequence[Any]] = {}
    for name in samples[0]:
        values = [each[name] for each in samples]
        if isinstance(values[0], (str, bytes)) or len({np.shape(each) for each in values}) > 1:
            batch[name] = values
        else:
            batch[name] = np.stack(values) if isinstance(values[0], np.ndarray) else np.array(values)
    return batch


def epoch_order(count: int, feeding: Feeding, epoch: int) -> list[int]:
    """Return the indices of a rank's samples in an epoch: of a full shuffle, or in stored order."""
    import numpy as np

    order = np.arange(count)
    if feeding.seed is not None:
        np.random.default_rng([feeding.seed, epoch]).shuffle(order)
    return order[feeding.rank :: feeding.world].tolist()


def batches_of(order: Sequence[int], size: int) -> list[Sequence[int]]:
    """Return the indices of each batch."""
    return [order[number * size : (number + 1) * size] for number in range(math.ceil(len(order) / size))]
