"""Dense TileDB arrays through TileDB-Py."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ArrayReader, ArrayStore, Codec, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.array_source import shape_of
from adapter_core.array_store import ALL_DTYPES
from adapter_core.arrays.shards import shard_of, shards

if TYPE_CHECKING:
    import numpy as np
    import tiledb

    from adapter_core import ArraySource
    from adapter_core.array_source import Selection

_NAMES = {
    "GzipFilter": "gzip",
    "ZstdFilter": "zstd",
    "LZ4Filter": "lz4",
    "Bzip2Filter": "bzip2",
    "ByteShuffleFilter": "+shuffle",
    "BitShuffleFilter": "+bitshuffle",
}
_CLASSES = {name: each for each, name in _NAMES.items()}


class Adapter(ArrayStore):
    """A directory with a dense TileDB array, a tile for each chunk.

    A run of tiles of up to 64 MiB is written as one fragment, TileDB's unit of writing, because each
    fragment costs some milliseconds and two files; the fragments' footers are merged afterwards, and
    opening reads one file. Uncompressed arrays have no filters. The name, dimensions, attributes and
    coordinates are JSON in the array's metadata. TileDB has no type for float16, and no arrays without
    dimensions or values.

    Reads of tiles are merged only across gaps up to 64 KiB. TileDB's default is for object
    storage: it reads at least 20 MiB of a fragment if the tiles in it are that far apart.

    The format is https://github.com/TileDB-Inc/TileDB/blob/main/format_spec/FORMAT_SPEC.md.
    """

    label = "TileDB"
    suffix = ".tdb"
    requires = ("tiledb",)
    dtypes: ClassVar = ALL_DTYPES - {"float16"}
    dims_range = range(1, 33)
    holds_empty = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    codecs: ClassVar = (
        Codec("gzip", range(1, 10), 6),
        Codec("gzip+shuffle", range(1, 10), 6),
        Codec("zstd", range(1, 23), 3),
        Codec("zstd+shuffle", range(1, 23), 3),
        Codec("zstd+bitshuffle", range(1, 23), 3),
        Codec("lz4"),
        Codec("lz4+shuffle"),
        Codec("lz4+bitshuffle"),
        Codec("bzip2", range(1, 10), 9),
    )

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        if any(chunk > edge for chunk, edge in zip(source.chunks, source.shape, strict=True)):
            raise self.refusal(f"TileDB's tiles are not larger than the array, {source.shape}")

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import tiledb

        uri = str(path.absolute())
        tiledb.Array.create(uri, _schema(source, codec, level))
        with tiledb.open(uri, "w") as array:
            for selection, values in shards(source, shard_of(source)):
                array[selection] = values
            array.meta[KEY] = Description.of(source).to_json()
        for mode in ("fragment_meta", "commits"):
            settings = {"sm.consolidation.mode": mode, "sm.vacuum.mode": mode}
            tiledb.consolidate(uri, config=tiledb.Config(settings))
            tiledb.vacuum(uri, config=tiledb.Config(settings))

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _codec_used(self, path: Path) -> str | None:
        import tiledb

        with tiledb.open(str(path.absolute())) as array:
            used = [_NAMES.get(type(each).__name__, "") for each in array.attr(0).filters]
        return "".join(sorted(used, key=lambda name: name.startswith("+"))) or None

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign runs of chunks to an array of `tiledb`."""
        import tiledb

        tiledb.Array.create(str(path), _schema(source, None, None))
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
    def __init__(self, path: Path) -> None:
        import tiledb

        self._array = tiledb.open(str(path.absolute()), ctx=_reading_context())
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


@cache
def _reading_context() -> tiledb.Ctx:
    # A context starts threads, which costs more than opening an array.
    import tiledb

    # https://docs.tiledb.com/main/how-to/configuration
    return tiledb.Ctx({"vfs.min_batch_size": "0", "vfs.min_batch_gap": str(2**16)})


def _schema(source: ArraySource, codec: str | None, level: int | None) -> tiledb.ArraySchema:
    import numpy as np
    import tiledb

    dims = [
        tiledb.Dim(f"dim_{axis}", domain=(0, edge - 1), tile=chunk, dtype=np.uint64)
        for axis, (edge, chunk) in enumerate(zip(source.shape, source.chunks, strict=True))
    ]
    filters = []
    if codec:
        algorithm, _, shuffle = codec.partition("+")
        if shuffle:
            filters.append(getattr(tiledb, _CLASSES[f"+{shuffle}"])())
        compressor = getattr(tiledb, _CLASSES[algorithm])
        filters.append(compressor() if level is None else compressor(level=level))
    values = tiledb.Attr(dtype=source.dtype, filters=tiledb.FilterList(filters))
    return tiledb.ArraySchema(tiledb.Domain(*dims), [values])
