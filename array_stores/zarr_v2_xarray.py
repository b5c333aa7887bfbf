"""Zarr format 2 in a directory, through xarray."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.arrays.xarray import XarrayZarrStore
from adapter_core.arrays.zarr import LocalZarrStore
from adapter_core.file_facts import FileFacts


class Adapter(XarrayZarrStore, LocalZarrStore):
    """The directory of `Zarr.v2`, read by xarray's engine `zarr`.

    https://docs.xarray.dev/en/stable/user-guide/io.html#zarr
    """

    label = "Zarr.v2[xarray]"
    suffix = ".zarr"
    requires = ("numpy", "zarr>=3.1", "pcodec", "xarray")
    file_facts = FileFacts(
        version="2",
        parts={"chunks": "as asked"},
        threads="all cores",
        differs="chunks as asked; chunks of zeros are written, too",
    )
    suite = "foxbench"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    zarr_format = 2
    _code_of_store: ClassVar = {"open": "store = {path}", "reopen": "store = {path}"}
