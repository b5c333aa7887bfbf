"""Weights and requirements as a user gives them, on top of those of a preset."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from format_bench.recommendation import scope
from format_bench.recommendation.presets import BALANCED, PRESETS
from format_bench.recommendation.requirements import Requirement, answer
from format_bench.results.candidates import candidates_of, measures_of, tables_of
from format_bench.results.load import family_of

if TYPE_CHECKING:
    from format_bench.recommendation.presets import Preset
    from format_bench.recommendation.weights import Weights
    from format_bench.results.load import Results


class Purpose(NamedTuple):
    """What to recommend for."""

    weights: Weights
    requirements: tuple[Requirement, ...]
    remarks: list[str]
    """What of a preset was left out, and why."""


def combined(
    results: Results, weights: Weights, requirements: tuple[Requirement, ...], preset: str | None
) -> Purpose:
    """Return what a user wants of some results.

    Parameters
    ----------
    results : Results
        They decide what of the preset can be answered.
    weights : dict of Measure to float
        The user's own, each of which takes the place of the preset's; if there are none and no preset,
        `BALANCED` counts.
    requirements : tuple of Requirement
        The user's own.
    preset : str, optional
        One of `PRESETS`.

    Raises
    ------
    BadWeight
        If the results have no values of what the user weighs.
    """
    if preset is None and weights:
        return Purpose(weights, requirements, [])
    counting = {measure: weight for measure, weight in weights.items() if weight}
    base = applied(PRESETS.get(preset or "", BALANCED), scope.one_family(results, counting))
    return Purpose(base.weights | weights, (*base.requirements, *requirements), base.remarks)


def applied(preset: Preset, results: Results) -> Purpose:
    """Return what of a preset the results, of one family, can answer.

    A preset is made for all families and all runs: a metric that these results lack, or a condition
    of which they know nothing for any format, is left out.
    """
    candidates = candidates_of(results.records)
    measured, tables = measures_of(candidates), tables_of(candidates)
    family = family_of(results.records[0])
    remarks = [
        f"{measure} does not count: these results have no values of it"
        for measure in preset.weights
        if measure not in measured
    ]
    kept = []
    for requirement in preset.required:
        answers = [answer(requirement, each, family, tables) for each in candidates]
        if any(each.met is not None for each in answers):
            kept.append(requirement)
        else:
            remarks.append(f"{requirement} is not required: {answers[0].sentence}")
    weights = {each: weight for each, weight in preset.weights.items() if each in measured}
    return Purpose(weights, tuple(kept), remarks)
