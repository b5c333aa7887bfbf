"""How little a weight would have to change for another candidate to come first.

At what speed of a link or a disk a smaller candidate that reads more slowly gets even.

To fetch and then read takes size / speed + read time. Two candidates take the same time at the speed
(larger size - smaller size) / (longer read time - shorter read time); below it the smaller one is
sooner there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from format_bench.results.candidates import Candidate, DatasetSize, datasets_of
from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from format_bench.recommendation.scoring import Weights


class Change(NamedTuple):
    """The smallest change of one weight that changes the answer."""

    measure: Measure
    weight: float
    """Where the two tie; beyond it the other one is first."""
    name: str
    """Of the candidate that would be first."""


def smallest_change(
    first: Mapping[Measure, float], others: Mapping[str, Mapping[Measure, float]], weights: Weights
) -> Change | None:
    """Return the smallest change, or None if no change of one weight alone would do.

    The logarithm of a score times the sum of the weights is linear in each weight w: where two
    candidates are s apart in it, and d apart in one measure, they tie at the weight w - s / d.

    Parameters
    ----------
    first : mapping
        Logarithms of the factors of the candidate that is first, by measure.
    others : mapping
        The same of each other candidate, by name.
    weights : Weights
        Positive weights.
    """
    changes = []
    for name, logs in others.items():
        differences = {measure: logs[measure] - first[measure] for measure in weights}
        total = sum(weights[measure] * each for measure, each in differences.items())
        for measure, difference in differences.items():
            if difference == 0:
                continue
            tie = weights[measure] - total / difference
            # No weight is below zero, and none leads to where the other would have to be first.
            if tie > 0:
                changes.append(Change(measure, tie, name))
    return min(changes, key=lambda each: abs(each.weight - weights[each.measure]), default=None)


SIZE, READ_TIME = Measure("size"), Measure("read time")


class BreakEven(NamedTuple):
    """How two candidates share the speeds of links."""

    smaller: str
    """The name of the one that is sooner there below that speed, or at any."""
    other: str
    bytes_per_second: float | None
    """None if the smaller one also reads no more slowly, and so is sooner there at any speed."""


def between(one: Candidate, other: Candidate) -> BreakEven | None:
    """Return the break-even of two candidates, each to fetch and read all tables once.

    None if on no table size and read time of both are known, or if nothing tells the two apart.
    """
    tables = [
        table for table in datasets_of([one, other]) if _known(one, table) and _known(other, table)
    ]
    if not tables:
        return None
    loads = [
        (_total(each, SIZE, tables), _total(each, READ_TIME, tables), each.name) for each in (one, other)
    ]
    (size, seconds, name), (larger, others_seconds, other_name) = sorted(loads)
    if (size, seconds) == (larger, others_seconds):
        return None
    slower_seconds = seconds - others_seconds
    speed = (larger - size) / slower_seconds if slower_seconds > 0 else None
    return BreakEven(name, other_name, speed)


def _known(candidate: Candidate, table: DatasetSize) -> bool:
    return None not in (candidate.value(table, SIZE), candidate.value(table, READ_TIME))


def _total(candidate: Candidate, measure: Measure, tables: list[DatasetSize]) -> float:
    return sum(candidate.value(table, measure) or 0.0 for table in tables)
