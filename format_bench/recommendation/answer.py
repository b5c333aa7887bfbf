"""Recommendation: ranked candidates, excluded ones with reasons, and the changes that would matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adapter_core.errors import NoCandidateError
from format_bench.recommendation.requirements import Requirement, answer
from format_bench.recommendation.transfer import NO_TRANSFER, Speeds

if TYPE_CHECKING:
    from format_bench.recommendation.scoring import Weights
    from format_bench.recommendation.sensitivity import BreakEven, WeightChange
    from format_bench.results.candidates import Candidate, DatasetSize
    from format_bench.results.metrics import Measure


@dataclass(frozen=True)
class Ranked:
    """A candidate that meets all requirements."""

    candidate: Candidate
    score: float
    """Factor to the best of everything; 1 is the best possible."""
    band: tuple[float, float]
    """The lowest and the highest score that noise allows."""
    logs: dict[Measure, float]
    """Logarithms of the factors that make up the score."""
    ratios: dict[Measure, float | None]
    """Ratios to the best value, as geometric means over data sets; None if the best is 0."""
    places: tuple[int, int]
    """The best and the worst place that noise allows."""
    ties: bool
    """Whether noise may put it beside, or before, the first one."""
    on_front: bool
    """Whether it is on the Pareto front: no other one is better in a measure and nowhere worse."""


@dataclass(frozen=True)
class Excluded:
    """A candidate that cannot be chosen."""

    candidate: Candidate
    reasons: dict[Requirement, str]
    """A sentence for each requirement that is not met, or not known to be."""
    empty: str
    """The reason why there is no score; empty if there is one."""
    score: float | None


@dataclass(frozen=True)
class Recommendation:
    """The first candidate, and everything that supports it."""

    results: str
    """Name of the results."""
    suite: str
    """The suite that the candidates are from, e.g. "tabular"."""
    datasets: list[DatasetSize]
    weights: Weights
    requirements: tuple[Requirement, ...]
    noise: str
    """Source of the bands: "floors", "intervals", or "unknown"."""
    ranked: list[Ranked]
    """Best first; at least one."""
    excluded: list[Excluded]
    change: WeightChange | None
    break_evens: list[BreakEven]
    remote_break_evens: list[BreakEven]
    """Of the first one with each other one on the Pareto front."""
    caveats: list[str] = field(default_factory=list)
    speeds: Speeds = NO_TRANSFER
    """Transfers that read and save times include."""

    @property
    def first(self) -> Ranked:
        """The candidate to use."""
        return self.ranked[0]

    @property
    def ties(self) -> list[Ranked]:
        """The candidates that noise may put beside the first one."""
        return [each for each in self.ranked[1:] if each.ties]

    @property
    def better_but_excluded(self) -> list[Excluded]:
        """The candidates that would be first without requirements, best first."""
        better = [
            each for each in self.excluded if each.score is not None and each.score < self.first.score
        ]
        return sorted(better, key=lambda each: each.score or 0.0)


def excluded_of(
    candidates: list[Candidate],
    requirements: tuple[Requirement, ...],
    suite: str,
    datasets: dict[Measure, list[DatasetSize]],
) -> list[Excluded]:
    """Return the candidates that do not meet a requirement or lack a value, yet without scores.

    Parameters
    ----------
    candidates : list of Candidate
        Of one suite.
    requirements : tuple of Requirement
        All must be met, and known to be.
    suite : str
        Name of the suite.
    datasets : dict
        The data sets on which a candidate must have a value, by measure.

    Raises
    ------
    NoCandidateError
        If all candidates are excluded; the message contains the reasons with their numbers.
    """
    every = list(dict.fromkeys(dataset for those in datasets.values() for dataset in those))
    found = []
    for candidate in candidates:
        answers = {each: answer(each, candidate, suite, every) for each in requirements}
        reasons = {each: found.sentence for each, found in answers.items() if not found.met}
        empty = _first_empty(candidate, datasets)
        if reasons or empty:
            found.append(Excluded(candidate, reasons, empty, score=None))
    if len(found) == len(candidates):
        raise NoCandidateError(_message(found))
    return found


def _first_empty(candidate: Candidate, datasets: dict[Measure, list[DatasetSize]]) -> str:
    for measure, those in datasets.items():
        for dataset in those:
            if candidate.value(dataset, measure) is None:
                return candidate.empty_reason(dataset, measure)
    return ""


def _message(excluded: list[Excluded]) -> str:
    by_name: dict[str, list[str]] = {}
    for each in excluded:
        for requirement, sentence in each.reasons.items():
            by_name.setdefault(str(requirement), []).append(sentence)
        if each.empty:
            by_name.setdefault("a missing value", []).append(each.empty)
    parts = [f"{name} excludes {len(sentences)} ({sentences[0]})" for name, sentences in by_name.items()]
    return f"none of {len(excluded)} can be chosen: {'; '.join(parts)}"
