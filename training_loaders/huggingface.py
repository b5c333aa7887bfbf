"""Hugging Face datasets with random access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.training.arrow import batch_of, samples_of
from adapter_core.training.fields import PlainFields
from adapter_core.training.huggingface import HuggingFaceLoader, load
from adapter_core.training.loop import LoopFeed, SampleReader

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample
    from adapter_core.training_loader import Batch, Feed, Feeding


class Adapter(HuggingFaceLoader):
    """A `Dataset`, whose rows workers gather batch by batch, in the order of a full shuffle.

    The workers are the plain loop's: the library leaves them to PyTorch's DataLoader, which asks
    for the rows of a batch at once, too. Rows stay in Arrow until they are samples.
    """

    label = "HuggingFace[map]"
    requires = ("datasets>=3", "pyarrow>=15")

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return LoopFeed(partial(_Reader, folder), feeding)


class _Reader(SampleReader):
    def __init__(self, folder: Path) -> None:
        self._fields = PlainFields.read(folder)
        self._dataset = load(folder).with_format("arrow")

    def __len__(self) -> int:
        return self._fields.count

    def get(self, index: int) -> Sample:
        (sample,) = samples_of(self._dataset[[index]], self._fields)
        return sample

    def batch(self, indices: Sequence[int], decode: Callable[[Sample], Sample]) -> Batch:
        return batch_of(self._dataset[list(indices)], self._fields, decode)
