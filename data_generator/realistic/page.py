"""Texts one after another in memory, as Arrow keeps them, written place by place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class Page:
    """Texts of given lengths, at first full of one character.

    Parameters
    ----------
    lengths : numpy.ndarray
        Bytes of each text, shape (count,), dtype int64.
    filler : int
        The character.
    """

    def __init__(self, lengths: np.ndarray, filler: int) -> None:
        import numpy as np

        self.count = len(lengths)
        self._lengths = lengths
        self._ends = np.zeros(self.count + 1, np.int64)
        np.cumsum(lengths, out=self._ends[1:])
        self._letters = np.full(int(self._ends[-1]), filler, np.uint8)

    def write(self, place: int, letters: np.ndarray | int, chosen: np.ndarray | None = None) -> None:
        """Write a character at a place, from 0, of each text, or of the chosen ones; all have the place.

        Parameters
        ----------
        place : int
            Bytes before it.
        letters : numpy.ndarray or int
            Shape (count,), dtype uint8, or one for all.
        chosen : numpy.ndarray, optional
            Shape (count,), dtype bool.
        """
        starts = self._ends[:-1]
        if chosen is not None and not chosen.all():
            starts = starts[chosen]
            letters = letters if isinstance(letters, int) else letters[chosen]
        self._letters[starts + place] = letters

    def end_with(self, letter: int, chosen: np.ndarray, after: int = 0) -> None:
        """Write the last character of the chosen texts, or the one that so many come after."""
        self._letters[self._ends[1:][chosen] - 1 - after] = letter

    def array(self) -> pa.Array:
        """Return the texts, large_binary."""
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self._ends), pa.py_buffer(self._letters)]
        return pa.LargeBinaryArray.from_buffers(pa.large_binary(), self.count, buffers)
