"""Distinct texts of specified lengths and information, in ascending order.

A text consists of the prefix that all texts share, a counter that makes it distinct and gives it its
place, random characters for the rest of its information, and a filler without information.
"""

from __future__ import annotations

from itertools import accumulate
from math import log2
from typing import TYPE_CHECKING, NamedTuple

from data_generator.realistic.ranks import RankedValues, evenly

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import Alphabet, ColumnSpec


# Characters by kind, without the tilde (the prefix) and without those that need quotes in CSV, a
# backslash in JSON or an entity in XML: they would change sizes by escaping.
KINDS = {
    "other": b"!#$%()*+-./:;=?@[]^_`{|}",
    "digit": b"0123456789",
    "upper": b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "lower": b"abcdefghijklmnopqrstuvwxyz",
}

# Smallest share of a kind whose characters are used for counting.
RARE = 0.05

BYTES = 256


class Letters(NamedTuple):
    """Characters of an alphabet."""

    counting: bytes
    """Digits of numbers in texts, ascending."""
    filler: int
    """Code of a character of the most frequent kind."""
    information: float
    """Bits of a random character, rounded because log2 differs between machines in the last bit."""


def letters_of(alphabet: Alphabet) -> Letters:
    """Return the characters of an alphabet, and the information of a random one."""
    shares = _shares(alphabet)
    most = max(shares, key=shares.__getitem__)
    often = [kind for kind, share in shares.items() if share >= RARE] or [most]
    information = sum(share * log2(len(KINDS[kind]) / share) for kind, share in shares.items())
    counting = bytes(sorted(b"".join(KINDS[kind] for kind in often)))
    return Letters(counting, KINDS[most][-1], round(information, 2))


def random_letters(alphabet: Alphabet, count: int, random: RandomWords) -> np.ndarray:
    """Return random characters, shape (count,), dtype uint8, in the alphabet's shares to 1/256."""
    import numpy as np

    of_byte = np.zeros(BYTES, np.uint8)
    shares = _shares(alphabet)
    ends = [round(BYTES * end) for end in accumulate(shares.values())]
    for kind, start, end in zip(shares, [0, *ends], ends, strict=False):
        characters = np.frombuffer(KINDS[kind], np.uint8)
        of_byte[start:end] = characters[np.arange(end - start) * len(characters) // max(1, end - start)]
    return of_byte[random.words(-(-count // 8)).view(np.uint8)[:count]]


def _shares(alphabet: Alphabet) -> dict[str, float]:
    """Return the shares of all kinds in the alphabet, scaled to the sum 1."""
    given = {kind: getattr(alphabet, kind) for kind in KINDS}
    total = sum(given.values())
    return {kind: share / total for kind, share in given.items() if share > 0}


PREFIX = ord("~")
SEPARATOR = ord(",")
QUOTE = ord('"')


class TextBuffer:
    """Buffer of consecutive texts, laid out as by Arrow and written position by position.

    Parameters
    ----------
    lengths : numpy.ndarray
        Bytes of each text, shape (count,), dtype int64.
    filler : int
        Code of the character that fills all texts at first.
    """

    def __init__(self, lengths: np.ndarray, filler: int) -> None:
        import numpy as np

        self.count = len(lengths)
        self._ends = np.zeros(self.count + 1, np.int64)
        np.cumsum(lengths, out=self._ends[1:])
        self._letters = np.full(int(self._ends[-1]), filler, np.uint8)

    def write(self, place: int, letters: np.ndarray | int, chosen: np.ndarray | None = None) -> None:
        """Write one character at the same position of all texts, or of chosen ones.

        Parameters
        ----------
        place : int
            Position in the text, from 0; less than the length of each chosen text.
        letters : numpy.ndarray or int
            Character codes, shape (count,), dtype uint8, or one code for all texts.
        chosen : numpy.ndarray, optional
            Mask of the texts to change, shape (count,), dtype bool.
        """
        starts = self._ends[:-1]
        if chosen is not None and not chosen.all():
            starts = starts[chosen]
            letters = letters if isinstance(letters, int) else letters[chosen]
        self._letters[starts + place] = letters

    def end_with(self, letter: int, chosen: np.ndarray, after: int = 0) -> None:
        """Write the last character of the chosen texts, or the one followed by `after` others."""
        self._letters[self._ends[1:][chosen] - 1 - after] = letter

    def array(self) -> pa.Array:
        """Return the texts as a large_binary array, without copying them."""
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self._ends), pa.py_buffer(self._letters)]
        return pa.LargeBinaryArray.from_buffers(pa.large_binary(), self.count, buffers)


def texts(spec: ColumnSpec, widths: np.ndarray, random: RandomWords) -> RankedValues:
    """Return texts of as many bytes as their ranks specify, or longer if their counters are longer.

    Parameters
    ----------
    spec : ColumnSpec
        Specification with prefix, information, alphabet and separators.
    widths : numpy.ndarray
        Bytes by frequency rank, shape (distinct,), dtype int64.
    random : RandomWords
        Source of all choices that the specification leaves open.

    Returns
    -------
    RankedValues
        ASCII texts as large_binary.
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
    # The counter's information counts towards the text's.
    wanted = spec.bits_per_character * float(lengths.mean()) - distinct.bit_length()
    places = max(0.0, wanted / letters.information)
    drawn = np.minimum(np.floor(places + evenly(distinct)).astype(np.int64), lengths - start)
    _count(buffer, spec.prefix_length, letters.counting, counting, random if drawn.any() else None)
    for place in range(int(drawn.max(initial=0))):
        buffer.write(start + place, random_letters(spec.alphabet, distinct, random), drawn > place)
    _end(buffer, spec, lengths - start)
    return RankedValues(buffer.array(), ranks)


def _end(buffer: TextBuffer, spec: ColumnSpec, free: np.ndarray) -> None:
    """Write a comma and double quotes at the end of texts that have free positions."""
    import numpy as np

    fractions = evenly(len(free))
    commas = (fractions < spec.quoted_share) & (free > 0)
    buffer.end_with(SEPARATOR, commas)
    marks = np.minimum(np.floor(spec.quote_marks + fractions), free - 1).astype(np.int64)
    for place in range(int(marks.max(initial=0))):
        buffer.end_with(QUOTE, marks > place, 1 + place)


def counting_places(letters: Letters, distinct: int) -> int:
    """Return the number of positions of the counter that distinguishes the texts."""
    places = 0
    while len(letters.counting) ** places < distinct:
        places += 1
    return places


def _count(
    buffer: TextBuffer, start: int, digits: bytes, places: int, random: RandomWords | None
) -> None:
    """Write ascending counters, one digit per position; with random gaps if `random` is given."""
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
