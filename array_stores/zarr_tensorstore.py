"""Zarr format 3 in a directory, through TensorStore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import RemoteArray, Trait
from adapter_core.arrays.tensorstore import AppendableTensorStore, TensorStoreZarr

if TYPE_CHECKING:
    from adapter_core import ArraySource


class Adapter(TensorStoreZarr, AppendableTensorStore, RemoteArray):
    """A Zarr group of format 3 in a directory, a file for each chunk, through TensorStore.

    Of Zarr's codecs TensorStore has gzip, zstd and Blosc, and no filter besides Blosc's.

    https://google.github.io/tensorstore/driver/zarr3/index.html
    """

    label = "Zarr[tensorstore]"
    suffix = ".zarr"
    requires = ("numpy", "tensorstore")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    remote_schemes: ClassVar = ("s3",)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Write each chunk to a slice of `tensorstore.open`."""
        import tensorstore as ts

        array = ts.open(
            {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}},
            create=True,
            dtype=ts.dtype(source.dtype),
            shape=source.shape,
            chunk_layout=ts.ChunkLayout(chunk_shape=source.chunks),
            context=ts.Context({"file_io_sync": False}),
        ).result()
        for selection, values in source:
            array[selection] = values

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each row of an open array."""
        import tensorstore as ts

        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}}
        array = ts.open(spec, read=True).result()
        return sum(len(array[row : row + 1].read().result()) for row in range(array.shape[0]))
