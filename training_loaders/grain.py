"""Grain: records of ArrayRecord files, in a global shuffle that is computed, not stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.training.batches import collated
from adapter_core.training.fields import SHARDS, PlainFields
from adapter_core.training.packed import Packing
from adapter_core.training.streams import epoch_seed
from adapter_core.training_loader import Feed, TrainingLoader

if TYPE_CHECKING:
    from adapter_core.sample_set import SampleSet
    from adapter_core.training_loader import Batch, Feeding

# Threads of a process, and batches loaded ahead; Grain's own 16 and 500 are for elements of kilobytes.
# Chosen, not measured: the workers of a plain loop load as many ahead.
_AHEAD = 4


class Adapter(TrainingLoader):
    """ArrayRecord files of MessagePack records through Grain's `MapDataset` and its worker processes.

    An epoch is the shuffled indices, dealt to ranks, decoded, batched and repeated: one iterator with
    its workers goes through all epochs, and starts the next one before an epoch ends: the first batches
    of all but the first epoch are there when they are requested. A state is a number, since any batch of
    any epoch can be computed. Without workers, threads load ahead.

    Library: https://google-grain.readthedocs.io/en/latest/
    """

    label = "Grain"
    shards = SHARDS
    requires = ("numpy", "msgspec>=0.19", "grain>=0.2.10", "array-record")
    modules: ClassVar = {"array-record": "array_record"}
    advice: ClassVar = {"group_size:1 of files": "https://github.com/google/array_record, 2026-11-26"}

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        from array_record.python.array_record_module import ArrayRecordWriter

        fields = PlainFields.write(samples, folder, self.shards)
        for number, indices in enumerate(fields.shards()):
            writer = ArrayRecordWriter(str(folder / f"{number:06d}.array_record"), "group_size:1")
            for index in indices:
                writer.write(Packing.pack(samples[index], fields))
            writer.close()

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return _Feed(folder, feeding)


class _Feed(Feed):
    """Feed of one iterator over all epochs."""

    def __init__(self, folder: Path, feeding: Feeding) -> None:
        import grain

        fields = PlainFields.read(folder)
        dataset = grain.MapDataset.source(
            grain.sources.ArrayRecordDataSource(sorted(map(str, folder.glob("*.array_record"))))
        )
        if feeding.seed is not None:
            # Grain adds the number of the epoch.
            dataset = dataset.shuffle(seed=epoch_seed(feeding.seed, 0))
        dataset = dataset[feeding.rank :: feeding.world].map(Packing(fields, feeding.decode))
        self._batches = dataset.batch(feeding.batch_size, batch_fn=collated)
        self._feeding, self._given, self._place = feeding, 0, -1
        self._iterator: Any = None

    def epoch(self, number: int, state: Any = None) -> Iterator[Batch]:
        """Return the batches of an epoch; a state is the number of those that were given."""
        self._given = state or 0
        place = number * len(self._batches) + self._given
        if place != self._place:
            self._start(place)
        while self._given < len(self._batches):
            batch: Batch = next(self._iterator)
            self._given += 1
            self._place += 1
            yield batch

    def state(self) -> int:
        """Return the number of batches that were given in this epoch."""
        return self._given

    def close(self) -> None:
        """End the workers."""
        if self._iterator is not None:
            self._iterator.close()
            self._iterator = None

    def _start(self, place: int) -> None:
        import grain

        self.close()
        self._place = place
        dataset = self._batches.repeat()[place:].to_iter_dataset(
            grain.ReadOptions(num_threads=_AHEAD, prefetch_buffer_size=_AHEAD)
        )
        if self._feeding.workers:
            dataset = dataset.mp_prefetch(
                grain.MultiprocessingOptions(num_workers=self._feeding.workers)
            )
        self._iterator = iter(dataset)
