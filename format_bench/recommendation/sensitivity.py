"""Sensitivity of a recommendation: the smallest change of a weight, and break-even speeds.

To fetch and then read takes size / speed + read time, as in `format_bench.recommendation.scoring`. Two
candidates take the same time at the speed (larger size - smaller size) / (longer read time - shorter
read time); below it the smaller one arrives first.

To read a file on a server takes fetched bytes / speed + read time + round trips * round-trip time, with
bytes and round trips as the study of links has counted them: see `LinkCosts`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from format_bench.recommendation.scoring import READ_TIME, SIZE, Weights
from format_bench.results.candidates import Candidate, DatasetSize, datasets_of
from format_bench.results.metrics import Measure
from format_bench.results.shipped import LinkCosts


class WeightChange(NamedTuple):
    """The smallest change of one weight that puts another candidate first."""

    measure: Measure
    weight: float
    """The weight at which both tie."""
    name: str
    """Name of the candidate that would be first."""


def smallest_change(
    first: Mapping[Measure, float], others: Mapping[str, Mapping[Measure, float]], weights: Weights
) -> WeightChange | None:
    """Return the smallest change, or None if no change of one weight alone suffices.

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
            # Weights are positive, so a tie elsewhere is out of reach.
            if tie > 0:
                changes.append(WeightChange(measure, tie, name))
    return min(changes, key=lambda each: abs(each.weight - weights[each.measure]), default=None)


def smallest_change_for(
    name: str, logs: Mapping[str, Mapping[Measure, float]], weights: Weights
) -> WeightChange | None:
    """Return the smallest change that puts one candidate before all others, or None if there is none.

    In each weight the scores are lines, see `smallest_change`: the candidate is first on an interval.

    Parameters
    ----------
    name : str
        Name of the candidate, which is not first.
    logs : mapping
        Logarithms of the factors of all candidates, by name and measure.
    weights : Weights
        Positive weights.
    """
    own, changes = logs[name], []
    for measure, weight in weights.items():
        low, high = 0.0, math.inf
        for other, theirs in logs.items():
            if other == name:
                continue
            slope = own[measure] - theirs[measure]
            apart = sum(weights[each] * (own[each] - theirs[each]) for each in weights)
            if slope > 0:
                high = min(high, weight - apart / slope)
            elif slope < 0:
                low = max(low, weight - apart / slope)
            elif apart > 0:
                high = 0.0
        if low < high:
            changes.append(WeightChange(measure, low if weight <= low else high, name))
    return min(changes, key=lambda each: abs(each.weight - weights[each.measure]), default=None)


# Round-trip time of break-evens on servers: as on a link between two cities.
ROUND_TRIP_SECONDS = 0.02


class BreakEven(NamedTuple):
    """The speed at which two candidates take the same time to be fetched and read."""

    smaller: str
    """Name of the candidate that is faster below that speed, or at any speed: it fetches fewer bytes."""
    other: str
    bytes_per_second: float | None
    """None if the smaller one also takes no more other time, and so is faster at any speed."""
    round_trips: dict[str, float] | None = None
    """On a server: round trips of both that are waited for, by name, each data set read once."""


def break_even_of(
    one: Candidate, other: Candidate, costs: Mapping[str, LinkCosts] | None = None
) -> BreakEven | None:
    """Return the break-even of two candidates, each to fetch and read all data sets once.

    None if no data set has size and read time of both, if both are equal, or if one has no costs.

    Parameters
    ----------
    one, other : Candidate
        Candidates; with costs, of a suite of tables.
    costs : mapping, optional
        Costs of whole reads on a server by format, which then count.
    """
    datasets = [
        each for each in datasets_of([one, other]) if _has_both(one, each) and _has_both(other, each)
    ]
    if not datasets:
        return None
    totals, round_trips = [], {}
    for each in (one, other):
        size, seconds = (_total(each, measure, datasets) for measure in (SIZE, READ_TIME))
        if costs is not None:
            if (cost := costs.get(each.configuration.format)) is None:
                return None
            round_trips[each.name] = cost.round_trips * len(datasets)
            size *= cost.share
            seconds += round_trips[each.name] * ROUND_TRIP_SECONDS
        totals.append((size, seconds, each.name))
    (size, seconds, name), (larger, others_seconds, other_name) = sorted(totals)
    if (size, seconds) == (larger, others_seconds):
        return None
    slower_seconds = seconds - others_seconds
    speed = (larger - size) / slower_seconds if slower_seconds > 0 else None
    return BreakEven(name, other_name, speed, round_trips or None)


def _has_both(candidate: Candidate, dataset: DatasetSize) -> bool:
    return None not in (candidate.value(dataset, SIZE), candidate.value(dataset, READ_TIME))


def _total(candidate: Candidate, measure: Measure, datasets: list[DatasetSize]) -> float:
    return sum(candidate.value(dataset, measure) or 0.0 for dataset in datasets)
