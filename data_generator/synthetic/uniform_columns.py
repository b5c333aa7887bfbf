"""Generators of columns with uniformly distributed values, as Arrow arrays.

All take the number of rows, a stream of random bits, and the share of nulls (0 to 1). None of them
executes Python code per value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from data_generator.random_words import RandomWords


# Letters per block: the random words and NumPy's index for them fit in the processor's cache.
LETTERS_AT_A_TIME = 2**17

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def integers(
    rows: int, random: RandomWords, null_share: float = 0.0, low: int = 0, high: int = 100
) -> pa.Array:
    """Return int64 values uniform from `low` to `high`, both included, shape (rows,)."""
    values = random.integers(high - low + 1, rows).view("<i8")
    values += low
    return _array(values, rows, random, null_share)


def floats(
    rows: int, random: RandomWords, null_share: float = 0.0, low: float = 0.0, high: float = 100.0
) -> pa.Array:
    """Return float64 values uniform in [low, high), shape (rows,)."""
    values = random.uniform(rows)
    values *= high - low
    values += low
    return _array(values, rows, random, null_share)


def booleans(rows: int, random: RandomWords, null_share: float = 0.0) -> pa.Array:
    """Return booleans, true with probability 1/2, shape (rows,)."""
    import pyarrow as pa

    # Arrow stores booleans as bits: 64 of them are one random word.
    packed = pa.py_buffer(random.words(-(-rows // 64)))
    return pa.BooleanArray.from_buffers(pa.bool_(), rows, [_validity(rows, random, null_share), packed])


def fixed_strings(rows: int, random: RandomWords, null_share: float = 0.0, length: int = 10) -> pa.Array:
    """Return text of `length` ASCII letters, upper and lower case, shape (rows,)."""
    import numpy as np
    import pyarrow as pa

    offsets = np.arange(rows + 1, dtype=np.int64) * length
    letters = pa.py_buffer(_letters(rows * length, random))
    validity = _validity(rows, random, null_share)
    return pa.LargeStringArray.from_buffers(rows, pa.py_buffer(offsets), letters, validity)


def english_nouns(rows: int, random: RandomWords, null_share: float = 0.0) -> pa.Array:
    """Return English words, drawn uniformly from a list of 100, shape (rows,)."""
    import pyarrow as pa

    indices = _array(random.integers(len(ENGLISH_NOUNS), rows).view("<i8"), rows, random, null_share)
    return pa.array(ENGLISH_NOUNS, pa.large_string()).take(indices)


def to_pandas(columns: Mapping[str, Callable[[], pa.Array]]) -> pd.DataFrame:
    """Return a table of columns, each made by a call without arguments, shape (rows, columns)."""
    import pyarrow as pa

    return pa.table({name: make() for name, make in columns.items()}).to_pandas()


def _letters(count: int, random: RandomWords) -> np.ndarray:
    """Return random letters, shape (count,), dtype uint8."""
    import numpy as np

    letter_of_piece = _letter_of_piece()
    letters = np.empty(count, np.uint8)
    for start in range(0, count, LETTERS_AT_A_TIME):
        part = letters[start : start + LETTERS_AT_A_TIME]
        # 16 bits a letter: four letters for each random word, looked up in a table.
        pieces = random.words(-(-len(part) // 4)).view("<u2")[: len(part)]
        part[:] = letter_of_piece[pieces]
    return letters


@cache
def _letter_of_piece() -> np.ndarray:
    """Return a letter for each 16-bit number, shape (65536,); shares differ by 1 in 1,260."""
    import numpy as np

    letters = np.frombuffer(LETTERS.encode(), np.uint8)
    return letters[np.arange(2**16) * len(letters) >> 16]


def _array(values: np.ndarray, rows: int, random: RandomWords, null_share: float) -> pa.Array:
    import pyarrow as pa

    buffers = [_validity(rows, random, null_share), pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), rows, buffers)


def _validity(rows: int, random: RandomWords, null_share: float) -> pa.Buffer | None:
    """Return Arrow's validity bitmap for rows that are null with probability `null_share`.

    Raises
    ------
    ValueError
        If the share is not from 0 to 1.
    """
    import numpy as np
    import pyarrow as pa

    if not 0 <= null_share <= 1:
        raise ValueError(f"null_share is a share from 0 to 1, not {null_share}")
    if null_share == 0:
        return None
    # Drawn after the values, so that nulls do not change the values beside them.
    valid = random.uniform(rows) >= null_share
    return pa.py_buffer(np.packbits(valid, bitorder="little"))


ENGLISH_NOUNS = (
    "acorn amber anchor apple arrow autumn badge bamboo barrel basket beacon beaver bicycle blanket "
    "bottle branch bridge bronze butter button cabin camera candle canyon carpet castle cedar cherry "
    "circle cloud clover cobalt coffee comet copper coral cotton cradle crystal curtain dragon "
    "engine falcon feather fiddle forest fountain garden glacier hammer harbor hazel honey iceberg "
    "island ivory jacket jungle kettle ladder lantern lemon lobster magnet maple marble meadow "
    "mirror mountain needle ocean olive orchard oyster paper pebble pepper pigeon planet pocket "
    "quarry rabbit raven ribbon river saddle sailor shadow silver spider spring summer temple "
    "thunder timber tunnel umbrella valley violin whistle"
).split()
