"""Random samples of rows or images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.random_words import RandomWords

if TYPE_CHECKING:
    import numpy as np


def sampled_rows(rows: int, wanted: int | None, seed: int) -> np.ndarray | None:
    """Return the numbers of the rows in a sample without replacement, the same on every machine.

    Parameters
    ----------
    rows : int
        Number of rows.
    wanted : int or None
        Size of the sample; None for all rows.
    seed : int
        Samples of different seeds are independent of each other.

    Returns
    -------
    numpy.ndarray or None
        Ascending, shape (wanted,), dtype int64; None if all rows are in the sample.
    """
    import numpy as np

    if wanted is None or wanted >= rows:
        return None
    # Each row draws a random word; the smallest words win. All samples are equally likely.
    words = RandomWords("sample", seed).words(rows)
    return np.sort(np.argpartition(words, wanted)[:wanted])
