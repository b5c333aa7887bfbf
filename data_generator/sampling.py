"""Which rows or images are in a random sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.random_words import RandomWords

if TYPE_CHECKING:
    import numpy as np


def sampled_rows(rows: int, wanted: int | None, seed: int) -> np.ndarray | None:
    """Return the numbers of the rows in a sample without replacement, the same on every machine.

    Each row draws a random word, and those with the smallest words are taken: every set of that many
    rows is equally likely.

    Parameters
    ----------
    rows : int
        How many there are.
    wanted : int or None
        How many to take; None for all.
    seed : int
        Samples of different seeds have nothing in common.

    Returns
    -------
    numpy.ndarray or None
        Ascending, shape (wanted,), dtype int64; None if all rows are wanted, or more than there are.
    """
    import numpy as np

    if wanted is None or wanted >= rows:
        return None
    words = RandomWords("sample", seed).words(rows)
    return np.sort(np.argpartition(words, wanted)[:wanted])
