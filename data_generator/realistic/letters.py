"""Characters of generated texts, and the information of random ones."""

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
"""Characters by kind, without the tilde (the prefix) and without those that need quotes in CSV, a
backslash in JSON or an entity in XML: they would change sizes by escaping."""

RARE = 0.05
"""Smallest share of a kind whose characters are used for counting."""

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
