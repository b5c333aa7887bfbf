"""Who cannot be chosen, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adapter_core.errors import FormatBenchError
from format_bench.recommendation.answer import Excluded
from format_bench.recommendation.requirements import Requirement, answer

if TYPE_CHECKING:
    from format_bench.recommendation.scores import Scoring
    from format_bench.results.candidates import Candidate, Table
    from format_bench.results.metrics import Measure


class NothingLeft(FormatBenchError):
    """No candidate can be chosen; the message says what excludes how many."""


def excluded_of(
    candidates: list[Candidate],
    requirements: tuple[Requirement, ...],
    family: str,
    tables: dict[Measure, list[Table]],
) -> list[Excluded]:
    """Return those that do not meet a requirement or lack a value, yet without scores.

    Parameters
    ----------
    candidates : list of Candidate
        Of one family.
    requirements : tuple of Requirement
        All must be met, and known to be.
    family : str
        "tabular", "compression" or "image".
    tables : dict
        On which tables a candidate must have a value, by measure.

    Raises
    ------
    NothingLeft
        If that is all of them.
    """
    every = list(dict.fromkeys(table for those in tables.values() for table in those))
    found = []
    for candidate in candidates:
        answers = {each: answer(each, candidate, family, every) for each in requirements}
        reasons = {each: said.sentence for each, said in answers.items() if not said.met}
        empty = _first_empty(candidate, tables)
        if reasons or empty:
            found.append(Excluded(candidate, reasons, empty, score=None))
    if len(found) == len(candidates):
        raise NothingLeft(_message(found))
    return found


def with_score(excluded: Excluded, scoring: Scoring) -> Excluded:
    """Return the same with its score, on the scale of those that can be chosen."""
    return excluded if excluded.empty else replace(excluded, score=scoring.score(excluded.candidate))


def _first_empty(candidate: Candidate, tables: dict[Measure, list[Table]]) -> str:
    for measure, those in tables.items():
        for table in those:
            if candidate.value(table, measure) is None:
                return candidate.why_empty(table, measure)
    return ""


def _message(excluded: list[Excluded]) -> str:
    counts: dict[str, list[str]] = {}
    for each in excluded:
        for requirement, sentence in each.reasons.items():
            counts.setdefault(str(requirement), []).append(sentence)
        if each.empty:
            counts.setdefault("a missing value", []).append(each.empty)
    parts = [f"{name} excludes {len(said)} ({said[0]})" for name, said in counts.items()]
    return f"none of {len(excluded)} can be chosen: {'; '.join(parts)}"
