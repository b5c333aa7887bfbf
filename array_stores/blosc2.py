"""Blosc2 arrays (b2nd) through python-blosc2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Appendable, ArrayReader, Codec, ErrorScale, Given, Snippet, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.array_source import shape_of
from adapter_core.arrays.chunk_writing import write_chunks
from adapter_core.codec_choice import Recommended
from adapter_core.error_bounds import BoundKind
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import literal

if TYPE_CHECKING:
    import blosc2
    import numpy as np

    from adapter_core import ArraySource, Selection
    from adapter_core.error_bounds import ErrorBound

_LEVELS = range(1, 10)
_LEVEL = 5
_CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
_FILTERS = {"": ("SHUFFLE",), "bitshuffle": ("BITSHUFFLE",), "bytedelta": ("SHUFFLE", "BYTEDELTA")}
_TRUNCATED, _TRUNCATION = "zstd+truncation", ("TRUNC_PREC", "SHUFFLE")
_MANTISSA_BITS = {"float32": 23, "float64": 52}
# BLOSC2_MAX_BUFFERSIZE of blosc2.h.
_MOST_CHUNK_BYTES = 2**31 - 32 - 1
# B2ND_MAX_DIM of b2nd.h.
_MOST_DIMS = 16
# A part of a core's cache of the second level, as c-blosc2 chooses blocks. Chosen, not measured.
_BLOCK_BYTES = 2**18
# Place of the frame's length, of eight bytes, in the header of a contiguous frame,
# https://www.blosc.org/c-blosc2/format/cframe_format.html.
_FRAME_BYTES = slice(16, 24)


class Adapter(Appendable):
    """A b2nd file, a contiguous frame of chunks that are divided into blocks.

    Readers map the file and decode only the blocks that they need. The library chooses the blocks, and
    pads chunks to a multiple of them; without a codec, that would enlarge files by up to a half, so that
    blocks divide the chunk then. The name, dimensions, attributes and coordinates are JSON in the
    frame's variable-length metadata. Writing many small chunks takes long. The library does not notice
    flipped bits. Its plug-in of zfp is left out, as it takes no chunks thinner than four values.
    """

    label = "Blosc2"
    suffix = ".b2nd"
    requires = ("blosc2>=4.14",)
    dims_range = range(_MOST_DIMS + 1)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.APPEND, Trait.SINGLE_FILE})
    codecs: ClassVar = (
        *(
            Codec(f"{name}+{filters}" if filters else name, _LEVELS, _LEVEL)
            for name in _CODECS
            for filters in _FILTERS
        ),
        Codec(_TRUNCATED, range(1, 24), 10, error=ErrorScale.VALUE, bounds=(BoundKind.RELATIVE,)),
    )
    file_facts = FileFacts(
        parts={"filters": "shuffle", "chunks": "as asked"},
        threads="all cores",
        mapped=True,
        differs="without a codec, blocks that divide the chunk, since the library's own enlarge files",
    )
    default_codec = "zstd"
    recommended = Recommended(
        "https://github.com/Blosc/python-blosc2/releases/tag/v2.2.0",
        default_codec,
        words="the defaults are its makers' balance of size and speed",
        seen="2026-11-25",
    )
    snippet = Snippet(
        imports="import blosc2",
        write='blosc2.asarray(array, chunks=chunks, urlpath={path}, mode="w", cparams={options})',
        read='array = blosc2.open({path}, mode="r", mmap_mode="r")[...]',
        given=Given.ARRAY,
        differs="FormatBench's own files also contain names, attributes and chunks of the array",
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        if codec is None:
            return {"options": literal({"clevel": 0})}
        facts = _facts(codec, level, "float32", None)
        facts["codec"] = f"blosc2.Codec.{facts['codec']}"
        facts["filters"] = f"[{', '.join(f'blosc2.Filter.{each}' for each in facts['filters'])}]"
        return {"options": "{" + ", ".join(f"{literal(name)}: {facts[name]}" for name in facts) + "}"}

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        if source.chunk_bytes > _MOST_CHUNK_BYTES:
            raise self.refusal(f"Blosc2 chunks are smaller than 2 GiB, not {source.chunk_bytes} bytes")
        if codec and codec.endswith("+bytedelta") and source.dtype.itemsize == 1:
            raise self.refusal("Blosc2 leaves the filter bytedelta out for values of one byte")
        if codec == _TRUNCATED and source.dtype.name not in _MANTISSA_BITS:
            raise self.refusal(f"{codec} supports float32 and float64 only, not {source.dtype}")

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import blosc2

        array = blosc2.empty(
            source.shape,
            source.dtype,
            chunks=source.chunks,
            blocks=None if codec else _blocks(source),
            urlpath=str(path),
            mode="w",
            cparams=_options(codec, level, source.dtype.name, self.error_bound),
        )
        write_chunks(array, source)
        # Last, since each chunk would copy it to the new end of the file.
        array.schunk.vlmeta[KEY] = Description.of(source).to_json()

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def library_chunks(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...]:
        import blosc2

        return tuple(blosc2.compute_chunks_blocks(shape, dtype=dtype)[0])

    def _append(self, source: ArraySource, path: Path) -> None:
        import blosc2

        array = blosc2.open(str(path), mode="a")
        saved = Description.from_json(array.schunk.vlmeta[KEY])
        array.resize((saved.shape[0] + source.shape[0], *saved.shape[1:]))
        write_chunks(array, source, saved.shape[0])
        array.schunk.vlmeta[KEY] = saved.extended(source).to_json()

    def _codec_used(self, path: Path) -> str | None:
        import blosc2

        options = blosc2.open(str(path), mode="r").schunk.cparams
        if options.clevel == 0:
            return None
        used = tuple(each.name for each in options.filters if each != blosc2.Filter.NOFILTER)
        if used == _TRUNCATION:
            return _TRUNCATED
        suffix = next((name for name, filters in _FILTERS.items() if filters == used), "")
        name = options.codec.name.lower()
        return f"{name}+{suffix}" if suffix else name

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign the chunks to an array of `blosc2`."""
        import blosc2

        options = {"urlpath": str(path), "mode": "w", "cparams": {"clevel": 0}}
        array = blosc2.empty(source.shape, source.dtype, chunks=source.chunks, **options)
        for selection, values in source:
            array[selection] = values

    @staticmethod
    def plain_read(path: Path) -> int:
        """Index the array by each index of its first axis."""
        import blosc2

        array = blosc2.open(str(path), mode="r", mmap_mode="r")
        return len([array[index].shape for index in range(array.shape[0])])


class _Reader(ArrayReader):
    def __init__(self, path: Path) -> None:
        self._array: Any = _opened(path)
        super().__init__(Description.from_json(self._array.schunk.vlmeta[KEY]))

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        found = np.empty(shape_of(selection), self.dtype)
        if found.size:
            start = [each.start for each in selection]
            self._array.get_slice_numpy(found, (start, [each.stop for each in selection]))
        return found

    def close(self) -> None:
        self._array = None


def _opened(path: Path) -> blosc2.NDArray:
    """Map a file; raise ValueError if it is shorter than in its header."""
    import blosc2

    with path.open("rb") as file:
        length = int.from_bytes(file.read(_FRAME_BYTES.stop)[_FRAME_BYTES], "big")
    # Touching a page beyond the end of a mapped file ends the process.
    if path.stat().st_size < length:
        raise ValueError(f"{path.name} is truncated: it should have {length} bytes")
    return blosc2.open(str(path), mode="r", mmap_mode="r")


def _facts(codec: str, level: int | None, dtype: str, bound: ErrorBound | None) -> dict[str, Any]:
    """Return the parameters of a codec, with the names of the library's codec and filters."""
    name, _, suffix = codec.partition("+")
    if codec == _TRUNCATED:
        # Truncation errs by up to twice as much as rounding to as many bits.
        kept = min(bound.bits + 1 if bound else level or 1, _MANTISSA_BITS[dtype])
        return {
            "codec": name.upper(),
            "clevel": _LEVEL,
            "filters": list(_TRUNCATION),
            "filters_meta": [kept, 0],
        }
    return {"codec": name.upper(), "clevel": level, "filters": list(_FILTERS[suffix])}


def _options(
    codec: str | None, level: int | None, dtype: str, bound: ErrorBound | None
) -> dict[str, Any]:
    import blosc2

    if codec is None:
        return {"clevel": 0}
    facts = _facts(codec, level, dtype, bound)
    filters = [blosc2.Filter[each] for each in facts["filters"]]
    return {**facts, "codec": blosc2.Codec[facts["codec"]], "filters": filters}


def _blocks(source: ArraySource) -> tuple[int, ...]:
    """Return the shape of blocks of some 256 KiB that divide a chunk."""
    blocks: list[int] = []
    values = max(1, _BLOCK_BYTES // source.dtype.itemsize)
    for edge in reversed(source.chunks):
        divisor = max(each for each in range(1, min(edge, values) + 1) if edge % each == 0)
        blocks.insert(0, divisor)
        values = max(1, values // divisor) if divisor == edge else 1
    return tuple(blocks)
