"""How little a weight would have to change for another candidate to come first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from format_bench.recommendation.weights import Weights
    from format_bench.results.metrics import Measure


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
