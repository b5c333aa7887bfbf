"""Lance with its own sampler of batches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import RemoteFile
from adapter_core.training.arrow import batch_of, samples_of
from adapter_core.training.fields import PlainFields
from adapter_core.training.lance import LanceLoader, open_dataset
from adapter_core.training.streams import SampleStream, StreamFeed

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample
    from adapter_core.training.streams import Part
    from adapter_core.training_loader import Batch, Feed, Feeding


class Adapter(LanceLoader):
    """A Lance data set through `ShardedBatchSampler`: neighbouring rows in batches of shuffled order.

    Ranks and their workers share the batches. The sampler ignores its number of the epoch where rows are
    not filtered (pylance 14), so each epoch has a seed of its own here: `set_epoch` alone would give all
    epochs one order.
    """

    label = "Lance[sampler]"
    requires = ("pyarrow>=15", "pylance>=14")
    cannot_resume = "its sampler has no state"

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return StreamFeed(partial(_Stream, folder), feeding)

    def _open_remote(self, file: RemoteFile, feeding: Feeding) -> Feed:
        return StreamFeed(partial(_Stream, file), feeding)


class _Stream(SampleStream):
    def __init__(self, place: Path | RemoteFile, part: Part) -> None:
        self._fields, self._dataset = PlainFields.read(place), open_dataset(place)
        self._part = part

    def samples(self) -> Iterator[Sample]:
        for rows in self._tables(1):
            yield from samples_of(rows, self._fields)

    def batches(self, feeding: Feeding) -> Iterator[Batch]:
        for rows in self._tables(feeding.batch_size):
            yield batch_of(rows, self._fields, feeding.decode)

    def _tables(self, rows: int) -> Iterator[Any]:
        from lance.sampler import ShardedBatchSampler

        part = self._part
        sampler = ShardedBatchSampler(
            part.rank * part.workers + part.worker,
            part.world * part.workers,
            randomize=part.seed is not None,
            seed=part.epoch_seed or 0,
        )
        yield from sampler(self._dataset, batch_size=rows)
