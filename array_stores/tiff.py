"""TIFF through tifffile."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayStore, Codec, Description, ErrorScale, Given, Snippet, Trait
from adapter_core.arrays.whole_chunks import WholeChunkReader
from adapter_core.error_bounds import BoundKind, error_of
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import keywords

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArrayReader, ArraySource
    from adapter_core.error_bounds import ErrorBound

_NAMES = {"ADOBE_DEFLATE": "zlib", "ZSTD": "zstd", "LZMA": "lzma", "LERC": "lerc"}
# Of tifffile's horizontal predictor.
_MOST_INTEGER_BYTES = 4
# Classic TIFF has offsets of 32 bits; the rest is for pages' headers.
_CLASSIC_BYTES = 2**32 - 2**26


class Adapter(ArrayStore):
    """A TIFF file with a page for each chunk, in C order of the grid.

    A page has a row for each index of all axes of the chunk but the last. A page is one strip, so that
    its codec sees the whole chunk. The first page's ImageDescription is JSON with the shape and
    properties. The predictor is the horizontal one of TIFF 6.0 for integers, and for floats Adobe
    Photoshop's TIFF Technical Note 3. Larger arrays are BigTIFF. Booleans are bytes, since TIFF has bits
    only.
    """

    label = "TIFF"
    suffix = ".tiff"
    requires = ("tifffile", "imagecodecs")
    holds_empty = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (
        Codec("zlib", range(1, 10), 6, requires="imagecodecs"),
        Codec("zlib+predictor", range(1, 10), 6, requires="imagecodecs"),
        Codec("zstd", range(1, 23), 3, requires="imagecodecs"),
        Codec("zstd+predictor", range(1, 23), 3, requires="imagecodecs"),
        Codec("lzma", range(10), 6, requires="imagecodecs"),
        Codec("lzma+predictor", range(10), 6, requires="imagecodecs"),
        Codec(
            "lerc",
            range(1, 21),
            10,
            requires="imagecodecs",
            error=ErrorScale.ONE,
            bounds=(BoundKind.ABSOLUTE,),
        ),
    )
    file_facts = FileFacts(version="TIFF", parts={"parts": "strips"})
    snippet = Snippet(
        imports="import tifffile",
        write='tifffile.imwrite({path}, array, photometric="minisblack", metadata=None, {options})',
        read="array = tifffile.imread({path})",
        given=Given.WHOLE_ARRAY,
        differs="FormatBench's own files have a page for each chunk",
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"options": keywords(**_options(codec, level))}

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        large = source.dtype.kind in "iu" and source.dtype.itemsize > _MOST_INTEGER_BYTES
        if codec and codec.endswith("+predictor") and (large or source.dtype.kind not in "iuf"):
            raise self.refusal(f"tifffile has no predictor for values of type {source.dtype}")
        if codec == "lerc" and source.dtype.name not in ("float32", "float64"):
            raise self.refusal(f"lerc supports float32 and float64 only, not {source.dtype}")

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import tifffile

        options = _options(codec, level, self.error_bound)
        description: str | None = Description.of(source).to_json()
        with tifffile.TiffWriter(path, bigtiff=source.size_bytes > _CLASSIC_BYTES) as file:
            for _, values in source:
                page = _as_page(values)
                file.write(
                    page,
                    photometric="minisblack",
                    rowsperstrip=len(page),
                    contiguous=False,
                    metadata=None,
                    description=description,
                    **options,
                )
                description = None

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _codec_used(self, path: Path) -> str | None:
        import tifffile

        with tifffile.TiffFile(path) as file:
            page: Any = file.pages[0]
            name = _NAMES.get(page.compression.name)
            return f"{name}+predictor" if name and page.predictor != 1 else name

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Write the chunks by `tifffile.TiffWriter`."""
        import tifffile

        with tifffile.TiffWriter(path) as file:
            for _, values in source:
                file.write(_as_page(values), contiguous=False, metadata=None)

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each page of `tifffile.TiffFile`."""
        import tifffile

        with tifffile.TiffFile(path) as file:
            return len([page.asarray().shape for page in file.pages])


class _Reader(WholeChunkReader):
    def __init__(self, path: Path) -> None:
        import tifffile

        self._file = tifffile.TiffFile(path)
        self._pages: Any = self._file.pages
        try:
            super().__init__(Description.from_json(self._file.pages.first.description))
        except BaseException:
            self.close()
            raise

    def _chunk(self, index: tuple[int, ...]) -> np.ndarray:
        number = self.chunk_number(index)
        page = self._pages[number]
        offset, size_bytes = page.dataoffsets[0], page.databytecounts[0]
        file = self._file.filehandle
        if offset + size_bytes > file.size:
            # Decoders do not miss the last bytes of some codecs.
            raise ValueError(f"{file.name} is truncated: page {number} ends beyond its end")
        values: np.ndarray
        if page.compression == 1:
            # In less time than asarray, which prepares for all layouts of pages.
            values = file.read_array(self.dtype, size_bytes // self.dtype.itemsize, offset)
        else:
            values = page.asarray().view(self.dtype)
        return values.reshape(self.chunk_shape(index))

    def close(self) -> None:
        self._file.close()


def _as_page(values: np.ndarray) -> np.ndarray:
    """Return a chunk as an image, over the same memory."""
    rows = math.prod(values.shape[:-1])
    page = values.reshape(rows, values.size // rows)
    return page.view("uint8") if page.dtype == bool else page


def _options(codec: str | None, level: int | None, bound: ErrorBound | None = None) -> dict[str, Any]:
    if codec is None:
        return {}
    if codec == "lerc":
        return {"compression": codec, "compressionargs": {"level": error_of(level, bound)}}
    name, _, predictor = codec.partition("+")
    arguments = {} if level is None else {"level": level}
    return {"compression": name, "compressionargs": arguments, "predictor": predictor != ""}
