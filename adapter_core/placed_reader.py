"""Random access to images whose bytes lie at known places of files, with other bytes between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.image_reader import ImageReader

if TYPE_CHECKING:
    import numpy as np

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
