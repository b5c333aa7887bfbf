"""The characters of texts, and the information that random ones have."""

from __future__ import annotations

from itertools import accumulate
from math import log2
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import Alphabet

KINDS = {
    "other": b"!#$%()*+-./:;=?@[]^_`{|}",
    "digit": b"0123456789",
    "upper": b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "lower": b"abcdefghijklmnopqrstuvwxyz",
}
"""None of them is a tilde, or needs quotes in CSV, a backslash in JSON or an entity in XML."""

RARE = 0.05
"""Kinds of so small a share do not count."""

BYTES = 256


class Letters(NamedTuple):
    """The characters of an alphabet."""

    counting: bytes
    """Those that numbers are written with, ascending."""
    filler: int
    """One of the most frequent kind."""
    information: float
    """Bits of a random one, rounded so that it is the same on every machine."""


def letters_of(alphabet: Alphabet) -> Letters:
    """Return the characters of an alphabet."""
    shares = _shares(alphabet)
    most = max(shares, key=shares.__getitem__)
    often = [kind for kind, share in shares.items() if share >= RARE] or [most]
    information = sum(share * log2(len(KINDS[kind]) / share) for kind, share in shares.items())
    counting = bytes(sorted(b"".join(KINDS[kind] for kind in often)))
    return Letters(counting, KINDS[most][-1], round(information, 2))


def random_letters(alphabet: Alphabet, count: int, random: RandomWords) -> np.ndarray:
    """Return random characters in the alphabet's shares, to 1/256; shape (count,), dtype uint8."""
    import numpy as np

    of_byte = np.zeros(BYTES, np.uint8)
    shares = _shares(alphabet)
    ends = [round(BYTES * end) for end in accumulate(shares.values())]
    for kind, start, end in zip(shares, [0, *ends], ends, strict=False):
        characters = np.frombuffer(KINDS[kind], np.uint8)
        of_byte[start:end] = characters[np.arange(end - start) * len(characters) // max(1, end - start)]
    return of_byte[random.words(-(-count // 8)).view(np.uint8)[:count]]


def _shares(alphabet: Alphabet) -> dict[str, float]:
    """Return the shares of the kinds that there are, of sum 1."""
    given = {kind: getattr(alphabet, kind) for kind in KINDS}
    total = sum(given.values())
    return {kind: share / total for kind, share in given.items() if share > 0}
