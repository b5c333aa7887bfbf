"""A recommendation as JSON can hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from format_bench.recommendation import words

if TYPE_CHECKING:
    from format_bench.recommendation.answer import Excluded, Ranked, Recommendation
    from format_bench.results.candidates import Candidate


def document(answer: Recommendation) -> dict[str, Any]:
    """Return all of an answer; numbers are as measured, in the units of `METRICS`, and not rounded."""
    change = answer.change
    return {
        "results": answer.results,
        "family": answer.family,
        "tables": [table._asdict() for table in answer.tables],
        "weights": {measure.option: weight for measure, weight in answer.weights.items()},
        "requirements": list(answer.requirements),
        "noise": answer.noise,
        "use": answer.first.candidate.name,
        "explanation": words.paragraph(answer),
        "ranked": [_ranked(each, answer) for each in answer.ranked],
        "excluded": [_excluded(each) for each in answer.excluded],
        "change": change
        and {"metric": change.measure.option, "weight": change.weight, "first": change.name},
        "break_evens": [each._asdict() for each in answer.break_evens],
        "remarks": answer.remarks,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {"name": candidate.name, **candidate.choice._asdict()}


def _ranked(ranked: Ranked, answer: Recommendation) -> dict[str, Any]:
    candidate = ranked.candidate
    return {
        **_candidate(candidate),
        "score": ranked.score,
        "score_band": list(ranked.band),
        "places": list(ranked.places),
        "ties_with_first": ranked.ties,
        "on_pareto_front": ranked.on_front,
        "times_best": {measure.option: ratio for measure, ratio in ranked.ratios.items()},
        "values": [
            {
                "dataset": table.dataset,
                "rows": table.rows,
                "metric": measure.option,
                "unit": measure.unit,
                "value": candidate.value(table, measure),
            }
            for table in answer.tables
            for measure in answer.weights
        ],
    }


def _excluded(excluded: Excluded) -> dict[str, Any]:
    return {
        **_candidate(excluded.candidate),
        "score": excluded.score,
        "reasons": [
            {"requirement": requirement, "sentence": sentence}
            for requirement, sentence in excluded.reasons.items()
        ],
        "missing_value": excluded.empty or None,
    }
