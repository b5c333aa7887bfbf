"""Zarr format 2 in a directory, through zarr-python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import OBJECT_STORES, RemoteArray, Trait
from adapter_core.arrays.zarr import AppendableZarr, LocalZarrStore, read_rows
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    from adapter_core import ArraySource


class Adapter(LocalZarrStore, AppendableZarr, RemoteArray):
    """A Zarr group of format 2 in a directory, a file for each chunk.

    Names of dimensions are in the attribute that xarray uses. Chunks at the edges are stored whole,
    filled with zeros. A missing chunk is an error here, where Zarr itself reads zeros.

    Format: https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html
    """

    label = "Zarr.v2"
    suffix = ".zarr"
    requires = ("numpy", "zarr>=3.1", "pcodec")
    file_facts = FileFacts(
        version="2",
        parts={"chunks": "as asked"},
        threads="all cores",
        differs="chunks as asked; chunks of zeros are written, too",
    )
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    remote_schemes: ClassVar = OBJECT_STORES
    remote_requires: ClassVar = ("obstore",)
    zarr_format = 2

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign each chunk to a slice of `zarr.create_array`."""
        import zarr

        array: Any = zarr.create_array(
            path,
            shape=source.shape,
            chunks=source.chunks,
            dtype=source.dtype,
            compressors=None,
            zarr_format=2,
        )
        for selection, values in source:
            array[selection] = values

    plain_read = staticmethod(read_rows)
