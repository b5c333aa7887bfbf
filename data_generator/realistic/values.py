"""The distinct values of a column, ascending, as an Arrow array."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from data_generator.realistic import numbers, text
from data_generator.realistic.ranks import powers
from data_generator.realistic.widths import widths
from data_generator.spec.arrow import arrow_type
from data_generator.spec.dtypes import DTYPES, UNITS_PER_DAY, DtypeFamily

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import ColumnSpec

DAYS_TO_2000 = 10_957
"""From 1970, where computers begin to count."""

DIGITS_OF_FLOATS = 15
"""Decimal digits that every float64 keeps."""


class Values(NamedTuple):
    """Distinct values, and how frequent each is."""

    array: pa.Array
    """Shape (distinct,), ascending."""
    ranks: np.ndarray
    """Frequency rank, from 0, of each value; shape (distinct,), dtype int64."""


def most(spec: ColumnSpec) -> int:
    """Return how many distinct values a column can have at most."""
    dtype = DTYPES[spec.dtype]
    match dtype.family:
        case DtypeFamily.BOOLEAN:
            return 2
        case DtypeFamily.INTEGER:
            return numbers.capacity(spec, dtype.largest // spec.granularity)
        case DtypeFamily.TIME:
            return _granules(spec)
    return 2**62


def values(spec: ColumnSpec, distinct: int, random: RandomWords) -> Values:
    """Return so many distinct values of a flat column, up to `most`."""
    import numpy as np
    import pyarrow as pa

    dtype = DTYPES[spec.dtype]
    match dtype.family:
        case DtypeFamily.BOOLEAN:
            # Which of the two is the more frequent one is left to chance.
            ranks = (
                np.arange(distinct) ^ int(random.integers(2, 1)[0])
                if distinct > 1
                else np.arange(distinct)
            )
            return Values(pa.array([False, True][:distinct], pa.bool_()), ranks)
        case DtypeFamily.TEXT:
            found = text.texts(spec, widths(spec, distinct, random), random)
            return Values(found.values.cast(arrow_type(spec)), found.ranks)
        case DtypeFamily.TIME:
            return _times(spec, distinct, random)
        case DtypeFamily.INTEGER:
            return _integers(spec, distinct, dtype.largest, random)
    if spec.decimals is None:
        real = numbers.real(spec, widths(spec, distinct, random), random)
        if spec.rank_decimals:
            real = numbers.shortened(real, spec.rank_decimals)
        return Values(pa.array(real.values.astype(spec.dtype)), real.ranks)
    largest = 10**DIGITS_OF_FLOATS - 1
    scaled = numbers.whole(spec, widths(spec, distinct, random), largest, random)
    if spec.rank_decimals:
        scaled = numbers.shortened(scaled, spec.rank_decimals, spec.decimals)
    if dtype.family is DtypeFamily.DECIMAL:
        return Values(_decimals(spec, scaled.values), scaled.ranks)
    # The quotient of two whole numbers is the float that is nearest to the decimal number.
    return Values(pa.array((scaled.values / 10**spec.decimals).astype(spec.dtype)), scaled.ranks)


def _integers(spec: ColumnSpec, distinct: int, largest: int, random: RandomWords) -> Values:
    import pyarrow as pa

    found = numbers.whole(spec, widths(spec, distinct, random), largest // spec.granularity, random)
    return Values(pa.array(found.values * spec.granularity).cast(arrow_type(spec)), found.ranks)


def _granules(spec: ColumnSpec) -> int:
    """Return how many granules of time the values span."""
    span = round(powers(10.0, min(spec.width, numbers.MOST_DIGITS)))
    if spec.dtype == "time":
        span = min(span, UNITS_PER_DAY[spec.unit] // spec.granularity)
    return max(1, span)


def _times(spec: ColumnSpec, distinct: int, random: RandomWords) -> Values:
    """Return times from the year 2000 on, or spans of time and times of day from 0 on."""
    import numpy as np
    import pyarrow as pa

    counts = numbers.spaced(spec, 0, _granules(spec), distinct, random) * spec.granularity
    start = {"date": DAYS_TO_2000, "datetime": DAYS_TO_2000 * UNITS_PER_DAY[spec.unit]}
    counts += start.get(spec.dtype, 0)
    kind = arrow_type(spec)
    whole = pa.array(counts.astype(f"int{kind.bit_width}"))
    return Values(whole.view(kind), np.argsort(random.words(distinct), kind="stable"))


def _decimals(spec: ColumnSpec, scaled: np.ndarray) -> pa.Array:
    """Return decimals of 128 bits: the whole number, and its sign for the high half."""
    import numpy as np
    import pyarrow as pa

    halves = np.stack([scaled, scaled >> 63], axis=1)
    return pa.Array.from_buffers(arrow_type(spec), len(scaled), [None, pa.py_buffer(halves)])
