"""Icechunk on a local file system, through xarray."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Trait
from adapter_core.arrays.icechunk import BRANCH, IcechunkStore, storage_of
from adapter_core.arrays.xarray import XarrayZarrStore, write_zarr
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    from adapter_core import ArraySource


class Adapter(XarrayZarrStore, IcechunkStore):
    """The repository of `Icechunk`, read by xarray's engine `zarr`; an answer is a commit.

    https://icechunk.io/en/latest/xarray/
    """

    label = "Icechunk[xarray]"
    file_facts = FileFacts(
        silent="its metadata have a form that the library alone reads", threads="all cores"
    )
    suffix = ".icechunk"
    requires = ("numpy", "zarr>=3.1", "icechunk", "pcodec", "xarray")
    suite = "foxbench"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})

    def _place(self, path: Path) -> Any:
        return self._reading(path)

    def _write_dataset(self, dataset: Any, answer: ArraySource, path: Path) -> None:
        import icechunk

        repository = icechunk.Repository.create(storage_of(path))
        session = repository.writable_session(BRANCH)
        # icechunk.xarray.to_icechunk of icechunk 1.1 fails with xarray 2026.9.
        write_zarr(dataset, answer, session.store)
        session.commit("Write the answer")
