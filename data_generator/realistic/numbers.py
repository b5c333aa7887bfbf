"""Distinct numbers of specified widths, in ascending order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.realistic.ranks import RankedValues, by_bucket, evenly
from data_generator.realistic.widths import rounded

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import ColumnSpec

# Largest width of whole numbers: not all numbers of 19 digits fit in 64 bits.
MOST_DIGITS = 18

# Float64 reaches from 1e-308 to 1e308; some room is left for what is computed with them.
FEWEST_DIGITS, MOST_DIGITS_OF_FLOATS = -300, 300

# Of float64, the leading bit included.
SIGNIFICAND_BITS = 53


def capacity(spec: ColumnSpec, largest: int) -> int:
    """Return the number of distinct whole numbers up to `largest`."""
    return min(largest, 10**MOST_DIGITS - 1) * (2 if spec.negative_share > 0 else 1) + 1


def whole(spec: ColumnSpec, widths: np.ndarray, largest: int, random: RandomWords) -> RankedValues:
    """Return whole numbers with the widths of their ranks, as far as each width has enough numbers.

    Parameters
    ----------
    spec : ColumnSpec
        Specification with the shares of negative numbers and of equal distances.
    widths : numpy.ndarray
        Digits by frequency rank, shape (distinct,), dtype int64; distinct is at most `capacity`.
    largest : int
        Upper bound of the numbers; its negative is the lower bound.
    random : RandomWords
        Source of all choices that the specification leaves open.
    """
    import numpy as np

    largest = min(largest, 10**MOST_DIGITS - 1)
    digits = len(str(largest))
    negative = _negative(spec, len(widths), largest)

    def values(sizes: np.ndarray, zero: int) -> np.ndarray:
        firsts = [10 ** (width - 1) if width > 1 else 1 - zero for width in range(1, digits + 1)]
        rooms = np.diff([*firsts, largest + 1])
        slots = zip(firsts, rooms.tolist(), _fitted(sizes[1:], rooms), strict=True)
        return np.concatenate([spaced(spec, first, room, n, random) for first, room, n in slots])

    return _signed(widths.clip(1, digits), negative, digits, values, random)


def real(spec: ColumnSpec, widths: np.ndarray, random: RandomWords) -> RankedValues:
    """Return floats with as many digits before the point as the widths of their ranks.

    Floats of width 1 are from 1 to 10, of width 0 from 0.1 to 1, of width -1 from 0.01 to 0.1, ...
    """
    import numpy as np

    low, high = (int(edge(widths, initial=0)) for edge in (np.min, np.max))
    low, high = max(low, FEWEST_DIGITS), min(high, MOST_DIGITS_OF_FLOATS)
    # Clearing the low bits of a significand makes a float compressible without changing its digits much.
    mask = ~np.uint64(2 ** (SIGNIFICAND_BITS - spec.significant_bits) - 1)

    def values(sizes: np.ndarray, _zero: int) -> np.ndarray:
        parts = []
        for width, size in enumerate(sizes.tolist(), low):
            first = float(f"1e{width - 1}")
            place = np.arange(size) + random.uniform(size) * (evenly(size) >= spec.regularity)
            parts.append(first + place * (9 * first / max(1, size)))
        return (np.concatenate(parts).view(np.uint64) & mask).view(np.float64)

    negative = evenly(len(widths)) < spec.negative_share
    return _signed(widths.clip(low, high) - low, negative, high - low, values, random)


def shortened(
    numbers: RankedValues, rank_decimals: tuple[float, ...], decimals: int = 0
) -> RankedValues:
    """Return numbers truncated to as many digits after the point as their ranks specify.

    Numbers that would lose their distinctness are kept, as are floats without digits after the point.

    Parameters
    ----------
    numbers : RankedValues
        Floats, or whole numbers.
    rank_decimals : tuple of float
        Mean digits after the point by bucket of frequency ranks.
    decimals : int
        Digits of whole numbers that are after the point.
    """
    import numpy as np

    values = numbers.values
    kept = rounded(by_bucket(rank_decimals, len(values)))[numbers.ranks].clip(0, MOST_DIGITS)
    if values.dtype == np.int64:
        short = values - np.mod(values, 10 ** (decimals - kept.clip(0, decimals)))
    else:
        unit = np.array([float(f"1e{digits}") for digits in range(MOST_DIGITS + 1)])[kept]
        # From 2**53 on, all floats are whole numbers.
        short = np.where(np.abs(values) * unit < 2.0**53, np.floor(values * unit) / unit, values)
    # A number truncated below its predecessor would also break the ascending order.
    short[1:] = np.where(short[1:] > values[:-1], short[1:], values[1:])
    return RankedValues(short, numbers.ranks)


def _negative(spec: ColumnSpec, distinct: int, largest: int) -> np.ndarray:
    """Return a mask of the ranks below zero: the specified share, more if positive numbers run out."""
    negative = evenly(distinct) < spec.negative_share
    if spec.negative_share > 0:
        count = int(negative.sum())
        wanted = min(max(count, distinct - largest - 1), largest)
        negative[(~negative).nonzero()[0][: max(0, wanted - count)]] = True
        negative[negative.nonzero()[0][: max(0, count - wanted)]] = False
    return negative


def _signed(
    widths: np.ndarray,
    negative: np.ndarray,
    widest: int,
    values: Callable[[np.ndarray, int], np.ndarray],
    random: RandomWords,
) -> RankedValues:
    """Return numbers of both signs; `values` makes one sign's numbers from the count of each width."""
    import numpy as np

    # Sorting keys of sign, width and random bits, with the rank in the low bits, assigns ranks at random
    # within a width; unique keys give one order with any sorting algorithm.
    rank_bits = max(1, len(widths).bit_length())
    key = random.words(len(widths)) >> np.uint64(11 + rank_bits)
    key |= (negative * np.uint64(1024) + widths.astype(np.uint64)) << np.uint64(53 - rank_bits)
    key = (key << np.uint64(rank_bits)) | np.arange(len(widths), dtype=np.uint64)
    key.sort()
    ranks = (key & np.uint64(2**rank_bits - 1)).astype(np.int64)
    split = len(widths) - int(negative.sum())
    sizes = [np.bincount(widths[part], minlength=widest + 1) for part in (ranks[:split], ranks[split:])]
    below = -values(sizes[1], 0)[::-1]
    return RankedValues(
        np.concatenate([below, values(sizes[0], 1)]),
        np.concatenate([ranks[split:][::-1], ranks[:split]]),
    )


def _fitted(sizes: np.ndarray, rooms: np.ndarray) -> list[int]:
    """Return the counts of each width, moving the excess to larger, then smaller widths."""
    fitted, excess = sizes.tolist(), 0
    for indices in (range(len(fitted)), reversed(range(len(fitted)))):
        for i in indices:
            wanted = fitted[i] + excess
            fitted[i] = min(wanted, int(rooms[i]))
            excess = wanted - fitted[i]
    return fitted


def spaced(spec: ColumnSpec, first: int, room: int, count: int, random: RandomWords) -> np.ndarray:
    """Return `count` ascending numbers from `first` on, at equal distances or shifted by less than one.

    Parameters
    ----------
    spec : ColumnSpec
        Specification with the share of numbers at equal distances.
    first, room : int
        First number, and the size of the range from there.
    count : int
        Number of numbers, at most `room`.
    random : RandomWords
        Source of the shifts.
    """
    import numpy as np

    if not count:
        return np.empty(0, np.int64)
    step = room // count
    moved = (random.words(count) % np.uint64(step)).astype(np.int64)
    moved[evenly(count) < spec.regularity] = 0
    return first + step * np.arange(count, dtype=np.int64) + moved
