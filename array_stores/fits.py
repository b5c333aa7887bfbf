"""FITS images through astropy."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayReader, ArrayStore, Description, Given, Property, Snippet, Trait
from adapter_core.arrays.chunk_writing import are_runs, write_chunks
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np
    from astropy.io import fits

    from adapter_core import ArraySource, Selection

# BITPIX of the FITS standard, section 4.4.1.1.
_BITS = {"uint8": 8, "int16": 16, "int32": 32, "int64": 64, "float32": -32, "float64": -64}
# Length of which headers and data are multiples.
_BLOCK_BYTES = 2880
_KEYWORD = "FBARRAY"
# NAXIS in the FITS standard 4.0, 4.4.1.
_MOST_DIMS = 999


class Adapter(ArrayStore):
    """A FITS file whose primary array is the array; with the axes in reverse.

    Values are big-endian, and readers swap the bytes of the selection in the mapped file. The name,
    dimensions, attributes and coordinates are JSON in a header keyword, on cards of the CONTINUE
    convention. Other integers would have an offset (BZERO), and could not be read from a mapped file.

    The standard is https://fits.gsfc.nasa.gov/fits_standard.html.
    """

    label = "FITS"
    suffix = ".fits"
    requires = ("astropy",)
    dtypes: ClassVar = frozenset(_BITS)
    dims_range = range(1, _MOST_DIMS + 1)
    holds_empty = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    keeps: ClassVar = frozenset(Property) - {Property.CHUNKS}
    loses: ClassVar = {Property.CHUNKS: "an image is not divided"}
    file_facts = FileFacts(threads="one", mapped=True)
    snippet = Snippet(
        imports="from astropy.io import fits",
        write="fits.PrimaryHDU(array).writeto({path})",
        read="array = fits.getdata({path})",
        given=Given.WHOLE_ARRAY,
        differs="FormatBench's own files also contain names, attributes and chunks of the array",
        notes=("values come back in big-endian order, as FITS has them",),
    )

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import numpy as np

        described = replace(Description.of(source), chunks=source.shape)
        header = _header(source)
        header[_KEYWORD] = described.to_json()
        big_endian = source.dtype.newbyteorder(">")
        with path.open("wb") as file:
            file.write(header.tostring().encode())
            start = file.tell()
            file.truncate(start + -(-source.size_bytes // _BLOCK_BYTES) * _BLOCK_BYTES)
            if are_runs(source):
                # One buffer, since fresh memory would cost more than swapping the bytes.
                buffer = np.empty(math.prod(source.chunks), big_endian)
                for _, values in source:
                    swapped = buffer[: values.size]
                    swapped[:] = values.reshape(-1)
                    swapped.tofile(file)
                return
        write_chunks(np.memmap(path, big_endian, "r+", start, source.shape), source)

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Write the chunks by `astropy.io.fits.StreamingHDU`."""
        from astropy.io import fits

        file = fits.StreamingHDU(str(path), _header(source))
        for _, values in source:
            file.write(values)
        file.close()

    @staticmethod
    def plain_read(path: Path) -> int:
        """Copy each index of the first axis of the mapped array."""
        import numpy as np
        from astropy.io import fits

        with fits.open(path, memmap=True) as file:
            return len([np.array(row, row.dtype.newbyteorder("=")) for row in file[0].data])


class _Reader(ArrayReader):
    def __init__(self, path: Path) -> None:
        from astropy.io import fits

        with warnings.catch_warnings():
            # Of truncated files, which raise below.
            warnings.simplefilter("ignore")
            self._file = fits.open(path, memmap=True)
        try:
            image = _whole_image(self._file, path)
            super().__init__(Description.from_json(image.header[_KEYWORD]))
        except BaseException:
            self._file.close()
            raise
        self._values = image.data

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        return np.array(self._values[selection], self.dtype)

    def close(self) -> None:
        self._values = None
        self._file.close()


def _header(source: ArraySource) -> fits.Header:
    from astropy.io import fits

    header = fits.Header()
    header["SIMPLE"] = True
    header["BITPIX"] = _BITS[source.dtype.name]
    header["NAXIS"] = len(source.shape)
    for axis, edge in enumerate(reversed(source.shape), 1):
        header[f"NAXIS{axis}"] = edge
    return header


def _whole_image(file: Any, path: Path) -> Any:
    """Return the image of an open file; raise ValueError if the file is truncated."""
    image = file[0]
    place = image.fileinfo()
    missing = place["datLoc"] + place["datSpan"] - path.stat().st_size
    if missing > 0:
        raise ValueError(f"{path.name} is truncated: {missing} bytes are missing")
    return image
