"""From results, weights and requirements to a recommendation.

What a reader of a recommendation must know besides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from format_bench.display.units import quantity
from format_bench.recommendation import scope
from format_bench.recommendation import scoring as noise
from format_bench.recommendation.answer import Ranked, Recommendation, excluded_of, with_score
from format_bench.recommendation.scope import families
from format_bench.recommendation.scoring import Scoring, Weights, checked, on_front, shift_of
from format_bench.recommendation.sensitivity import between, smallest_change
from format_bench.results.candidates import Candidate, DatasetSize, candidates_of, datasets_of
from format_bench.results.load import Results, suite_of

if TYPE_CHECKING:
    from format_bench.recommendation.requirements import Requirement
    from format_bench.results.metrics import Measure
    from format_bench.results.noise_floor import Floors
    from format_bench.results.records import Record


def about(results: Results, scoped: Results, scoring: Scoring, noise: str) -> list[str]:
    """Return sentences on what limits an answer.

    Parameters
    ----------
    results, scoped : Results
        All of them, and those that the answer is from.
    scoring : Scoring
        What scores were relative to.
    noise : str
        "floors", "intervals" or "unknown".
    """
    found = []
    for measure, best in scoring.best.items():
        shift = shift_of(measure)
        if measure.unit == "seconds" and max(best) < shift:
            found.append(
                f"the best {measure.phrase} is below {quantity(shift, 'seconds')} on every table, where "
                "differences hardly count; measure more rows if yours are more"
            )
    if noise == "unknown":
        found.append("ties cannot be told: times of one sample do not show how they vary")
    return found + _left_out(results, scoped)


def _left_out(results: Results, scoped: Results) -> list[str]:
    others = [each for each in families(results) if each not in families(scoped)]
    if not others:
        return []
    names = dict.fromkeys(each.dataset for each in results.records if suite_of(each) in others)
    said = f"the results of {' and '.join(others)} are left out; --dataset takes them in, with one of "
    return [said + ", ".join(names)]


def recommend(
    results: Results, weights: Weights, requirements: Iterable[Requirement] = ()
) -> Recommendation:
    """Rank what results let one choose from.

    Parameters
    ----------
    results : Results
        All data sets in them count alike. Of results of several families the first counts in which
        everything that has a weight was measured.
    weights : dict of Measure to float
        How much each measure counts; only proportions matter.
    requirements : iterable of Requirement
        What a candidate must meet.

    Raises
    ------
    InvalidWeightError
        If a weight cannot be used, or the results have no values of what it weighs.
    NoCandidateError
        If no candidate can be chosen.
    """
    counting = checked(weights)
    scoped = scope.one_family(results, counting)
    family = suite_of(scoped.records[0])
    candidates = candidates_of(scoped.records)
    tables = {measure: _measured_on(measure, candidates) for measure in counting}
    wanted = tuple(dict.fromkeys(requirements))
    excluded = excluded_of(candidates, wanted, family, tables)
    out = {each.candidate.configuration for each in excluded}
    left = [each for each in candidates if each.configuration not in out]
    scoring = Scoring.of(left, counting, tables)
    ranked = _ranked(left, scoring, scoped.floors)
    first, others = ranked[0], ranked[1:]
    known = noise.source(_cells(left, tables), scoped.floors)
    break_evens = [between(first.candidate, each.candidate) for each in others if each.on_front]
    return Recommendation(
        results=results.name,
        family=family,
        tables=list(dict.fromkeys(table for those in tables.values() for table in those)),
        weights=counting,
        requirements=wanted,
        noise=known,
        ranked=ranked,
        excluded=[with_score(each, scoring) for each in excluded],
        change=smallest_change(
            first.logs, {each.candidate.name: each.logs for each in others}, counting
        ),
        break_evens=[each for each in break_evens if each],
        remarks=about(results, scoped, scoring, known),
    )


def _measured_on(measure: Measure, candidates: list[Candidate]) -> list[DatasetSize]:
    """Return the tables on which any candidate has a value."""
    return [
        table
        for table in datasets_of(candidates)
        if any(each.value(table, measure) is not None for each in candidates)
    ]


def _cells(candidates: list[Candidate], tables: dict[Measure, list[DatasetSize]]) -> list[Record]:
    wanted = [(table, measure) for measure, those in tables.items() for table in those]
    return [each.cells[cell] for each in candidates for cell in wanted]


def _ranked(candidates: list[Candidate], scoring: Scoring, floors: Floors | None) -> list[Ranked]:
    logs = [scoring.logs(each) for each in candidates]
    scored = zip(candidates, logs, on_front(logs), strict=True)
    in_order = sorted(scored, key=lambda each: (scoring.score(each[0]), each[0].name))
    bands = [scoring.band(candidate, floors) for candidate, _, _ in in_order]
    return [
        Ranked(
            candidate=candidate,
            score=scoring.score(candidate),
            band=band,
            logs=factors,
            ratios=scoring.ratios(candidate),
            places=noise.places(band, bands),
            ties=band[0] <= bands[0][1],
            on_front=front,
        )
        for (candidate, factors, front), band in zip(in_order, bands, strict=True)
    ]
