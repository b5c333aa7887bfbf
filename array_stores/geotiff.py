"""GeoTIFF through rasterio (GDAL)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayReader, ArrayStore, Codec, Given, Snippet, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.array_source import shape_of
from adapter_core.array_store import ALL_DTYPES
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import keywords

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArraySource, Selection

# TIFF 6.0, section 15: TileWidth and TileLength are multiples of 16.
_TILE_MULTIPLE = 16
# SamplesPerPixel has 16 bits.
_MOST_BANDS = 2**16 - 1
# Classic TIFF has offsets of 32 bits; the rest is for headers.
_CLASSIC_BYTES = 2**32 - 2**26
_LEVELS = {"deflate": "ZLEVEL", "zstd": "ZSTD_LEVEL"}


class Adapter(ArrayStore):
    """A GeoTIFF file with a band for each index of all axes but the last two, without georeference.

    Blocks are strips if chunks are as wide as the array, else tiles. The name, dimensions, attributes
    and coordinates are JSON in GDAL's metadata. Larger arrays are BigTIFF. The predictor is the
    horizontal one for integers, and the floating-point one for floats. rasterio has no types for
    booleans and float16, and each read takes longer the more bands the file has. GDAL caches the blocks
    of open files in 5 % of the machine's memory, its default.

    The driver's options: https://gdal.org/en/stable/drivers/raster/gtiff.html.
    """

    label = "GeoTIFF"
    suffix = ".tif"
    requires = ("rasterio",)
    dtypes: ClassVar = ALL_DTYPES - {"bool", "float16"}
    dims_range = range(2, 33)
    holds_empty = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (
        Codec("deflate", range(1, 10), 6),
        Codec("deflate+predictor", range(1, 10), 6),
        Codec("zstd", range(1, 23), 9),
        Codec("zstd+predictor", range(1, 23), 9),
        Codec("lzw"),
        Codec("lzw+predictor"),
    )
    file_facts = FileFacts(version="TIFF", parts={"parts": "strips"}, threads="one")
    snippet = Snippet(
        imports="import rasterio",
        write="""
            *bands, height, width = array.shape
            images = array.reshape(-1, height, width)
            size = {"count": len(images), "height": height, "width": width, "dtype": array.dtype}
            options = dict(driver="GTiff", interleave="band", {options})
            with rasterio.open({path}, "w", **size, **options) as file:
                file.write(images)
        """,
        read="""
            with rasterio.open({path}) as file:
                array = file.read()
        """,
        given=Given.WHOLE_ARRAY,
        differs="FormatBench's own files also contain names, attributes and chunks of the array",
        notes=("tiled=True, blockxsize=512, blockysize=512 among the options for tiles",),
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        if codec is None:
            return {"options": ""}
        name, _, predictor = codec.partition("+")
        options = keywords(compress=name.upper(), **({} if level is None else {_LEVELS[name]: level}))
        predictors = ', predictor=3 if array.dtype.kind == "f" else 2'
        return {"options": options + (predictors if predictor else "")}

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        if codec and codec.endswith("+predictor") and source.dtype.kind not in "iuf":
            raise self.refusal(f"TIFF has no predictor for values of type {source.dtype}")
        bands = math.prod(source.shape[:-2])
        if bands > _MOST_BANDS:
            raise self.refusal(f"a TIFF file has at most {_MOST_BANDS} bands, not {bands}")
        rows, columns = source.chunks[-2:]
        multiples = rows % _TILE_MULTIPLE == columns % _TILE_MULTIPLE == 0
        if columns < source.shape[-1] and not multiples:
            raise self.refusal(
                f"chunks narrower than the array are tiles, whose last two edges are multiples of "
                f"{_TILE_MULTIPLE}, not {rows} and {columns}"
            )

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        height, width = source.shape[-2:]
        rows, columns = source.chunks[-2:]
        blocks: dict[str, Any] = {"blockysize": min(rows, height)}
        if columns < width:
            blocks = {"tiled": True, "blockxsize": columns, "blockysize": rows}
        with _opened(
            path,
            "w",
            driver="GTiff",
            count=math.prod(source.shape[:-2]),
            height=height,
            width=width,
            dtype=source.dtype.name,
            interleave="band",
            bigtiff="YES" if source.size_bytes > _CLASSIC_BYTES else "NO",
            **blocks,
            **_options(source, codec, level),
        ) as file:
            file.update_tags(**{KEY: Description.of(source).to_json()})
            for selection, values in source:
                bands, window = _place(selection, source.shape)
                file.write(values.reshape(-1, *values.shape[-2:]), indexes=bands, window=window)

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _codec_used(self, path: Path) -> str | None:
        with _opened(path) as file:
            structure = file.tags(ns="IMAGE_STRUCTURE")
        name = structure.get("COMPRESSION", "").lower()
        return f"{name}+predictor" if "PREDICTOR" in structure else name or None

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Write the bands of each chunk by `rasterio`."""
        count, (height, width) = math.prod(source.shape[:-2]), source.shape[-2:]
        options = {"count": count, "height": height, "width": width, "blockysize": height}
        dtype = source.dtype.name
        with _opened(path, "w", driver="GTiff", dtype=dtype, interleave="band", **options) as file:
            band = 1
            for _, values in source:
                images = values.reshape(-1, height, width)
                file.write(images, indexes=list(range(band, band + len(images))))
                band += len(images)

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each band."""
        with _opened(path) as file:
            return len([file.read([band]).shape for band in file.indexes])


class _Reader(ArrayReader):
    def __init__(self, path: Path) -> None:
        self._file = _opened(path)
        super().__init__(Description.from_json(self._file.tags()[KEY]))

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        shape = shape_of(selection)
        if 0 in shape:
            return np.empty(shape, self.dtype)
        bands, window = _place(selection, self.shape)
        found: np.ndarray = self._file.read(bands, window=window)
        return found.reshape(shape)

    def close(self) -> None:
        self._file.close()


def _opened(path: Path, mode: str = "r", **options: Any) -> Any:
    """Open a dataset without a warning for its missing georeference."""
    import rasterio

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        return rasterio.open(path, mode, **options)


def _options(source: ArraySource, codec: str | None, level: int | None) -> dict[str, Any]:
    if codec is None:
        return {}
    name, _, predictor = codec.partition("+")
    options: dict[str, Any] = {"compress": name.upper()}
    if predictor:
        options["predictor"] = 3 if source.dtype.kind == "f" else 2
    return options if level is None else {**options, _LEVELS[name]: level}


def _place(selection: Selection, shape: tuple[int, ...]) -> tuple[list[int], Any]:
    """Return the numbers of bands, from 1, and the window of a selection."""
    from rasterio.windows import Window

    bands = [0]
    for each, edge in zip(selection[:-2], shape[:-2], strict=True):
        bands = [band * edge + place for band in bands for place in range(each.start, each.stop)]
    rows, columns = selection[-2:]
    window = Window(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
    return [band + 1 for band in bands], window
