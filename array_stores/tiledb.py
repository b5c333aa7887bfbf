"""Dense TileDB arrays through TileDB-Py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayReader, ArraySource, Partitions, RemoteArray, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.array_source import shape_of
from adapter_core.arrays.chunk_writing import write_region
from adapter_core.arrays.shards import shard_of, shards
from adapter_core.arrays.tiledb import (
    FLOAT_SCALE,
    TileDBStore,
    codec_of,
    merge_footers,
    reading_context,
    schema_of,
    write_array,
)
from adapter_core.partitioned_arrays import PartitionedArray, Region

if TYPE_CHECKING:
    import numpy as np
    import tiledb

    from adapter_core import RemoteFile, Selection


class Adapter(TileDBStore, Partitions, RemoteArray):
    """A directory with a dense TileDB array, a tile for each chunk.

    The name, dimensions, attributes and coordinates are JSON in the array's metadata.
    """

    label = "TileDB"
    overridden_default = "codec"
    suffix = ".tdb"
    requires = ("tiledb",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    remote_schemes: ClassVar = ("s3",)
    codecs: ClassVar = (*TileDBStore.codecs, FLOAT_SCALE)
    checksums = "SHA-256 of each chunk of a tile: the filter ChecksumSHA256Filter"

    def _schema(self, source: ArraySource, codec: str | None, level: int | None) -> tiledb.ArraySchema:
        facts: Any = {"checksums": self.uses_checksums, "bound": self.error_bound}
        return schema_of(source, codec, level, **facts)

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        metadata = {KEY: Description.of(source).to_json()}
        schema = self._schema(source, codec, level)
        write_array(str(path.absolute()), source, schema, metadata)

    def _save_remote(
        self, source: ArraySource, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        metadata = {KEY: Description.of(source).to_json()}
        schema = self._schema(source, codec, level)
        write_array(file.url, source, schema, metadata, file.tiledb_settings())

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(str(path.absolute()), reading_context())

    def _open_remote(self, file: RemoteFile) -> ArrayReader:
        import tiledb

        return _Reader(file.url, tiledb.Ctx(file.tiledb_settings()))

    def _codec_used(self, path: Path) -> str | None:
        import tiledb

        with tiledb.open(str(path.absolute())) as array:
            return codec_of(array)

    def partitioned(self, path: str | os.PathLike[str]) -> PartitionedArray:
        """Return an array whose processes write fragments of their own."""
        return _Regions(Path(path), self)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign runs of chunks to an array of `tiledb`."""
        import tiledb

        tiledb.Array.create(str(path), schema_of(source, None, None))
        with tiledb.open(str(path), "w") as array:
            for selection, values in shards(source, shard_of(source)):
                array[selection] = values

    @staticmethod
    def plain_read(path: Path) -> int:
        """Index the array by each index of its first axis."""
        import tiledb

        with tiledb.open(str(path)) as array:
            return len([array[index].shape for index in range(array.shape[0])])


class _Regions(PartitionedArray):
    """A dense array to which each process writes fragments of whole tiles.

    A fragment counts when its commit file is written, the last of its files. The footers of all
    fragments are merged by the commit of the array.

    https://github.com/TileDB-Inc/TileDB/blob/main/format_spec/timestamped_name.md
    """

    store: Adapter

    def _create(self, source: ArraySource) -> None:
        import tiledb

        uri = str(self.unfinished.absolute())
        schema = schema_of(source, None, None, checksums=self.store.uses_checksums)
        tiledb.Array.create(uri, schema)
        with tiledb.open(uri, "w") as array:
            array.meta[KEY] = Description.of(source).to_json()

    def write(self, region: Region, values: np.ndarray) -> Region:
        """Write a fragment for each run of tiles; a second attempt's are newer."""
        import tiledb

        with tiledb.open(str(self.unfinished.absolute()), "w") as array:
            chunks = tuple(array.dim(axis).tile for axis in range(array.ndim))
            shape = shard_of(ArraySource.of(values, tuple(map(int, chunks))))
            write_region(array.__setitem__, values, shape, region.start)
        return region

    def _finish(self, regions: Sequence[Region]) -> None:
        del regions
        merge_footers(str(self.unfinished.absolute()))


class _Reader(ArrayReader):
    def __init__(self, uri: str, context: tiledb.Ctx) -> None:
        import tiledb

        self._array = tiledb.open(uri, ctx=context)
        super().__init__(Description.from_json(self._array.meta[KEY]))

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        if 0 in shape_of(selection):
            return np.empty(shape_of(selection), self.dtype)
        found: np.ndarray = self._array[selection]
        return found

    def close(self) -> None:
        if self._array.isopen:
            self._array.close()
