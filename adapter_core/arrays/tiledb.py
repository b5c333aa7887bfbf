"""Base class of array stores in dense TileDB arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.array_store import ALL_DTYPES, ArrayStore
from adapter_core.arrays.shards import shard_of, shards
from adapter_core.codecs import Codec, ErrorScale
from adapter_core.error_bounds import BoundKind, ErrorBound, error_of
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import Given, Snippet

if TYPE_CHECKING:
    import tiledb

    from adapter_core.array_source import ArraySource

_NAMES = {
    "GzipFilter": "gzip",
    "ZstdFilter": "zstd",
    "LZ4Filter": "lz4",
    "Bzip2Filter": "bzip2",
    "ByteShuffleFilter": "+shuffle",
    "BitShuffleFilter": "+bitshuffle",
    "FloatScaleFilter": "+floatscale",
}
_CLASSES = {name: each for each, name in _NAMES.items()}

FLOAT_SCALE = Codec(
    "zstd+floatscale+shuffle", range(1, 21), 10, error=ErrorScale.ONE, bounds=(BoundKind.ABSOLUTE,)
)
"""Integers that are multiples of a step, with the default level of Zstandard."""


class TileDBStore(ArrayStore):
    """A dense TileDB array in a directory, a tile for each chunk.

    A run of tiles of up to 64 MiB is written as one fragment, TileDB's unit of writing, because each
    fragment costs some milliseconds and two files; the fragments' footers are merged afterwards, and
    opening reads one file. Uncompressed arrays have no filters. TileDB has no type for float16, and no
    arrays without dimensions or values.

    Reads of tiles are merged only across gaps up to 64 KiB. TileDB's default is for object
    storage: it reads at least 20 MiB of a fragment if the tiles in it are that far apart.

    The format is https://github.com/TileDB-Inc/TileDB/blob/main/format_spec/FORMAT_SPEC.md.
    """

    dtypes: ClassVar = ALL_DTYPES - {"float16"}
    dims_range = range(1, 33)
    holds_empty = False
    codecs: ClassVar[tuple[Codec, ...]] = (
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
    file_facts = FileFacts(version="22", parts={"chunks": "as asked"}, threads="all cores")
    snippet: ClassVar[Snippet | str] = Snippet(
        imports="import tiledb",
        write="""
            edges = enumerate(zip(array.shape, chunks))
            dims = [
                tiledb.Dim(f"dim_{axis}", domain=(0, edge - 1), tile=chunk, dtype="uint64")
                for axis, (edge, chunk) in edges
            ]
            filters = tiledb.FilterList([{filters}])
            values = tiledb.Attr("", dtype=array.dtype, filters=filters)
            tiledb.Array.create({path}, tiledb.ArraySchema(tiledb.Domain(*dims), [values]))
            with tiledb.open({path}, "w") as stored:
                stored[:] = array
        """,
        read="""
            with tiledb.open({path}) as stored:
                array = stored[:]
        """,
        given=Given.ARRAY,
        differs="FormatBench's own files also contain names, attributes and chunks of the array",
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the filters."""
        if codec == FLOAT_SCALE.name:
            scale = f"factor=2**{1 - (level or 0)}, offset=0.0, bytewidth=array.dtype.itemsize"
            others = "tiledb.ByteShuffleFilter(), tiledb.ZstdFilter()"
            return {"filters": f"tiledb.FloatScaleFilter({scale}), {others}"}
        algorithm, _, shuffle = (codec or "").partition("+")
        names = [f"{_CLASSES[f'+{shuffle}']}()"] if shuffle else []
        if algorithm:
            names.append(f"{_CLASSES[algorithm]}({'' if level is None else f'level={level}'})")
        return {"filters": ", ".join(f"tiledb.{each}" for each in names)}

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        if any(chunk > edge for chunk, edge in zip(source.chunks, source.shape, strict=True)):
            raise self.refusal(f"TileDB's tiles are not larger than the array, {source.shape}")
        if codec == FLOAT_SCALE.name and source.dtype.name not in ("float32", "float64"):
            raise self.refusal(f"{codec} supports float32 and float64 only, not {source.dtype}")


def schema_of(  # noqa: PLR0913 (the options of an array)
    source: ArraySource,
    codec: str | None,
    level: int | None,
    dims: Sequence[str] = (),
    attribute: str = "",
    *,
    checksums: bool = False,
    bound: ErrorBound | None = None,
) -> tiledb.ArraySchema:
    """Return the schema of an array; names of dimensions are ``dim_0``, ``dim_1``, ... by default."""
    import numpy as np
    import tiledb

    names = dims or [f"dim_{axis}" for axis in range(len(source.shape))]
    axes = [
        tiledb.Dim(name, domain=(0, edge - 1), tile=chunk, dtype=np.uint64)
        for name, edge, chunk in zip(names, source.shape, source.chunks, strict=True)
    ]
    filters = []
    if codec == FLOAT_SCALE.name:
        step = ErrorBound(BoundKind.ABSOLUTE, error_of(level, bound)).step
        width = source.dtype.itemsize
        scale = tiledb.FloatScaleFilter(factor=step, offset=0.0, bytewidth=width)
        filters += [scale, tiledb.ByteShuffleFilter(), tiledb.ZstdFilter()]
    elif codec:
        algorithm, _, shuffle = codec.partition("+")
        if shuffle:
            filters.append(getattr(tiledb, _CLASSES[f"+{shuffle}"])())
        compressor = getattr(tiledb, _CLASSES[algorithm])
        filters.append(compressor() if level is None else compressor(level=level))
    if checksums:
        filters.append(tiledb.ChecksumSHA256Filter())
    values = tiledb.Attr(attribute, dtype=source.dtype, filters=tiledb.FilterList(filters))
    return tiledb.ArraySchema(tiledb.Domain(*axes), [values])


def codec_of(array: tiledb.Array) -> str | None:
    """Return the codec of an open array; None without filters."""
    used = [_NAMES.get(type(each).__name__, "") for each in array.attr(0).filters]
    return "".join(sorted(used, key=lambda name: name.startswith("+"))) or None


@cache
def reading_context() -> tiledb.Ctx:
    """Return the context to open arrays with."""
    # A context starts threads, which costs more than opening an array.
    import tiledb

    # By default a read takes at least 20 MB at once, far more than a chunk.
    # https://docs.tiledb.com/main/how-to/configuration
    return tiledb.Ctx({"vfs.min_batch_size": "0", "vfs.min_batch_gap": str(2**16)})


def write_array(
    uri: str,
    source: ArraySource,
    schema: tiledb.ArraySchema,
    metadata: Mapping[str, Any],
    settings: Mapping[str, str] | None = None,
) -> None:
    """Create an array with its values and metadata, and merge the footers of several fragments.

    Parameters
    ----------
    uri : str
        Absolute path, or address in an object store.
    source, schema, metadata
        Values and facts of the array.
    settings : mapping of str to str, optional
        TileDB's parameters, e.g. `RemoteFile.tiledb_settings`.
    """
    import tiledb

    context = tiledb.Ctx(dict(settings)) if settings else None
    tiledb.Array.create(uri, schema, ctx=context)
    fragments = 0
    with tiledb.open(uri, "w", ctx=context) as array:
        for selection, values in shards(source, shard_of(source)):
            array[selection] = values
            fragments += 1
        for key, value in metadata.items():
            array.meta[key] = value
    if fragments > 1:
        merge_footers(uri, settings)


def merge_footers(uri: str, settings: Mapping[str, str] | None = None) -> None:
    """Merge the footers and the commits of an array's fragments; parameters as for `write_array`."""
    import tiledb

    for mode in ("fragment_meta", "commits"):
        modes = {**(settings or {}), "sm.consolidation.mode": mode, "sm.vacuum.mode": mode}
        context = tiledb.Ctx(modes) if settings else None
        tiledb.consolidate(uri, config=tiledb.Config(modes), ctx=context)
        tiledb.vacuum(uri, config=tiledb.Config(modes), ctx=context)
