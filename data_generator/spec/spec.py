"""What a table is like: a declaration of its columns' properties, from which one can be made.

The properties of a column follow Zeng, Hui, Shen, Pavlo, McKinney and Zhang, "An Empirical Evaluation of
Columnar Storage Formats", PVLDB 17(2), 2023, section 3: the ratio of distinct values (NDV ratio), the
ratio of nulls, the range of values (here: their width), sortedness, and the pattern of skew. To them
come the lengths of runs, and what a synthetic twin of a table needs so that it compresses as the table
does. All shares and ratios are from 0 to 1; those of values are of the values that are not null.
"""

from __future__ import annotations

from dataclasses import dataclass

WINDOW = 512
"""Rows of a window, in which order is measured and made; as in the study."""

PATTERNS = ("constant", "binary", "uniform", "hotspot", "zipf", "measured")

DEFAULT_SEED = 20240501
"""Of all generated data."""


@dataclass(frozen=True)
class Alphabet:
    """The shares of kinds of ASCII characters in text; together 1."""

    lower: float = 1.0
    upper: float = 0.0
    digit: float = 0.0
    other: float = 0.0
    """Blanks and marks."""


@dataclass(frozen=True)
class ColumnSpec:
    """The properties of one column."""

    name: str
    dtype: str
    """One of `data_generator.spec.dtypes.DTYPES`; integers and booleans with nulls become pandas'
    nullable ones, lists and records become Arrow-typed columns."""

    distinct_ratio: float = 1.0
    """Number of distinct values / number of values (NDV ratio)."""
    pattern: str = "uniform"
    """How often values occur: ``constant``; ``binary``: two values; ``uniform``; ``hotspot``: one value
    often and all others as often as each other; ``zipf``: the k-th most frequent value has a share
    proportional to 1 / k**exponent; ``measured``: see `rank_shares`."""
    exponent: float = 1.0
    """Of ``zipf``, from 0 to 4; it is rounded to 1/64."""
    top_share: float = 0.5
    """Share of the most frequent value in ``binary`` and ``hotspot``."""
    rank_shares: tuple[float, ...] = ()
    """In ``measured``: shares of the values of frequency rank 1, 2, 3 to 4, 5 to 8, 9 to 16, ..."""

    null_share: float = 0.0
    """Number of nulls / number of rows (null ratio)."""
    null_run_length: float = 1.0
    """Mean number of nulls in a row."""

    sortedness: float = 0.0
    """Mean over windows of 512 values of (max(asc, desc) + eq - n // 2) / (ceil(n / 2) - 1), where n
    neighbours are ascending, descending or equal: near 0 in random order, 1 in sorted order."""
    mean_run_length: float = 1.0
    """Mean number of equal values in a row; in random order that of frequent values is more anyway."""
    longest_run: float | None = None
    """Mean over windows of the longest run in the window; twice the mean if not given."""
    clustering: float = 0.0
    """How much less the ranks of values, by size, spread in a window of 512 runs than in the whole
    column: 0 in random order, 1 where all that is small comes before all that is large."""
    repetition: float = 0.0
    """Share of windows that repeat one of the windows shortly before them."""

    width: float = 4.0
    """Mean number of digits of numbers (of |value| x 10**decimals / granularity; of the whole part if
    `decimals` is not given), of bytes of text, of items of lists. For times: of decimal digits of the
    number of granules between the earliest and the latest."""
    width_spread: float = 0.0
    """Standard deviation of the width."""
    rank_widths: tuple[float, ...] = ()
    """If given, mean widths by frequency rank, in place of `width`: rank 1, 2, 3 to 4, 5 to 8, ..."""
    negative_share: float = 0.0
    """Share of numbers that are below zero."""
    decimals: int | None = None
    """Digits after the point; floats have all their digits if not given."""
    rank_decimals: tuple[float, ...] = ()
    """If given, mean digits after the point that are not zeros at the end, by frequency rank."""
    significant_bits: int = 53
    """Bits of the significand that floats use, where `decimals` is not given."""
    granularity: int = 1
    """Integers and times are multiples of this."""
    regularity: float = 0.0
    """Share of distinct numbers or times at equal distances."""

    prefix_length: int = 0
    """Bytes at the start that all texts share; they are written as tildes."""
    bits_per_character: float = 4.0
    """Information in distinct texts, at most that of random ones of the alphabet: 4.7 for small letters.
    Compressors need that much or somewhat more."""
    alphabet: Alphabet = Alphabet()
    quoted_share: float = 0.0
    """Share of distinct texts with a comma, which CSV writers put in quotes."""
    quote_marks: float = 0.0
    """Mean number of double quotes in distinct texts, which CSV and JSON writers write twice."""

    unit: str = "us"
    """Of datetimes, times and timedeltas: ``s``, ``ms``, ``us`` or ``ns``."""
    zone: str = ""
    """Of datetimes: a time zone, as in ``Europe/Paris``."""

    items: ColumnSpec | None = None
    """Of a ``list``: what its items are like, one after another."""
    fields: tuple[ColumnSpec, ...] = ()
    """Of a ``record``."""


@dataclass(frozen=True)
class TableSpec:
    """The columns of a table, and how many rows it usually has."""

    columns: tuple[ColumnSpec, ...]
    rows: int = 1_000_000
    seed: int = DEFAULT_SEED
    note: str = ""
    """Where the properties come from, for whoever reads the file."""
