"""Sets of images as folders, with one file for each image and a table of labels."""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ImageReader, ImageStorage
from adapter_core.file_facts import FileFacts
from adapter_core.image_input import LABELS_FILE, CheckedImages
from adapter_core.image_shapes import shape_row
from adapter_core.snippets import Given, Snippet

if TYPE_CHECKING:
    import numpy as np


HEADER = "file,label,height,width,channels"
"""Columns of labels.csv, with 0 channels for greyscale of shape (height, width).

Most formats do not distinguish that from (height, width, 1), and some not from colour.
"""

Shape = tuple[int, ...]


class ImageFiles(ImageStorage):
    """A folder of image files, 000000000 and so on, and labels.csv.

    Any program opens the files. Their number and shapes are compared with labels.csv when they are read.
    All are in one folder: writing and reading 126,689 files there took no more time than in folders of
    1,000 or of 10,000.

    A subclass implements `_encode` and `_decode`.
    """

    ending: ClassVar[str]
    """File-name extension of the image files, with the dot."""
    file_facts = FileFacts(silent="it is a directory of image files, whose format has one codec")
    snippet = Snippet(
        imports="import csv\nimport os\n\nimport numpy as np\n{module}",
        write="""
            os.mkdir({path})
            rows = [["file", "label", "height", "width", "channels"]]
            for index, (label, image) in enumerate(zip(labels.tolist(), images)):
                name = f"{index:09d}{ending}"
                {encode}
                rows.append([name, label, *(*image.shape, 0)[:3]])
            with open(os.path.join({path}, "labels.csv"), "w", newline="") as file:
                csv.writer(file, lineterminator="\\n").writerows(rows)
        """,
        read="""
            with open(os.path.join({path}, "labels.csv"), newline="") as file:
                rows = list(csv.DictReader(file))
            labels = np.array([int(row["label"]) for row in rows])
            images = []
            for row in rows:
                {decode}
                images.append(image)
        """,
        given=Given.IMAGES,
    )
    _code_of_file: ClassVar[Mapping[str, str]]
    """Code of a file: its ``module``, and ``encode`` and ``decode``, lines that write `image` to a file
    and read it, or ``bytes`` and ``image``, expressions of the contents."""

    def placeholders(
        self,
        codec: str | None,  # noqa: ARG002 (of formats with codecs)
        level: int | None,  # noqa: ARG002
    ) -> Mapping[str, str]:
        """Return the code of a file."""
        found = {"ending": self.ending, **self._code_of_file}
        if "bytes" in found:
            at = "os.path.join({path}, %s)"
            write = f"file.write({found.pop('bytes')})"
            found["encode"] = f'with open({at % "name"}, "wb") as file:\n    {write}'
            decoded = found.pop("image")
            place = at % 'row["file"]'
            found["decode"] = f'with open({place}, "rb") as file:\n    image = {decoded}'
        return found

    @abstractmethod
    def _encode(self, image: np.ndarray) -> bytes | bytearray:
        """Return the contents of the image's file."""

    @abstractmethod
    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        """Return the image of a file.

        The caller compares its shape with `shape`, as saved, and converts between
        (height, width) and (height, width, 1).
        """

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        path.mkdir()
        folder = f"{path}{os.sep}"
        with (path / LABELS_FILE).open("w", encoding="ascii", newline="\n") as table:
            table.write(f"{HEADER}\n")
            for index, (image, label) in enumerate(zip(images, labels.tolist(), strict=True)):
                name = f"{index:09d}{self.ending}"
                with open(folder + name, "wb") as file:  # noqa: PTH123 (once an image)
                    file.write(self._encode(image))
                height, width, channels = shape_row(image)
                table.write(f"{name},{label},{height},{width},{channels}\n")

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        with self._open(path) as reader:
            return reader.get_many(range(len(reader)))

    def _open(self, path: Path) -> ImageReader:
        names, shapes, labels = self._table(path)
        return _FileEachReader(self, path, names, shapes, labels)

    def _table(self, path: Path) -> tuple[list[str], list[Shape], np.ndarray]:
        """Return the files' names, the images' shapes, and the labels."""
        import numpy as np

        header, *rows = (path / LABELS_FILE).read_text(encoding="ascii").split("\n")
        if header != HEADER or rows.pop() != "":
            raise ValueError(f"{path / LABELS_FILE} is damaged: its first or its last line is not whole")
        there = sum(name.endswith(self.ending) for name in os.listdir(path))  # noqa: PTH208 (names will do)
        if there != len(rows):
            raise ValueError(f"{path} contains {there} images, and {LABELS_FILE} names {len(rows)}")
        if not rows:
            return [], [], np.empty(0, np.int64)
        names = [row.partition(",")[0] for row in rows]
        numbers = np.loadtxt(rows, np.int64, delimiter=",", usecols=(1, 2, 3, 4), ndmin=2)
        shapes = [tuple(row if row[2] else row[:2]) for row in numbers[:, 1:].tolist()]
        return names, shapes, numbers[:, 0].copy()

    def _image(self, file_name: str, shape: Shape) -> np.ndarray:
        """Return the image of a file.

        Raises
        ------
        ValueError
            If it has another shape than in labels.csv.
        """
        with open(file_name, "rb", buffering=0) as file:  # noqa: PTH123 (once an image)
            image = self._decode(file.readall(), shape)
        if image.shape == shape:
            return image
        if image.shape[:2] != shape[:2] or image.size != math.prod(shape):
            raise ValueError(f"{file_name} has the shape {image.shape}, not {shape}")
        return image.reshape(shape)


class _FileEachReader(ImageReader):
    """Opens files on request; names, shapes and labels are in memory."""

    def __init__(
        self,
        storage: ImageFiles,
        path: Path,
        names: list[str],
        shapes: list[Shape],
        labels: np.ndarray,
    ) -> None:
        super().__init__(len(names))
        self._image = storage._image  # noqa: SLF001 (its storage's own reader)
        self._folder = f"{path}{os.sep}"
        self._names, self._shapes, self._labels = names, shapes, labels

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        image = self._image(self._folder + self._names[index], self._shapes[index])
        return image, int(self._labels[index])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        images = [self._image(self._folder + self._names[i], self._shapes[i]) for i in indices]
        return images, self._labels[np.array(indices, np.intp)]


def in_colour(image: np.ndarray) -> np.ndarray:
    """Return an image of 1 to 4 channels in 3 or 4, for formats without greyscale.

    Greyscale becomes three equal channels; two channels become greyscale and opacity.
    """
    import numpy as np

    height, width, channels = shape_row(image)
    if channels > 2:  # noqa: PLR2004 (colour)
        return image
    coloured = np.empty((height, width, 4 if channels == 2 else 3), np.uint8)  # noqa: PLR2004
    coloured[:, :, :3] = image.reshape(height, width, -1)[:, :, :1]
    if channels == 2:  # noqa: PLR2004
        coloured[:, :, 3] = image[:, :, 1]
    return coloured


def out_of_colour(coloured: np.ndarray, shape: Shape) -> np.ndarray:
    """Return the image of a given shape from the result of `in_colour`.

    Raises
    ------
    ValueError
        If it has the wrong number of channels.
    """
    import numpy as np

    channels = shape[2] if len(shape) > 2 else 1  # noqa: PLR2004
    stored = {1: 3, 2: 4}.get(channels, channels)
    if coloured.shape[2:] != (stored,):
        raise ValueError(f"an image has the shape {coloured.shape}, and {stored} channels were stored")
    if stored == channels:
        return coloured
    return np.ascontiguousarray(coloured[:, :, :: 3 if channels == 2 else 4])  # noqa: PLR2004


def with_opacity(image: np.ndarray, shape: Shape) -> np.ndarray:
    """Return a decoded image with the full opacity that encoders drop, if the shape saved had one."""
    import numpy as np

    height, width, stored = shape_row(image)
    stored = max(stored, 1)
    if shape[2:] not in ((2,), (4,)) or stored != shape[2] - 1:
        return image
    opaque = np.full((height, width, stored + 1), 255, np.uint8)
    opaque[:, :, :stored] = image.reshape(height, width, stored)
    return opaque
