"""PyTorch's DataLoader over a folder of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.training.files import FilesLoader, FilesReader
from adapter_core.training_loader import Feed

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample
    from adapter_core.training_loader import Batch, Feeding


class Adapter(FilesLoader):
    """The files of `Files[loop]` through `DataLoader` and `DistributedSampler`.

    The sampler gives ranks equal numbers of samples, and repeats some of them for that. Each epoch has
    workers of its own, the library's default.

    Library: https://pytorch.org/docs/stable/data.html
    """

    label = "PyTorch"
    requires = ("numpy", "torch>=2.4")
    outside_library_set = "its wheels for Linux on PyPI need gigabytes of CUDA"
    cannot_resume = "`DataLoader` keeps no state; `StatefulDataLoader` is another library's, torchdata"

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return _Feed(folder, feeding)


@dataclass(frozen=True)
class _Samples:
    """Data set with random access, as `DataLoader` has it."""

    reader: FilesReader
    decode: Callable[[Sample], Sample]

    def __len__(self) -> int:
        return len(self.reader)

    def __getitem__(self, index: int) -> Sample:
        return self.decode(self.reader.get(index))


class _Feed(Feed):
    def __init__(self, folder: Path, feeding: Feeding) -> None:
        from torch.utils.data import DataLoader, DistributedSampler

        samples: Any = _Samples(FilesReader(folder), feeding.decode)
        is_shuffled = feeding.seed is not None
        self._sampler: Any = DistributedSampler(
            samples, feeding.world, feeding.rank, shuffle=is_shuffled, seed=feeding.seed or 0
        )
        self._loader: Any = DataLoader(
            samples,
            batch_size=feeding.batch_size,
            sampler=self._sampler,
            num_workers=feeding.workers,
        )

    def epoch(self, number: int, state: Any = None) -> Iterator[Batch]:
        """Return the batches of an epoch, of tensors and lists of texts."""
        self._sampler.set_epoch(number)
        yield from self._loader

    def close(self) -> None:
        """End the workers, which the garbage collector does here."""
        self._loader = None
