"""Base64 through pybase64, in a CSV file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.image_shapes import shape_row
from adapter_core.images.packed import image_of

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

HEADER = b"label,height,width,channels,pixels\n"
# Some hundred small images for each call of the system.
BUFFER_BYTES = 2**20

# Bytes that are enough for the four numbers of a row and their commas.
NUMBERS_BYTES = 64


class Adapter(ImageStorage):
    """One CSV file, one row an image: label, height, width, channels, and its pixels in Base64.

    Channels are 0 for greyscale of shape (height, width). Base64 (https://www.rfc-editor.org/rfc/rfc4648)
    has the standard alphabet, which needs no quotes in CSV, and no line breaks. Random access finds the
    rows by leaping from one to the next, since the length of a row follows from its shape.

    A file that was cut between two rows is complete, with fewer images: CSV does not contain their
    number.
    """

    label = "Base64"
    suffix = ".csv"
    requires = ("pybase64",)
    detects_truncation: ClassVar = False
    file_facts = FileFacts(silent="text names no settings of its writer")
    snippet = Snippet(
        imports="import csv\n\nimport numpy as np\nfrom pybase64 import b64decode, b64encode",
        write="""
            with open({path}, "w", newline="") as file:
                table = csv.writer(file, lineterminator="\\n")
                table.writerow(["label", "height", "width", "channels", "pixels"])
                for label, image in zip(labels.tolist(), images):
                    pixels = b64encode(image.tobytes()).decode()
                    table.writerow([label, *(*image.shape, 0)[:3], pixels])
        """,
        read="""
            csv.field_size_limit(2**31 - 1)
            with open({path}, newline="") as file:
                _, *rows = csv.reader(file)
            labels = np.array([int(row[0]) for row in rows])
            shapes = [tuple(map(int, row[1:4])) for row in rows]
            pixels = [np.frombuffer(b64decode(row[4], validate=True), "uint8") for row in rows]
            images = [
                part.reshape(shape if shape[2] else shape[:2]) for part, shape in zip(pixels, shapes)
            ]
        """,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        from pybase64 import b64encode

        with path.open("wb", buffering=BUFFER_BYTES) as file:
            file.write(HEADER)
            for label, image in zip(labels.tolist(), images, strict=True):
                file.write(b"%d,%d,%d,%d," % (label, *shape_row(image)))
                file.write(b64encode(image.data))
                file.write(b"\n")

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        images, labels = [], []
        with path.open("rb", buffering=BUFFER_BYTES) as file:
            _skip_header(file)
            for row in file:
                image, label = _decoded(row)
                images.append(image)
                labels.append(label)
        return images, np.array(labels, np.int64)

    def _open(self, path: Path) -> ImageReader:
        return _Base64Reader(path.open("rb", buffering=0))


class _Base64Reader(ImageReader):
    """Reads the row of an image, without moving the file's position."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        try:
            self._begins = _begins(file)
        except BaseException:
            file.close()
            raise
        super().__init__(len(self._begins) - 1)

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        begin, end = self._begins[index : index + 2]
        return _decoded(os.pread(self._file.fileno(), end - begin, begin))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _begins(file: BinaryIO) -> list[int]:
    """Return the start of each row, and the end of the last one, in bytes."""
    descriptor, end = file.fileno(), os.fstat(file.fileno()).st_size
    _skip_header(file)
    begins = [len(HEADER)]
    while (begin := begins[-1]) < end:
        numbers = os.pread(descriptor, NUMBERS_BYTES, begin).split(b",", 4)[:4]
        _, height, width, channels = map(int, numbers)
        encoded = -(-height * width * max(channels, 1) // 3) * 4
        begins.append(begin + sum(map(len, numbers)) + len(numbers) + encoded + 1)
    if begins[-1] != end:
        raise ValueError(f"the last row should end at {begins[-1]}, and the file ends at {end}")
    return begins


def _skip_header(file: BinaryIO) -> None:
    if file.readline() != HEADER:
        raise ValueError(f"the file does not start with {HEADER!r}")


def _decoded(row: bytes) -> tuple[np.ndarray, int]:
    """Return the image and the label of a row."""
    from pybase64 import b64decode

    label, height, width, channels, pixels = row.split(b",", 4)
    if not pixels.endswith(b"\n"):
        raise ValueError("the last row was cut")
    shape = int(height), int(width), int(channels)
    # With validation, pybase64 is faster than when it skips other characters; a view saves a copy.
    return image_of(b64decode(memoryview(pixels)[:-1], validate=True), shape), int(label)
