"""Random access to images that lie one after the other in memory or in mapped files.

Random access to images whose bytes lie at known places of files, with other bytes between them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.image_reader import ImageReader
from adapter_core.image_shapes import sizes

if TYPE_CHECKING:
    import numpy as np


class FlatReader(ImageReader):
    """Copies of images out of runs of bytes, which are let go when it is closed.

    Parameters
    ----------
    runs : sequence of numpy.ndarray
        Each of shape (bytes,), dtype uint8, holding whole images.
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
        # One row an image, since one look-up of six numbers costs little more than that of one.
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
        """Let go of the runs."""
        self._runs = []


COLUMNS = ("file", "offset", "height", "width", "channels", "label")
"""What the table of places tells of each image; channels 0 stands for shape (height, width)."""


class PlacedReader(ImageReader):
    """Copies of images out of mapped files, which are let go when it is closed.

    Parameters
    ----------
    files : sequence of Path
        The files; none is empty.
    places : numpy.ndarray
        Shape (images, 6), dtype int64: see `COLUMNS`.
    """

    def __init__(self, files: Sequence[Path], places: np.ndarray) -> None:
        import numpy as np

        super().__init__(len(places))
        # As plain arrays, since each slice of a memmap costs several times that of one.
        self._files = [np.memmap(file, np.uint8, "r").view(np.ndarray) for file in files]
        self._places = places

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        import numpy as np

        file, offset, height, width, channels, label = self._places[index].tolist()
        shape = (height, width, channels) if channels else (height, width)
        return np.ndarray(shape, np.uint8, self._files[file], offset).copy(), label

    def close(self) -> None:
        """Let go of the files."""
        self._files = []
