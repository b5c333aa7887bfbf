"""TFRecord files without TensorFlow, read by Grain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.tfrecord_frames import frame_of, masked
from adapter_core.training.batches import collated
from adapter_core.training.fields import SHARDS, PlainFields
from adapter_core.training.packed import Packing
from adapter_core.training.streams import epoch_seed
from adapter_core.training_loader import Feed, TrainingLoader

if TYPE_CHECKING:
    from adapter_core.sample_set import SampleSet
    from adapter_core.training_loader import Batch, Feeding

# Samples that are shuffled together, and files that are read in turns.
_WINDOW, _CYCLE = 1_024, 4


class Adapter(TrainingLoader):
    """TFRecord shards of MessagePack records through Grain's streams: interleaved, shuffled in windows.

    Shards are shuffled and dealt to ranks, then to workers, which are processes of Grain's for each
    epoch. A state is the library's: places in files, and the window. The checksums of records, which
    Grain 0.2 does not compare, are written.

    Library: https://google-grain.readthedocs.io/en/latest/
    """

    label = "TFRecord"
    shards = SHARDS
    requires = ("numpy", "msgspec>=0.19", "grain>=0.2.10", "google-crc32c")
    modules: ClassVar = {"google-crc32c": "google_crc32c"}

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        import google_crc32c

        fields = PlainFields.write(samples, folder, self.shards)
        for number, indices in enumerate(fields.shards()):
            with (folder / f"{number:06d}.tfrecord").open("wb") as file:
                for index in indices:
                    record = Packing.pack(samples[index], fields)
                    file.write(frame_of(len(record)) + record + masked(google_crc32c.value(record)))

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return _Feed(folder, feeding)


class _Feed(Feed):
    """Feed of an iterator for each epoch."""

    def __init__(self, folder: Path, feeding: Feeding) -> None:
        self._shards = sorted(map(str, folder.glob("*.tfrecord")))[feeding.rank :: feeding.world]
        self._fields, self._feeding = PlainFields.read(folder), feeding
        self._iterator: Any = None

    def epoch(self, number: int, state: Any = None) -> Iterator[Batch]:
        """Return the batches of an epoch; a state is the iterator's."""
        self.close()
        self._iterator = iter(self._dataset(epoch_seed(self._feeding.seed, number)))
        if state is not None:
            self._iterator.set_state(state)
        yield from self._iterator

    def _dataset(self, seed: int | None) -> Any:
        import grain

        feeding = self._feeding
        shards = grain.MapDataset.source(self._shards)
        if seed is None:
            shards = shards.map(grain.experimental.TFRecordIterDataset)
            dataset = grain.experimental.InterleaveIterDataset(shards, cycle_length=1)
        else:
            shards = shards.shuffle(seed=seed).map(grain.experimental.TFRecordIterDataset)
            dataset = grain.experimental.InterleaveIterDataset(shards, cycle_length=_CYCLE)
            dataset = grain.experimental.WindowShuffleIterDataset(
                dataset, window_size=_WINDOW, seed=seed
            )
        dataset = dataset.map(Packing(self._fields, feeding.decode))
        dataset = dataset.batch(feeding.batch_size, batch_fn=collated)
        if feeding.workers:
            dataset = dataset.mp_prefetch(grain.MultiprocessingOptions(num_workers=feeding.workers))
        return dataset

    def state(self) -> Any:
        """Return the state of the iterator."""
        return self._iterator.get_state()

    def close(self) -> None:
        """End the workers."""
        if self._iterator is not None:
            self._iterator.close()
            self._iterator = None
