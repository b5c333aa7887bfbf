"""Specification of a table: the statistical properties of the columns to generate.

The properties of a column follow Zeng, Hui, Shen, Pavlo, McKinney and Zhang, "An Empirical Evaluation of
Columnar Storage Formats", PVLDB 17(2), 2023, section 3: the ratio of distinct values (NDV ratio), the
ratio of nulls, the range of values (here: their width), sortedness, and the pattern of skew. Further
properties are the lengths of runs, and those that a synthetic twin of a table needs to compress as the
table does. All shares and ratios are from 0 to 1; shares of values refer to the values that are not
null.

Each property is annotated with the rule that its plain value in JSON or TOML has to fulfil, and the
rule's wording for messages.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, NamedTuple

from data_generator.spec.dtypes import DTYPES


class Rule(NamedTuple):
    """A condition on the value of a property."""

    words: str
    """Wording that completes "is ..., not 3"."""
    accepts: Callable[[Any], bool]


def between(low: float, high: float, words: str) -> Rule:
    """Return the rule for numbers from `low` to `high`."""
    return Rule(words, lambda value: _is_number(value) and low <= value <= high)


def whole(low: int, high: int, words: str) -> Rule:
    """Return the rule for whole numbers from `low` to `high`."""
    return Rule(words, lambda value: _is_number(value) and value == int(value) and low <= value <= high)


def one_of(names: Iterable[str]) -> Rule:
    """Return the rule for one of several names."""
    known = tuple(names)
    return Rule(f"one of {', '.join(known)}", lambda value: isinstance(value, str) and value in known)


def list_of(rule: Rule, words: str) -> Rule:
    """Return the rule for lists whose items all fulfil a rule."""
    return Rule(words, lambda value: COLUMNS.accepts(value) and all(map(rule.accepts, value)))


def table(words: str) -> Rule:
    """Return the rule for nested properties, which are validated on their own."""
    return Rule(words, lambda value: isinstance(value, dict))


def _is_number(value: Any) -> bool:
    # Python's booleans are integers, and json.loads accepts NaN and Infinity.
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_zone(value: Any) -> bool:
    return isinstance(value, str) and (not value or value in zoneinfo.available_timezones())


SHARE = between(0, 1, "a share from 0 to 1")
RUN_LENGTH = between(1, 2**40, "a length of 1 or more")
# The least float64, 5e-324, has the width -323.
WIDTH = between(-323, 2**31, "a width up to 2**31")
NOT_NEGATIVE = between(0, 2**31, "a number that is not negative")
TEXT = Rule("text", lambda value: isinstance(value, str))
COLUMNS = Rule("a list of columns", lambda value: isinstance(value, list | tuple))
SHARES = list_of(SHARE, "a list of shares from 0 to 1")
WIDTHS = list_of(WIDTH, "a list of widths up to 2**31")
ZONE = Rule("the name of a time zone, e.g. Europe/Paris", _is_zone)


# Rows of a window, the unit of the measurement and generation of order; as in the study.
WINDOW = 512

PATTERNS = ("constant", "binary", "uniform", "hotspot", "zipf", "measured")

# Seed of all generated data.
DEFAULT_SEED = 20240501


@dataclass(frozen=True)
class Alphabet:
    """Shares of the kinds of ASCII characters in text, of sum 1."""

    lower: Annotated[float, SHARE] = 1.0
    upper: Annotated[float, SHARE] = 0.0
    digit: Annotated[float, SHARE] = 0.0
    other: Annotated[float, SHARE] = 0.0
    """Blanks and punctuation marks."""


@dataclass(frozen=True)
class ColumnSpec:
    """Properties of one column."""

    name: Annotated[str, TEXT]
    dtype: Annotated[str, one_of(DTYPES)]
    """One of `data_generator.spec.dtypes.DTYPES`; integers and booleans with nulls become pandas'
    nullable ones, and nested columns Arrow-typed ones."""

    distinct_ratio: Annotated[float, SHARE] = 1.0
    """Number of distinct values / number of values (NDV ratio)."""
    pattern: Annotated[str, one_of(PATTERNS)] = "uniform"
    """Frequencies: ``constant``; ``binary``: two values; ``uniform``; ``hotspot``: one frequent
    value, and all others with equal frequency; ``zipf``: the k-th most frequent value has a share
    proportional to 1 / k**exponent; ``measured``: see `rank_shares`."""
    exponent: Annotated[float, between(0, 4, "a number from 0 to 4")] = 1.0
    """Exponent of ``zipf``; it is rounded to 1/64."""
    top_share: Annotated[float, SHARE] = 0.5
    """Share of the most frequent value in ``binary`` and ``hotspot``."""
    rank_shares: Annotated[tuple[float, ...], SHARES] = ()
    """In ``measured``: shares of the values of frequency rank 1, 2, 3 to 4, 5 to 8, 9 to 16, ..."""

    null_share: Annotated[float, SHARE] = 0.0
    """Number of nulls / number of rows (null ratio)."""
    null_run_length: Annotated[float, RUN_LENGTH] = 1.0
    """Mean number of consecutive nulls."""

    sortedness: Annotated[float, SHARE] = 0.0
    """Mean over windows of 512 values of (max(asc, desc) + eq - n // 2) / (ceil(n / 2) - 1), where n
    neighbours are ascending, descending or equal: near 0 in random order, 1 in sorted order."""
    mean_run_length: Annotated[float, RUN_LENGTH] = 1.0
    """Mean number of consecutive equal values; frequent values exceed it in random order anyway."""
    longest_run: Annotated[float | None, RUN_LENGTH] = None
    """Mean over windows of the longest run in the window; twice the mean if not given."""
    clustering: Annotated[float, SHARE] = 0.0
    """Reduction of the spread of ranks, by size, in a window of 512 runs relative to the whole column: 0
    in random order, 1 if all small values precede all large ones."""
    repetition: Annotated[float, SHARE] = 0.0
    """Share of windows that repeat one of the windows shortly before them."""

    width: Annotated[float, WIDTH] = 4.0
    """Mean number of digits of numbers (of ``|value| x 10**decimals / granularity``; of the whole part
    if `decimals` is not given), of bytes of text, of items of lists and maps. For times: of decimal
    digits of the number of granules between the earliest and the latest."""
    width_spread: Annotated[float, NOT_NEGATIVE] = 0.0
    """Standard deviation of the width."""
    rank_widths: Annotated[tuple[float, ...], WIDTHS] = ()
    """Mean widths by frequency rank, in place of `width`: rank 1, 2, 3 to 4, 5 to 8, ..."""
    negative_share: Annotated[float, SHARE] = 0.0
    """Share of numbers below zero."""
    decimals: Annotated[int | None, whole(0, 15, "a whole number from 0 to 15")] = None
    """Digits after the point; floats have all their digits if not given."""
    rank_decimals: Annotated[
        tuple[float, ...],
        list_of(between(0, 400, ""), "a list of numbers that are not negative"),
    ] = ()
    """Mean number of digits after the point, without trailing zeros, by frequency rank."""
    significant_bits: Annotated[int, whole(1, 53, "a whole number from 1 to 53")] = 53
    """Bits of the significand that floats use if `decimals` is not given."""
    granularity: Annotated[int, whole(1, 10**18, "a whole number from 1 to 10**18")] = 1
    """Common divisor of integers and times."""
    regularity: Annotated[float, SHARE] = 0.0
    """Share of distinct numbers or times at equal distances."""

    prefix_length: Annotated[int, whole(0, 2**31, "a whole number that is not negative")] = 0
    """Bytes at the start that all texts share; they are written as tildes."""
    bits_per_character: Annotated[float, between(0, 8, "a number from 0 to 8")] = 4.0
    """Information in distinct texts, at most as in random ones of the alphabet: 4.7 for small letters.
    Compressors need that much or somewhat more."""
    alphabet: Annotated[Alphabet, table("a table of shares")] = Alphabet()
    quoted_share: Annotated[float, SHARE] = 0.0
    """Share of distinct texts with a comma, which CSV writers quote."""
    quote_marks: Annotated[float, NOT_NEGATIVE] = 0.0
    """Mean number of double quotes in distinct texts, which CSV and JSON writers write twice."""

    unit: Annotated[str, one_of(("s", "ms", "us", "ns"))] = "us"
    """Unit of datetimes, times and timedeltas."""
    zone: Annotated[str, ZONE] = ""
    """Time zone of datetimes, e.g. ``Europe/Paris``."""

    items: Annotated[ColumnSpec | None, table("a table of properties")] = None
    """Properties of all items of a ``list`` or ``vector``, one after another."""
    length: Annotated[int, whole(0, 2**31, "a whole number that is not negative")] = 0
    """Number of items of each ``vector``."""
    fields: Annotated[tuple[ColumnSpec, ...], COLUMNS] = ()
    """Fields of a ``record``, or keys and values of the entries of a ``map``, one map after another."""


@dataclass(frozen=True)
class TableSpec:
    """Columns of a table, and its usual number of rows."""

    columns: Annotated[tuple[ColumnSpec, ...], COLUMNS]
    rows: Annotated[int, whole(0, 2**40, "a whole number that is not negative")] = 1_000_000
    seed: Annotated[int, whole(-(2**63), 2**63, "a whole number")] = DEFAULT_SEED
    note: Annotated[str, TEXT] = ""
    """Origin of the properties, for readers of the file."""


# Shares near 1 keep the digits of their complement: 0.99999 is not 1.
NEAR_ONE = 0.9


def significant(value: float, digits: int = 3) -> float:
    """Return a number rounded to a number of significant digits."""
    return float(f"{value:.{digits}g}")


def share(value: float) -> float:
    """Return a share rounded to three significant digits of its distance to 0 or 1: 0.9996 is not 1."""
    return significant(value) if value < NEAR_ONE else round(1 - significant(1 - value), 12)
