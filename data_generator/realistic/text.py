"""Distinct texts of stated lengths and information, ascending.

A text is a prefix that all have, then characters that count, so that each is distinct and in its place,
then random characters for the rest of its information, and then a filler that has none.

Texts one after another in memory, as Arrow keeps them, written place by place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from data_generator.realistic.letters import Letters, letters_of, random_letters
from data_generator.realistic.ranks import evenly

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import ColumnSpec


class TextBuffer:
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


PREFIX = ord("~")
SEPARATOR = ord(",")
QUOTE = ord('"')


class Texts(NamedTuple):
    """Distinct texts, and how frequent each is."""

    values: pa.Array
    """Shape (distinct,), large_binary of ASCII characters, ascending."""
    ranks: np.ndarray
    """Frequency rank, from 0, of each text; shape (distinct,), dtype int64."""


def texts(spec: ColumnSpec, widths: np.ndarray, random: RandomWords) -> Texts:
    """Return texts of as many bytes as stated by frequency rank; longer where they must be to differ.

    Parameters
    ----------
    spec : ColumnSpec
        States prefix, information, alphabet and separators.
    widths : numpy.ndarray
        Bytes by frequency rank, shape (distinct,), dtype int64.
    random : RandomWords
        Decides what is left open.
    """
    import numpy as np

    distinct = len(widths)
    ranks = np.argsort(random.words(distinct), kind="stable")
    letters = letters_of(spec.alphabet)
    counting = counting_places(letters, distinct)
    start = spec.prefix_length + counting
    lengths = np.maximum(widths[ranks], start)
    buffer = TextBuffer(lengths, letters.filler)
    for place in range(spec.prefix_length):
        buffer.write(place, PREFIX)
    # What numbers say already need not be said at random.
    wanted = spec.bits_per_character * float(lengths.mean()) - distinct.bit_length()
    places = max(0.0, wanted / letters.information)
    drawn = np.minimum(np.floor(places + evenly(distinct)).astype(np.int64), lengths - start)
    _count(buffer, spec.prefix_length, letters.counting, counting, random if drawn.any() else None)
    for place in range(int(drawn.max(initial=0))):
        buffer.write(start + place, random_letters(spec.alphabet, distinct, random), drawn > place)
    _end(buffer, spec, lengths - start)
    return Texts(buffer.array(), ranks)


def _end(buffer: TextBuffer, spec: ColumnSpec, free: np.ndarray) -> None:
    """Write a comma and double quotes at the end of texts, as far as there are free places."""
    import numpy as np

    fractions = evenly(len(free))
    commas = (fractions < spec.quoted_share) & (free > 0)
    buffer.end_with(SEPARATOR, commas)
    marks = np.minimum(np.floor(spec.quote_marks + fractions), free - 1).astype(np.int64)
    for place in range(int(marks.max(initial=0))):
        buffer.end_with(QUOTE, marks > place, 1 + place)


def counting_places(letters: Letters, distinct: int) -> int:
    """Return how many places tell so many texts apart."""
    places = 0
    while len(letters.counting) ** places < distinct:
        places += 1
    return places


def _count(
    buffer: TextBuffer, start: int, digits: bytes, places: int, random: RandomWords | None
) -> None:
    """Write ascending numbers, one digit a place; one after another, or with gaps if there is chance."""
    import numpy as np

    numbers = np.arange(buffer.count, dtype=np.uint64)
    if random:
        step = np.uint64(len(digits) ** places // buffer.count)
        numbers *= step
        numbers += random.words(buffer.count) % step
    letters = np.frombuffer(digits, np.uint8)
    for place in reversed(range(places)):
        buffer.write(start + place, letters[(numbers % np.uint64(len(digits))).astype(np.int64)])
        numbers //= np.uint64(len(digits))
