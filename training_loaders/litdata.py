"""LitData: chunks of samples that are loaded ahead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.sample_set import INDEX
from adapter_core.training.fields import PlainFields
from adapter_core.training_loader import Feed, TrainingLoader

if TYPE_CHECKING:
    from adapter_core.sample_set import SampleSet
    from adapter_core.training_loader import Batch, Feeding

# Of a chunk, as `litdata.optimize` has it by default.
_CHUNK = "64MB"


class Adapter(TrainingLoader):
    """Chunks of samples through `StreamingDataset` and `StreamingDataLoader`.

    Chunks are shuffled, and the samples within each chunk. A state is the library's.

    Library: https://github.com/Lightning-AI/litData
    """

    label = "LitData"
    requires = ("numpy", "litdata>=0.2.40", "torch>=2.4")
    outside_library_set = "it needs python-dateutil below 3, and PyTorch with gigabytes of CUDA"
    single_rank = "its ranks are those of a process group of PyTorch"

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        from litdata.streaming.cache import Cache

        PlainFields.write(samples, folder)
        chunks = folder / "chunks"
        chunks.mkdir()
        # `litdata.optimize` writes the same from processes, in an order of their own.
        cache = Cache(str(chunks), chunk_bytes=_CHUNK)
        for sample in samples:
            cache[sample[INDEX]] = dict(sample)
        cache.done()
        cache.merge()

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return _Feed(folder, feeding)


class _Feed(Feed):
    def __init__(self, folder: Path, feeding: Feeding) -> None:
        from litdata import StreamingDataLoader, StreamingDataset

        samples = StreamingDataset(
            str(folder / "chunks"),
            shuffle=feeding.seed is not None,
            seed=feeding.seed or 0,
            drop_last=False,
            transform=feeding.decode,
        )
        self._loader: Any = StreamingDataLoader(
            samples,
            batch_size=feeding.batch_size,
            num_workers=feeding.workers,
        )

    def epoch(self, number: int, state: Any = None) -> Iterator[Batch]:
        """Return the batches of an epoch, of tensors and lists of texts."""
        if state is None:
            self._loader.current_epoch = number
        else:
            self._loader.load_state_dict(state)
        yield from self._loader

    def state(self) -> Any:
        """Return the library's state: the epoch, and the samples and workers behind the last batch."""
        return self._loader.state_dict()

    def close(self) -> None:
        """End the workers, which the garbage collector does here."""
        self._loader = None
