"""Distinct values of a flat column as an Arrow array, in ascending order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.realistic import numbers, text
from data_generator.realistic.ranks import RankedValues, powers
from data_generator.realistic.widths import widths
from data_generator.spec.arrow import arrow_type
from data_generator.spec.dtypes import DTYPES, UNITS_PER_DAY, DtypeFamily

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import ColumnSpec

# Days from 1970-01-01, the epoch of Arrow's dates and times.
DAYS_TO_2000 = 10_957

# Decimal digits that every float64 preserves.
DIGITS_OF_FLOATS = 15


def capacity(spec: ColumnSpec) -> int:
    """Return the largest possible number of distinct values of a column."""
    dtype = DTYPES[spec.dtype]
    match dtype.family:
        case DtypeFamily.BOOLEAN:
            return 2
        case DtypeFamily.INTEGER:
            return numbers.capacity(spec, dtype.largest // spec.granularity)
        case DtypeFamily.TIME:
            return _granules(spec)
    return 2**62  # in effect unlimited: texts are lengthened, floats have enough bits


def values(spec: ColumnSpec, distinct: int, random: RandomWords) -> RankedValues:
    """Return `distinct` values of a flat column; `capacity` is the largest possible number."""
    import numpy as np
    import pyarrow as pa

    dtype = DTYPES[spec.dtype]
    match dtype.family:
        case DtypeFamily.BOOLEAN:
            # The more frequent one of the two is chosen at random.
            swapped = int(random.integers(2, 1)[0]) if distinct > 1 else 0
            ranks = np.arange(distinct) ^ swapped
            return RankedValues(pa.array([False, True][:distinct], pa.bool_()), ranks)
        case DtypeFamily.TEXT:
            found = text.texts(spec, widths(spec, distinct, random), random)
            return RankedValues(found.values.cast(arrow_type(spec)), found.ranks)
        case DtypeFamily.TIME:
            return _times(spec, distinct, random)
        case DtypeFamily.INTEGER:
            return _integers(spec, distinct, dtype.largest, random)
    if spec.decimals is None:
        real = numbers.real(spec, widths(spec, distinct, random), random)
        if spec.rank_decimals:
            real = numbers.shortened(real, spec.rank_decimals)
        return RankedValues(pa.array(real.values.astype(spec.dtype)), real.ranks)
    # Decimals are computed as scaled whole numbers, which keeps them distinct and free of rounding.
    largest = 10**DIGITS_OF_FLOATS - 1
    scaled = numbers.whole(spec, widths(spec, distinct, random), largest, random)
    if spec.rank_decimals:
        scaled = numbers.shortened(scaled, spec.rank_decimals, spec.decimals)
    if dtype.family is DtypeFamily.DECIMAL:
        return RankedValues(_decimals(spec, scaled.values), scaled.ranks)
    # The quotient of two whole numbers below 2**53 is the float nearest to the decimal number.
    return RankedValues(pa.array((scaled.values / 10**spec.decimals).astype(spec.dtype)), scaled.ranks)


def _integers(spec: ColumnSpec, distinct: int, largest: int, random: RandomWords) -> RankedValues:
    import pyarrow as pa

    found = numbers.whole(spec, widths(spec, distinct, random), largest // spec.granularity, random)
    return RankedValues(pa.array(found.values * spec.granularity).cast(arrow_type(spec)), found.ranks)


def _granules(spec: ColumnSpec) -> int:
    """Return the number of granules of time between the earliest and the latest value."""
    span = round(powers(10.0, min(spec.width, numbers.MOST_DIGITS)))
    if spec.dtype == "time":
        span = min(span, UNITS_PER_DAY[spec.unit] // spec.granularity)
    return max(1, span)


def _times(spec: ColumnSpec, distinct: int, random: RandomWords) -> RankedValues:
    """Return dates and datetimes from the year 2000 on, or times of day and timedeltas from 0 on."""
    import numpy as np
    import pyarrow as pa

    counts = numbers.spaced(spec, 0, _granules(spec), distinct, random) * spec.granularity
    start = {"date": DAYS_TO_2000, "datetime": DAYS_TO_2000 * UNITS_PER_DAY[spec.unit]}
    counts += start.get(spec.dtype, 0)
    kind = arrow_type(spec)
    whole = pa.array(counts.astype(f"int{kind.bit_width}"))
    return RankedValues(whole.view(kind), np.argsort(random.words(distinct), kind="stable"))


def _decimals(spec: ColumnSpec, scaled: np.ndarray) -> pa.Array:
    """Return decimals of 128 bits: the number as low half, its sign extension as high half."""
    import numpy as np
    import pyarrow as pa

    halves = np.stack([scaled, scaled >> 63], axis=1)
    return pa.Array.from_buffers(arrow_type(spec), len(scaled), [None, pa.py_buffer(halves)])
