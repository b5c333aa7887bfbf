"""The answer: who was chosen from, in which order, who was not, and what would change it.

Who cannot be chosen, and why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adapter_core.errors import NoCandidateError
from format_bench.recommendation.requirements import Requirement, answer

if TYPE_CHECKING:
    from format_bench.recommendation.scoring import Scoring, Weights
    from format_bench.recommendation.sensitivity import BreakEven, Change
    from format_bench.results.candidates import Candidate, DatasetSize
    from format_bench.results.metrics import Measure


@dataclass(frozen=True)
class Ranked:
    """A candidate that meets all requirements."""

    candidate: Candidate
    score: float
    """By what factor it is worse than the best of everything; 1 is the best there can be."""
    band: tuple[float, float]
    """Between which scores noise may put it."""
    logs: dict[Measure, float]
    """Logarithms of the factors that make up the score."""
    ratios: dict[Measure, float | None]
    """How many times the best value its values are, the geometric mean over tables; None if the best
    is 0."""
    places: tuple[int, int]
    """The best and the worst place that noise allows."""
    ties: bool
    """Whether noise may put it beside, or before, the first one."""
    on_front: bool
    """Whether no other one is better in a measure and nowhere worse."""


@dataclass(frozen=True)
class Excluded:
    """A candidate that cannot be chosen."""

    candidate: Candidate
    reasons: dict[Requirement, str]
    """A sentence for each requirement that it does not meet, or is not known to."""
    empty: str
    """Why it has no score; empty if it has one."""
    score: float | None


@dataclass(frozen=True)
class Recommendation:
    """Who comes first, and all that it rests on."""

    results: str
    """Name of the results."""
    family: str
    """"tabular", "compression" or "image"."""
    tables: list[DatasetSize]
    weights: Weights
    requirements: tuple[Requirement, ...]
    noise: str
    """Where bands come from: "floors", "intervals", or "unknown"."""
    ranked: list[Ranked]
    """Best first; at least one."""
    excluded: list[Excluded]
    change: Change | None
    break_evens: list[BreakEven]
    """Of the first one with each other one on the Pareto front."""
    remarks: list[str] = field(default_factory=list)
    """What else a reader must know."""

    @property
    def first(self) -> Ranked:
        """The candidate to use."""
        return self.ranked[0]

    @property
    def ties(self) -> list[Ranked]:
        """Those that noise may put beside the first one."""
        return [each for each in self.ranked[1:] if each.ties]

    @property
    def better_but_excluded(self) -> list[Excluded]:
        """Those that requirements alone keep from being first, best first."""
        kept_back = [
            each for each in self.excluded if each.score is not None and each.score < self.first.score
        ]
        return sorted(kept_back, key=lambda each: each.score or 0.0)


def excluded_of(
    candidates: list[Candidate],
    requirements: tuple[Requirement, ...],
    family: str,
    tables: dict[Measure, list[DatasetSize]],
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
    NoCandidateError
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
        raise NoCandidateError(_message(found))
    return found


def with_score(excluded: Excluded, scoring: Scoring) -> Excluded:
    """Return the same with its score, on the scale of those that can be chosen."""
    return excluded if excluded.empty else replace(excluded, score=scoring.score(excluded.candidate))


def _first_empty(candidate: Candidate, tables: dict[Measure, list[DatasetSize]]) -> str:
    for measure, those in tables.items():
        for table in those:
            if candidate.value(table, measure) is None:
                return candidate.empty_reason(table, measure)
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
