"""Dense TileDB arrays through TileDB-Py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ArrayReader, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.array_source import shape_of
from adapter_core.arrays.shards import shard_of, shards
from adapter_core.arrays.tiledb import (
    TileDBStore,
    codec_of,
    reading_context,
    remote_settings,
    schema_of,
    write_array,
)

if TYPE_CHECKING:
    import numpy as np
    import tiledb

    from adapter_core import ArraySource, RemoteFile
    from adapter_core.array_source import Selection


class Adapter(TileDBStore):
    """A directory with a dense TileDB array, a tile for each chunk.

    The name, dimensions, attributes and coordinates are JSON in the array's metadata.
    """

    label = "TileDB"
    suffix = ".tdb"
    requires = ("tiledb",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    remote_schemes: ClassVar = ("s3",)
    checksums = "SHA-256 of each chunk of a tile: the filter ChecksumSHA256Filter"

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        metadata = {KEY: Description.of(source).to_json()}
        schema = schema_of(source, codec, level, checksums=self.uses_checksums)
        write_array(str(path.absolute()), source, schema, metadata)

    def _save_remote(
        self, source: ArraySource, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        metadata = {KEY: Description.of(source).to_json()}
        schema = schema_of(source, codec, level, checksums=self.uses_checksums)
        write_array(file.url, source, schema, metadata, remote_settings(file))

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(str(path.absolute()), reading_context())

    def _open_remote(self, file: RemoteFile) -> ArrayReader:
        import tiledb

        return _Reader(file.url, tiledb.Ctx(remote_settings(file)))

    def _codec_used(self, path: Path) -> str | None:
        import tiledb

        with tiledb.open(str(path.absolute())) as array:
            return codec_of(array)

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
