"""Random access to images in runs of bytes, or at known offsets of files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import ImageReader
from adapter_core.image_shapes import sizes

if TYPE_CHECKING:
    import numpy as np


class FlatReader(ImageReader):
    """Reader of images that lie end to end in runs of bytes, in memory or mapped.

    Parameters
    ----------
    runs : sequence of numpy.ndarray
        Each of shape (bytes,), dtype uint8, with whole images.
    shapes : sequence of numpy.ndarray
        The shapes of the images in each run, (images, 3).
    labels : numpy.ndarray
        Shape (images,), dtype int64.
    """

    def __init__(
        self, runs: Sequence[np.ndarray], shapes: Sequence[np.ndarray], labels: np.ndarray
    ) -> None:
        import numpy as np

        super().__init__(len(labels))
        self._runs = list(runs)
        self._firsts = np.cumsum([0, *map(len, shapes)]).tolist()
        # One row an image, since a look-up of five numbers costs little more than one number.
        self._rows = np.empty((len(labels), 5), np.int64)
        for first, each in zip(self._firsts, shapes, strict=False):
            rows = self._rows[first : first + len(each)]
            rows[:, 1:4] = each
            ends = np.cumsum(sizes(each))
            rows[:, 0] = ends - sizes(each)
        self._rows[:, 4] = labels

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        import numpy as np

        begin, height, width, channels, label = self._rows[index].tolist()
        run = self._runs[bisect_right(self._firsts, index) - 1]
        shape = (height, width, channels) if channels else (height, width)
        return np.ndarray(shape, np.uint8, run, begin).copy(), label

    def close(self) -> None:
        """Release the runs."""
        self._runs = []


COLUMNS = ("file", "offset", "height", "width", "channels", "label")
"""Columns of the positions, with 0 channels for shape (height, width)."""


class PlacedReader(ImageReader):
    """Reader of images at known offsets of files, with other bytes between them.

    Parameters
    ----------
    files : sequence of Path
        The files, which are mapped; none is empty.
    positions : numpy.ndarray
        Shape (images, 6), dtype int64: see `COLUMNS`.
    """

    def __init__(self, files: Sequence[Path], positions: np.ndarray) -> None:
        import numpy as np

        super().__init__(len(positions))
        # As plain arrays, since slicing a memmap costs several times as much.
        self._files = [np.memmap(file, np.uint8, "r").view(np.ndarray) for file in files]
        self._positions = positions

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        import numpy as np

        file, offset, height, width, channels, label = self._positions[index].tolist()
        shape = (height, width, channels) if channels else (height, width)
        return np.ndarray(shape, np.uint8, self._files[file], offset).copy(), label

    def close(self) -> None:
        """Release the files."""
        self._files = []
