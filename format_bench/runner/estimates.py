"""Estimates of values on all rows from values on samples, with the bounds that decide who stays.

A time or a size is mostly a fixed part and a part for each row. Of two sample sizes, the line through
both values gives the two parts. Of one size nothing separates them: the value on all rows lies between
the value itself, if all of it is fixed, and its multiple, if all of it is for rows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from format_bench.results.metrics import METRICS, Noise
from format_bench.results.records import Record

# Metrics that are durations of measured calls, without those that others contain, as a durable save
# contains the plain one.
_CONTAINED = {each.at_least for each in METRICS.values()}
TIMES = {
    name
    for name, each in METRICS.items()
    if each.noise is Noise.WALL_TIME and each.unit == "seconds" and name not in _CONTAINED
}

# Factors by which a value on all rows may differ from its estimate: of a time or of memory, estimated
# from less than a tenth of the rows and from more, and of a size. docs/recommendation.md ("The race")
# has the experiment.
SMALL_SAMPLE_MARGIN, LARGE_SAMPLE_MARGIN, SIZE_MARGIN = 5.0, 2.5, 2.4
SMALL_SHARE = 0.1

# Factor by which the medians of two processes on the same rows may differ.
PROCESS_MARGIN = 1.15


def estimate(records: Iterable[Record], rows: int) -> Record:
    """Return the record of a cell on all rows: measured, or estimated from samples, with its bounds.

    The bounds are the record's interval. A cell without a value on its largest sample has none.

    Parameters
    ----------
    records : iterable of Record
        Records of one configuration and one measure, of different rows; at least one.
    rows : int
        All rows.
    """
    ordered = sorted(records, key=lambda each: each.rows)
    last = ordered[-1]
    noise = METRICS[last.metric].noise
    if last.value is None or noise is Noise.EXACT:
        return replace(last, rows=rows)
    if last.rows >= rows:
        return _measured(last, noise)
    # Noise only adds to a time, and few calls do not average it.
    measured = {each.rows: min(each.repeats) for each in ordered if each.repeats}
    margin = _margin(noise, last.rows / rows)
    value, low, high = _extrapolated(measured, rows, margin)
    sentence = f"estimated from {' and '.join(f'{each:,}' for each in measured)} rows"
    # Rounds would show how samples vary, not how far the estimate may be off.
    estimated = replace(last, rows=rows, value=value, interval=[low, high], round_sizes=[])
    return replace(estimated, sentence=sentence)


def seconds_of(cells: Iterable[Collection[Record]], rows: int) -> float:
    """Return the seconds of one call of each step on all rows; a step without a value takes none.

    Parameters
    ----------
    cells : iterable of collection of Record
        Records of one measure each, of one configuration, on different rows.
    rows : int
        All rows.
    """
    found = (estimate(each, rows).value for each in cells if next(iter(each)).metric in TIMES)
    return sum(value for value in found if value is not None)


def _margin(noise: Noise, share: float) -> float:
    if noise is Noise.SIZE:
        return SIZE_MARGIN
    return SMALL_SAMPLE_MARGIN if share < SMALL_SHARE else LARGE_SAMPLE_MARGIN


def _measured(record: Record, noise: Noise) -> Record:
    """Return a measured record, its interval at least as wide as processes differ."""
    value = record.value or 0.0
    if noise is Noise.SIZE:
        return replace(record, interval=[value, value], round_sizes=[])
    # The mean of independent processes is nearer to the truth by the square root of their number.
    margin = PROCESS_MARGIN ** (1 / math.sqrt(record.rounds))
    low, high = record.interval or (value, value)
    ends = [min(low, value / margin), max(high, value * margin)]
    return replace(record, interval=ends, round_sizes=[])


def _extrapolated(measured: Mapping[int, float], rows: int, margin: float) -> tuple[float, float, float]:
    """Return the estimate on all rows and its bounds.

    Of more than two samples, the largest is joined to each other one, and the least slope counts.
    """
    *before, (last_rows, last) = sorted(measured.items())
    missing = rows / last_rows
    if not before:
        return last * missing, last / margin, last * missing * margin
    slopes = [(last - value) / (last_rows - fewer) for fewer, value in before]
    # Noise may hide the part for rows behind the fixed one, never make it more than the whole.
    slope = min(max(0.0, min(slopes)), last / last_rows)
    value = last + slope * (rows - last_rows)
    return value, value / margin, value * margin
