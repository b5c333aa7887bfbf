"""Samples to train a model on, made of images, arrays and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING, Any

from adapter_core.sample_set import INDEX, FieldForm, Sample, SampleField, SampleKind, SampleSet

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from PIL import Image

    from adapter_core.array_source import ArraySource

# As cameras and ImageNet have it; Pillow's own default of 75 is for the web.
_JPEG_QUALITY = 90

# An odd number near the golden ratio's part of 2**32: crops of neighbouring samples differ.
_STEP = 2_654_435_769

IMAGE, MASK = "image", "mask"

# Levels of grey of an image, which its mask numbers as a segmentation does its classes.
_CLASSES = 4


@dataclass(frozen=True)
class Crop:
    """Decoding of pictures: pixels, cut to a square at a place that depends on the sample's index.

    Smaller images are filled with zeros. Each picture of a sample is cut at the same place.
    """

    edge: int = 128

    def __call__(self, sample: Sample) -> Sample:
        """Return a sample with arrays of shape (edge, edge, 3), or (edge, edge) of a mask."""
        words = divmod(sample[INDEX] * _STEP % 2**32, 2**16)
        decoded = dict(sample)
        for name in (IMAGE, MASK):
            if name in sample:
                decoded[name] = self._cut(_pixels(sample[name], "RGB" if name == IMAGE else "L"), words)
        return decoded

    def _cut(self, pixels: np.ndarray, words: tuple[int, int]) -> np.ndarray:
        import numpy as np

        top, left = (
            max(0, length - self.edge + 1) * word >> 16
            for length, word in zip(pixels.shape, words, strict=False)
        )
        part = pixels[top : top + self.edge, left : left + self.edge]
        if part.shape[:2] == (self.edge, self.edge):
            return np.ascontiguousarray(part)
        filled = np.zeros((self.edge, self.edge, *pixels.shape[2:]), np.uint8)
        filled[: part.shape[0], : part.shape[1]] = part
        return filled


def _pixels(stored: Any, mode: str) -> np.ndarray:
    """Return the pixels of the file of an image, or those that a storage has decoded."""
    import numpy as np

    if isinstance(stored, np.ndarray):
        if mode == "RGB" and stored.ndim == 2:  # noqa: PLR2004 (height and width alone: grey)
            return np.repeat(stored[:, :, np.newaxis], 3, axis=2)
        return stored
    from PIL import Image

    return np.asarray(Image.open(BytesIO(stored)).convert(mode))


class PictureSamples(SampleSet):
    """Images as JPEG files with labels, and with masks as PNG files if asked for."""

    def __init__(
        self, images: Sequence[np.ndarray], labels: Sequence[int], *, with_masks: bool = False
    ) -> None:
        fields = {
            IMAGE: SampleField(FieldForm.PICTURE, extension="jpg"),
            "label": SampleField(FieldForm.INTEGER),
        }
        if with_masks:
            fields[MASK] = SampleField(FieldForm.PICTURE, extension="png")
        super().__init__(SampleKind.MASK if with_masks else SampleKind.IMAGE, fields, Crop())
        self._images, self._labels = images, labels

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self._images)

    def stored(self, index: int) -> dict[str, Any]:
        """Return the files of an image and its mask, and the label."""
        image, file = _picture(self._images[index]), BytesIO()
        image.save(file, "JPEG", quality=_JPEG_QUALITY)
        sample: dict[str, Any] = {IMAGE: file.getvalue(), "label": int(self._labels[index])}
        if MASK in self.fields:
            mask, file = image.convert("L").point(lambda grey: grey * _CLASSES // 256), BytesIO()
            mask.save(file, "PNG")
            sample[MASK] = file.getvalue()
        return sample


def _picture(pixels: np.ndarray) -> Image.Image:
    """Return an image that JPEG has: grey or of three colours."""
    from PIL import Image

    picture = Image.fromarray(pixels.squeeze(axis=2) if pixels.shape[2:] == (1,) else pixels)
    return picture if picture.mode == "L" else picture.convert("RGB")


class WindowSamples(SampleSet):
    """Windows of consecutive steps of an array, a sample for each first step."""

    def __init__(self, array: ArraySource, window: int) -> None:
        shape = (window, *array.shape[1:])
        fields = {"values": SampleField(FieldForm.ARRAY, array.dtype.name, shape)}
        super().__init__(SampleKind.WINDOW, fields, array=array, window=window)
        self._array = array

    def __len__(self) -> int:
        """Return the number of windows."""
        return max(0, self._array.shape[0] - self.window + 1)

    def stored(self, index: int) -> dict[str, Any]:
        """Return the values of a window."""
        rest = (slice(0, edge) for edge in self._array.shape[1:])
        return {"values": self._array.read((slice(index, index + self.window), *rest))}


class TableSamples(SampleSet):
    """Rows of a table of numbers, texts without nulls, and vectors; made when the first is asked for.

    Parameters
    ----------
    kind : SampleKind
        `SampleKind.ROW`, `EMBEDDING` or `TEXT`.
    make : callable
        Returns the table of a number of rows.
    count : int
        Number of rows.
    """

    def __init__(self, kind: SampleKind, make: Callable[[int], pd.DataFrame], count: int) -> None:
        self._make, self._count = make, count
        of_first = _columns(make(1))
        super().__init__(kind, {name: _field(values) for name, values in of_first.items()})

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count

    @cached_property
    def _values(self) -> dict[str, np.ndarray | list[Any]]:
        return _columns(self._make(self._count))

    def stored(self, index: int) -> dict[str, Any]:
        """Return the values of a row."""
        return {name: values[index] for name, values in self._values.items()}


def numbers_and_texts(df: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a table that samples have: numbers, null as NaN, and texts, null as ""."""
    from pandas.api import types

    found = {}
    for name in df.columns:
        column = df[name]
        if types.is_bool_dtype(column) or types.is_integer_dtype(column):
            found[name] = column.astype("float64" if column.hasnans else "int64")
        elif types.is_float_dtype(column):
            found[name] = column.astype("float64")
        elif types.is_string_dtype(column) and types.infer_dtype(column, skipna=True) == "string":
            found[name] = column.fillna("")
    return df[list(found)].assign(**found)


def _columns(df: pd.DataFrame) -> dict[str, np.ndarray | list[Any]]:
    """Return the values of columns: lists of Python's objects, or an array of vectors."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    found: dict[str, np.ndarray | list[Any]] = {}
    for name in df.columns:
        if isinstance(df[name].dtype, pd.ArrowDtype):
            values = pa.array(df[name])
            flat = values.flatten().to_numpy(zero_copy_only=False)
            found[name] = np.ascontiguousarray(flat).reshape(len(values), values.type.list_size)
        else:
            found[name] = df[name].tolist()
    return found


def _field(values: np.ndarray | list[Any]) -> SampleField:
    import numpy as np

    if isinstance(values, np.ndarray):
        return SampleField(FieldForm.ARRAY, values.dtype.name, values.shape[1:])
    forms = {int: FieldForm.INTEGER, float: FieldForm.NUMBER, str: FieldForm.TEXT}
    return SampleField(forms[type(values[0])])
