"""Lance with random access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import RemoteFile
from adapter_core.training.arrow import batch_of, samples_of
from adapter_core.training.fields import PlainFields
from adapter_core.training.lance import LanceLoader, open_dataset
from adapter_core.training.loop import LoopFeed, SampleReader

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample
    from adapter_core.training_loader import Batch, Feed, Feeding


class Adapter(LanceLoader):
    """A Lance data set, of which workers take the rows of a batch at once, in a full shuffle.

    The makers' `SafeLanceDataset` does the same for PyTorch's DataLoader, whose workers are those of the
    plain loop here. New processes, not forks, since Lance has threads.
    """

    label = "Lance"
    requires = ("pyarrow>=15", "pylance>=14")
    advice: ClassVar = {
        "workers by spawn, not by fork": "https://lance.org/integrations/pytorch/, 2026-11-26"
    }

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return LoopFeed(partial(_Reader, folder), feeding)

    def _open_remote(self, file: RemoteFile, feeding: Feeding) -> Feed:
        return LoopFeed(partial(_Reader, file), feeding)


class _Reader(SampleReader):
    def __init__(self, place: Path | RemoteFile) -> None:
        self._fields, self._dataset = PlainFields.read(place), open_dataset(place)

    def __len__(self) -> int:
        return self._fields.count

    def get(self, index: int) -> Sample:
        (sample,) = samples_of(self._dataset.take([index]), self._fields)
        return sample

    def batch(self, indices: Sequence[int], decode: Callable[[Sample], Sample]) -> Batch:
        return batch_of(self._dataset.take(list(indices)), self._fields, decode)
