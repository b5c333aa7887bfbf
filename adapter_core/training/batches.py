"""Batches of samples, and the order of an epoch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from adapter_core.sample_set import Sample
from adapter_core.training_loader import Batch, Feeding

T = TypeVar("T")

BLOCK_BATCHES = 32
"""Most batches that a block of neighbouring samples is read for; of 32 samples, 1,024."""

# Blocks of each rank, where there are as many batches: fewer could not be shuffled.
_LEAST_BLOCKS = 16

MIXED_BLOCKS = 8
"""Blocks whose samples are shuffled together, in the memory of one worker. Chosen, not measured."""


def collated(samples: Sequence[Sample]) -> Batch:
    """Return samples as a batch: arrays of equal shapes are stacked, texts and others are lists."""
    import numpy as np

    batch: dict[str, Any] = {}
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


def block_rows(count: int, feeding: Feeding) -> int:
    """Return the number of neighbouring samples in a block: whole batches."""
    batches = count // (feeding.batch_size * feeding.world * _LEAST_BLOCKS)
    return feeding.batch_size * max(1, min(BLOCK_BATCHES, batches))


def block_groups(count: int, feeding: Feeding, epoch: int) -> list[list[int]]:
    """Return the indices of a rank in an epoch, group by group of shuffled blocks.

    Without a seed, a group is a block, and the order is the stored one.
    """
    import numpy as np

    rows = block_rows(count, feeding)
    blocks = [list(range(start, min(start + rows, count))) for start in range(0, count, rows)]
    if feeding.seed is None:
        return blocks[feeding.rank :: feeding.world]
    random = np.random.default_rng([feeding.seed, epoch])
    # Whole batches: a block that is cut short is the last of its group, and the group the last.
    short = blocks.pop() if count % rows else []
    random.shuffle(blocks)
    blocks += [short] if short else []
    own = blocks[feeding.rank :: feeding.world]
    groups = [
        [index for block in own[first : first + MIXED_BLOCKS] for index in block]
        for first in range(0, len(own), MIXED_BLOCKS)
    ]
    for group in groups:
        random.shuffle(group)
    return groups


def batches_of(order: Sequence[int], size: int) -> list[Sequence[int]]:
    """Return the indices of each batch."""
    return [order[number * size : (number + 1) * size] for number in range(math.ceil(len(order) / size))]


def grouped(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of consecutive items; the last may be shorter."""
    left = iter(items)
    while group := list(islice(left, size)):
        yield group
