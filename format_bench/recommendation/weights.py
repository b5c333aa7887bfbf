"""How much each measure counts, as a user says it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from adapter_core.errors import FormatBenchError
from format_bench.results.metrics import Measure

Weights = dict[Measure, float]
"""Only their proportions matter."""


class BadWeight(FormatBenchError, ValueError):
    """A weight that cannot be used; the message names it."""


def parsed(texts: Iterable[str]) -> Weights:
    """Return the weights that are written as "read_time=3".

    Raises
    ------
    BadWeight
        If one is not written so, is no number from 0 on, or is said twice.
    UnknownName
        If there is no such metric.
    """
    weights: Weights = {}
    for text in texts:
        name, equals, number = text.partition("=")
        if not equals:
            raise BadWeight(f"--weight {text}: a metric and its weight are wanted, as in read_time=3")
        measure = Measure.named(name.strip())
        if measure in weights:
            raise BadWeight(f"--weight {text}: {measure} has a weight already, {weights[measure]:g}")
        weights[measure] = _number(number, text)
    return weights


def checked(weights: Weights) -> Weights:
    """Return the weights that count, which are those above 0.

    Raises
    ------
    BadWeight
        If one is no finite number from 0 on, or none counts.
    """
    for measure, weight in weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            raise BadWeight(f"the weight of {measure} is {weight:g}; it must be a number from 0 on")
    counting = {measure: weight for measure, weight in weights.items() if weight > 0}
    if not counting:
        raise BadWeight("no metric has a weight above 0, so there is nothing to choose by")
    return counting


def _number(text: str, option: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise BadWeight(f"--weight {option}: {text.strip() or 'nothing'} is not a number from 0 on")
    return number
