"""Description of distinct numbers and times by their digits, distances and signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from data_generator.profiling.width_profile import bucket_means, profile_widths
from data_generator.realistic.numbers import SIGNIFICAND_BITS
from data_generator.realistic.values import DIGITS_OF_FLOATS
from data_generator.spec.spec import share, significant

if TYPE_CHECKING:
    import numpy as np


# Largest number of digits after the point of a short decimal number; other floats have all digits.
MOST_DECIMALS = 9

# Enough to reject a number of digits, as a rule, without computing with all values.
FIRST_VALUES = 1_000

# Steps that people and instruments choose; a common divisor of 7 in a sample is chance.
ROUND_FACTORS = (1, 2, 5)
# A minute, an hour, a day.
SECONDS_PER_UNIT = (60, 3_600, 86_400)

# Tolerated mean number of trailing zeros: random digits have 0.11 of them.
CHANCE_ZEROS = 0.2

# Fewest digits after the point of an arbitrary float below 1; such floats are printed with 15 to 17.
MOST_PRINTED = 14

# Share of floats that may be without a significant bit before it counts as used.
USED_BY = 0.99


def integers(values: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """Return the properties of distinct whole numbers, ascending, shape (distinct,)."""
    granularity = _round_divisor(_common_divisor(values), ROUND_FACTORS)
    return {
        "granularity": granularity,
        "regularity": regularity(values),
        "negative_share": _negative_share(values, counts),
        **profile_widths(digits(values // granularity), counts),
    }


def floats(values: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """Return the properties of distinct floats, ascending, shape (distinct,)."""
    import numpy as np

    finite = np.isfinite(values)
    values, counts = values[finite], counts[finite]
    if not len(values):
        return {}
    places = _decimal_places(values)
    if places is not None:
        return {"decimals": places, **decimals(values.astype(np.float64), places, counts)}
    whole_digits = np.floor(np.log10(np.abs(np.where(values == 0, 1, values)))).astype(np.int64) + 1
    return {
        "significant_bits": _significant_bits(values.astype(np.float64)),
        "negative_share": _negative_share(values, counts),
        **_short(_printed_decimals(values), MOST_PRINTED - max(0, int(np.median(whole_digits))), counts),
        **profile_widths(whole_digits, counts),
    }


def decimals(values: np.ndarray, places: int, counts: np.ndarray) -> dict[str, Any]:
    """Return the properties of distinct float64 numbers with `places` digits after the point."""
    import numpy as np

    scaled = np.rint(values * 10**places).astype(np.int64)
    needed = np.full(len(scaled), places)
    for zeros in range(1, places + 1):
        needed -= scaled % 10**zeros == 0
    return {
        "regularity": regularity(scaled),
        "negative_share": _negative_share(values, counts),
        **_short(needed, places - CHANCE_ZEROS, counts),
        **profile_widths(digits(scaled), counts),
    }


def _short(needed: np.ndarray, usual: float, counts: np.ndarray) -> dict[str, Any]:
    """Return `rank_decimals` if any rank has fewer digits after the point than usual."""
    import numpy as np

    by_rank, _ = bucket_means(needed[np.argsort(-counts, kind="stable")])
    short = by_rank.min() < usual
    return {"rank_decimals": tuple(significant(mean) for mean in by_rank.tolist())} if short else {}


def _printed_decimals(values: np.ndarray) -> np.ndarray:
    """Return the digits after the point in the shortest text of each float, shape (distinct,)."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array(values).cast(pa.large_string())
    point = np.asarray(pc.find_substring(texts, "."))
    return np.asarray(pc.utf8_length(texts)) - np.where(point < 0, 0, point + 1)


def times(values: np.ndarray, units_per_day: int) -> dict[str, Any]:
    """Return the properties of distinct times, ascending, as multiples of a unit of time."""
    import numpy as np

    second = units_per_day // 86_400
    units = tuple(part * second for part in SECONDS_PER_UNIT) if second else ()
    granularity = _round_divisor(_common_divisor(np.diff(values)), (1, *units))
    granules = (int(values[-1]) - int(values[0])) // granularity + 1 if len(values) else 1
    return {
        "granularity": granularity,
        "regularity": regularity(values),
        "width": significant(float(np.log10(granules))),
    }


def _negative_share(values: np.ndarray, counts: np.ndarray) -> float:
    return share(int(counts[values < 0].sum()) / int(counts.sum()))


def digits(values: np.ndarray) -> np.ndarray:
    """Return the number of decimal digits of whole numbers without their sign, shape (distinct,)."""
    import numpy as np

    limits = 10 ** np.arange(1, 19, dtype=np.int64)
    return np.searchsorted(limits, np.abs(values), side="right") + 1


def regularity(values: np.ndarray) -> float:
    """Return the share of the most frequent distance between ascending numbers; 0 if none repeats."""
    import numpy as np

    _, counts = np.unique(np.diff(values), return_counts=True)
    if len(counts) == 0:
        return 0.0
    return share(float(counts.max() / counts.sum())) if counts.max() > 1 else 0.0


def _common_divisor(values: np.ndarray) -> int:
    import numpy as np

    return int(np.gcd.reduce(values)) if len(values) else 1


def _round_divisor(divisor: int, units: tuple[int, ...]) -> int:
    """Return the largest product of a unit and a power of ten that divides a number."""
    candidates = [unit * 10**zeros for unit in units for zeros in range(19)]
    return max((each for each in candidates if divisor and divisor % each == 0), default=1)


def _decimal_places(values: np.ndarray) -> int | None:
    """Return the digits after the point of floats; None if they are not short decimal numbers."""
    import numpy as np

    exact = values.astype(np.float64)
    largest = float(np.abs(exact).max(initial=0))
    for decimals in range(MOST_DECIMALS + 1):
        if largest * 10**decimals >= 10**DIGITS_OF_FLOATS:
            return None
        # The first values nearly always contain one that has more digits.
        for count in (FIRST_VALUES, len(values)):
            near = np.rint(exact[:count] * 10**decimals) / 10**decimals
            if not (near.astype(values.dtype) == values[:count]).all():
                break
        else:
            return decimals
    return None


def _significant_bits(values: np.ndarray) -> int:
    """Return the number of bits of the significand that suffice for nearly all floats."""
    import numpy as np

    raw = values.view(np.uint64) & np.uint64(2 ** (SIGNIFICAND_BITS - 1) - 1)
    lowest = raw & (~raw + np.uint64(1))  # the lowest bit that is set
    zeros = np.where(raw == 0, SIGNIFICAND_BITS - 1, np.log2(np.maximum(lowest, 1)).astype(np.int64))
    return SIGNIFICAND_BITS - int(np.quantile(zeros, 1 - USED_BY))
