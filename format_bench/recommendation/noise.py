"""Between which values a cell would lie if it were measured again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from format_bench.results.noise_floor import Floors
    from format_bench.results.records import Record


def band_of(record: Record, floors: Floors | None) -> tuple[float, float]:
    """Return the lower and the upper end of what noise allows for a cell with a value.

    If the noise floors of the machine are known, the bands of two values touch exactly where their
    difference is the floor; else the band is the interval of the median, or nothing but the value.
    """
    value = record.value or 0.0
    if floors:
        half = math.sqrt(1 + floors.of(record.metric, record.unit))
        return value / half, value * half
    low, high = record.interval or (value, value)
    return low, high


def places(band: tuple[float, float], bands: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """Return the best and the worst place that a band allows among all, itself included."""
    before = sum(high < band[0] for _, high in bands)
    behind = sum(low > band[1] for low, _ in bands)
    return 1 + before, len(bands) - behind


def source(records: Iterable[Record], floors: Floors | None) -> str:
    """Return what is known of noise: "floors", "intervals", or "unknown" where times stand alone."""
    if floors:
        return "floors"
    timed = [each for each in records if each.unit == "seconds"]
    return "unknown" if any(each.interval is None for each in timed) else "intervals"
