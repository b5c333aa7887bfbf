"""Icechunk on a local file system, through xarray."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from adapter_core import Trait
from adapter_core.arrays.icechunk import IcechunkStore
from adapter_core.arrays.xarray import XarrayZarrStore
from adapter_core.file_facts import FileFacts


# Not icechunk.xarray.to_icechunk: with icechunk 1.1 it fails with xarray 2026.9.
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
