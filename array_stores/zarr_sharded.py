"""Sharded Zarr format 3 in a directory, through zarr-python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import OBJECT_STORES, RemoteArray, Trait
from adapter_core.arrays.shards import SHARD_BYTES, shard_of, shards
from adapter_core.arrays.zarr import LocalZarrStore, read_rows

if TYPE_CHECKING:
    from adapter_core import ArraySource


class Adapter(LocalZarrStore, RemoteArray):
    """A Zarr group of format 3 in a directory, a file (a shard) for a run of chunks.

    A shard is collected in memory and written once, since zarr-python writes it anew for each chunk that
    is added. It contains as many chunks as 64 MiB do, and its index at the end. zarr-python reads the
    index anew for each selection. A missing shard is an error here, where Zarr itself reads zeros.

    Format: https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html
    """

    label = "Zarr.sharded"
    suffix = ".zarr"
    requires = ("numpy", "zarr>=3.1", "pcodec")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    remote_schemes: ClassVar = OBJECT_STORES
    remote_requires: ClassVar = ("obstore",)
    dims_range = range(1, 33)  # zarr-python cannot divide a shard without dimensions
    shard_bytes = SHARD_BYTES

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign each shard to a slice of `zarr.create_array`."""
        import zarr

        shard = shard_of(source)
        array: Any = zarr.create_array(
            path,
            shape=source.shape,
            chunks=source.chunks,
            shards=shard,
            dtype=source.dtype,
            compressors=None,
        )
        for selection, values in shards(source, shard):
            array[selection] = values

    plain_read = staticmethod(read_rows)
