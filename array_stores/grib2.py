"""GRIB2 messages through ecCodes."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayStore, Codec, Description, ErrorScale, Trait
from adapter_core.arrays.whole_chunks import WholeChunkReader
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArrayReader, ArraySource

# As in ERA5's own files; the error is half a step of the message's range.
_BITS = 16
_DATA_FILE = "array.grib2"
_DESCRIPTION_FILE = "array.json"
_PACKINGS = {None: "grid_simple", "ccsds": "grid_ccsds"}
# Section 0 of a message ends in the message's length.
_INDICATOR_BYTES = 16
_LENGTH = slice(8, 16)
# The length of a section has four bytes.
_MOST_CHUNK_BYTES = 2**32 - 1


class Adapter(ArrayStore):
    """A directory of a GRIB2 file, with a message for each chunk in C order, and a description.

    Messages have 16 bits a value, on a grid with a row for each index of all axes but the last. The step
    between packed values is a power of two, at most twice the chunk's range divided by 65,535, and the
    error half a step. A reader decodes whole messages, which it finds by their lengths. Values cannot
    be NaN. The codec ccsds, CCSDS 121.0-B, adds no further loss.

    The WMO Manual on Codes, volume I.2, describes the format.
    """

    label = "GRIB2"
    suffix = ".gribs"
    requires = ("eccodes", "eccodeslib")
    dtypes: ClassVar = frozenset({"float32"})
    # Not 16, since the range has 65,535 steps.
    error: ClassVar = (ErrorScale.RANGE, _BITS - 1)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    codecs: ClassVar = (Codec("ccsds"),)
    file_facts = FileFacts(version="2", threads="one")
    snippet = (
        "a message needs the keys of its weather model: eccodes copies those of a sample here, and "
        "a user's come from the data"
    )

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        if source.chunk_bytes > _MOST_CHUNK_BYTES:
            raise self.refusal(f"sections of GRIB are below 4 GiB, not {source.chunk_bytes} bytes")

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import eccodes
        import numpy as np

        path.mkdir()
        (path / _DESCRIPTION_FILE).write_text(Description.of(source).to_json(), encoding="utf-8")
        message = _message(codec)
        shape: tuple[int, ...] | None = None
        with (path / _DATA_FILE).open("wb") as file:
            for _, values in source:
                if not np.isfinite(values).all():
                    raise self.refusal("GRIB has no NaN or infinite values")
                if values.shape != shape:
                    shape = values.shape
                    eccodes.codes_set(message, "Ni", shape[-1] if shape else 1)
                    eccodes.codes_set(message, "Nj", math.prod(shape[:-1]))
                if eccodes.codes_get(message, "bitsPerValue") != _BITS:
                    # After a constant chunk, packed by ccsds.
                    eccodes.codes_set(message, "bitsPerValue", _BITS)
                # The library takes doubles only.
                eccodes.codes_set_values(message, values.reshape(-1).astype("float64"))
                file.write(eccodes.codes_get_message(message))
        eccodes.codes_release(message)

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _codec_used(self, path: Path) -> str | None:
        import eccodes

        with (path / _DATA_FILE).open("rb") as file:
            message = eccodes.codes_grib_new_from_file(file)
        packing = message and eccodes.codes_get(message, "packingType")
        return next((codec for codec, name in _PACKINGS.items() if name == packing), None)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Write a message with the values of each chunk."""
        import eccodes

        message = _message(None)
        eccodes.codes_set(message, "Ni", source.chunks[-1])
        eccodes.codes_set(message, "Nj", math.prod(source.chunks[:-1]))
        path.mkdir()
        with (path / _DATA_FILE).open("wb") as file:
            for _, values in source:
                eccodes.codes_set_values(message, values.reshape(-1).astype("float64"))
                eccodes.codes_write(message, file)

    @staticmethod
    def plain_read(path: Path) -> int:
        """Decode the messages of the file in turn."""
        import eccodes
        import numpy as np

        number = 0
        with (path / _DATA_FILE).open("rb") as file:
            while message := eccodes.codes_grib_new_from_file(file):
                eccodes.codes_get_values(message, np.float32)
                eccodes.codes_release(message)
                number += 1
        return number


class _Reader(WholeChunkReader):
    def __init__(self, path: Path) -> None:
        super().__init__(Description.from_json((path / _DESCRIPTION_FILE).read_bytes()))
        self._file = (path / _DATA_FILE).open("rb", buffering=0)
        try:
            self._places = _places(self._file.fileno(), math.prod(self.grid))
        except ValueError:
            self.close()
            raise

    def _chunk(self, index: tuple[int, ...]) -> np.ndarray:
        import eccodes
        import numpy as np

        offset, size_bytes = self._places[self.chunk_number(index)]
        message = eccodes.codes_new_from_message(os.pread(self._file.fileno(), size_bytes, offset))
        values: np.ndarray = eccodes.codes_get_values(message, np.float32)
        eccodes.codes_release(message)
        return values.reshape(self.chunk_shape(index))

    def close(self) -> None:
        self._file.close()


def _message(codec: str | None) -> Any:
    import eccodes

    message = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
    eccodes.codes_set(message, "packingType", _PACKINGS[codec])
    eccodes.codes_set(message, "bitsPerValue", _BITS)
    # Else a constant chunk has no bits at all, and looks free.
    eccodes.codes_set(message, "produceLargeConstantFields", 1)
    return message


def _places(descriptor: int, number: int) -> list[tuple[int, int]]:
    """Return offset and length of each message; raise ValueError if the file is truncated."""
    places: list[tuple[int, int]] = []
    size_bytes, offset = os.fstat(descriptor).st_size, 0
    for _ in range(number):
        length = int.from_bytes(os.pread(descriptor, _INDICATOR_BYTES, offset)[_LENGTH], "big")
        if length == 0 or offset + length > size_bytes:
            raise ValueError(f"the GRIB file is truncated: it has {len(places)} of {number} messages")
        places.append((offset, length))
        offset += length
    return places
