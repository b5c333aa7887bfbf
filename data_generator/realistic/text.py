"""Distinct texts of stated lengths and information, ascending.

A text is a prefix that all have, then characters that count, so that each is distinct and in its place,
then random characters for the rest of its information, and then a filler that has none.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from data_generator.realistic.page import Page
from data_generator.realistic.ranks import evenly

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from data_generator.bits import Bits
    from data_generator.spec import Alphabet, ColumnSpec

PREFIX = ord("~")
SEPARATOR = ord(",")
QUOTE = ord('"')

BITS = {5: 2.32, 10: 3.32, 26: 4.70}
"""Binary logarithms of the numbers of characters."""

MOST_BITS = 5.0
"""Per character: letters of one case have 4.7."""

MOST_PLACES = 64
"""Kinds of characters come again after so many places of a text."""


class Texts(NamedTuple):
    """Distinct texts, and how frequent each is."""

    values: pa.Array
    """Shape (distinct,), large_binary of ASCII characters, ascending."""
    ranks: np.ndarray
    """Frequency rank, from 0, of each text; shape (distinct,), dtype int64."""


def texts(spec: ColumnSpec, widths: np.ndarray, bits: Bits) -> Texts:
    """Return texts of as many bytes as stated by frequency rank; longer where they must be to differ.

    Parameters
    ----------
    spec : ColumnSpec
        States prefix, information, alphabet and separators.
    widths : numpy.ndarray
        Bytes by frequency rank, shape (distinct,), dtype int64.
    bits : Bits
        Decides what is left open.
    """
    import numpy as np

    distinct = len(widths)
    ranks = np.argsort(bits.words(distinct), kind="stable")
    kinds = _kinds(spec.alphabet)
    counting = counting_places(spec.alphabet, distinct)
    prefix = spec.prefix_length
    lengths = np.maximum(widths[ranks], prefix + counting)
    page = Page(lengths, max(kinds, key=kinds.count)[-1])
    for place in range(prefix):
        page.write(place, PREFIX)
    drawn = _drawn_places(spec, kinds, lengths - prefix - counting, float(lengths.mean()), counting)
    _count(page, prefix, kinds[:counting], bits, exactly=not drawn.any())
    for i in range(int(drawn.max(initial=0))):
        letters = _random(kinds[(counting + i) % len(kinds)], distinct, bits)
        page.write(prefix + counting + i, letters, drawn > i)
    _end(page, spec, lengths - prefix - counting)
    return Texts(page.array(), ranks)


def _end(page: Page, spec: ColumnSpec, free: np.ndarray) -> None:
    """Write a comma and double quotes at the end of texts, as far as there are free places."""
    import numpy as np

    fractions = evenly(len(free))
    commas = (fractions < spec.quoted_share) & (free > 0)
    page.end_with(SEPARATOR, commas)
    marks = np.minimum(np.floor(spec.quote_marks + fractions), free - 1).astype(np.int64)
    for place in range(int(marks.max(initial=0))):
        page.end_with(QUOTE, marks > place, 1 + place)


def _kinds(alphabet: Alphabet) -> list[bytes]:
    """Return the characters that may stand at each place, in the alphabet's shares."""
    kinds = {
        b"abcdefghijklmnopqrstuvwxyz": alphabet.lower,
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZ": alphabet.upper,
        b"0123456789": alphabet.digit,
        b"-./:_": alphabet.other,
    }
    ends = list(accumulate(kinds.values()))
    places = (evenly(MOST_PLACES) * ends[-1]).tolist()
    return [next(kind for kind, end in zip(kinds, ends, strict=True) if x < end) for x in places]


def counting_places(alphabet: Alphabet, distinct: int) -> int:
    """Return how many places tell so many texts apart."""
    kinds, places, told_apart = _kinds(alphabet), 0, 1
    while told_apart < distinct:
        told_apart *= len(kinds[places])
        places += 1
    return places


def _drawn_places(
    spec: ColumnSpec, kinds: list[bytes], free: np.ndarray, width: float, counting: int
) -> np.ndarray:
    """Return how many random characters each text has, at most as many as it has free places."""
    import numpy as np

    wanted = spec.bits_per_character * width - len(free).bit_length()
    places = 0.0
    while wanted > 0 and places < width:
        bits = BITS[len(kinds[(counting + int(places)) % len(kinds)])]
        places += min(1.0, wanted / bits)
        wanted -= bits
    return np.minimum(np.floor(places + evenly(len(free))).astype(np.int64), free)


def _count(page: Page, start: int, kinds: list[bytes], bits: Bits, *, exactly: bool) -> None:
    """Write ascending numbers, one digit a place; the gaps are filled at random if not `exactly`."""
    import numpy as np

    distinct, told_apart = page.count, 1
    for kind in kinds:
        told_apart *= len(kind)
    step = told_apart // max(1, distinct)
    numbers = np.arange(distinct, dtype=np.uint64) * np.uint64(step)
    if not exactly:
        numbers += bits.words(distinct) % np.uint64(step)
    for place in reversed(range(len(kinds))):
        letters = np.frombuffer(kinds[place], np.uint8)
        page.write(start + place, letters[(numbers % np.uint64(len(letters))).astype(np.int64)])
        numbers //= np.uint64(len(letters))


def _random(kind: bytes, count: int, bits: Bits) -> np.ndarray:
    """Return random characters of a kind, shape (count,), dtype uint8; from a byte of chance each."""
    import numpy as np

    letter_of_byte = np.frombuffer(kind, np.uint8)[np.arange(256) * len(kind) >> 8]
    return letter_of_byte[bits.words(-(-count // 8)).view(np.uint8)[:count]]
