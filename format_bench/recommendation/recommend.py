"""Recommendation: ranked candidates, excluded ones with reasons, and changes that would matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from adapter_core.errors import NoCandidateError
from format_bench.recommendation import formulas
from format_bench.recommendation.requirements import Required, answer
from format_bench.recommendation.scope import (
    OwnFile,
    Scope,
    condition_sentences,
    one_suite,
    queries_left_out,
    smaller_sizes,
    suites_in,
)
from format_bench.recommendation.scoring import (
    ESTIMATES,
    NO_TRANSFER,
    PREDICTIONS,
    READ_TIME,
    SAVE_TIME,
    SIZE,
    Bands,
    Scoring,
    Speeds,
    Weights,
    checked,
    noise_source,
    shift_of,
)
from format_bench.recommendation.sensitivity import (
    BreakEven,
    WeightChange,
    break_even_of,
    smallest_change,
)
from format_bench.results import shipped
from format_bench.results.candidates import Candidate, Configuration, DatasetSize
from format_bench.results.display.text import quantity
from format_bench.results.disturbance import FEWEST_CANDIDATES, WIDE_BAND, Disturbance
from format_bench.results.load import Results, suite_of
from format_bench.results.marks import pareto_front
from format_bench.results.metrics import Measure
from format_bench.results.shipped import LinkCosts
from format_bench.results.suites import family_of_suite

# Rows up to which a table that fits into a page of the file system needs no choice.
TINY_ROWS = 20


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
    reasons: dict[Required, str]
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
    scoring: Scoring
    """The weights that count, and the transfers that times include."""
    requirements: tuple[Required, ...]
    noise: str
    """Source of the bands: "rounds", "intervals", `ESTIMATES`, `PREDICTIONS`, or "unknown"."""
    ranked: list[Ranked]
    """Best first, but for a tiny table, whose first is CSV; at least one."""
    excluded: list[Excluded]
    caveats: list[str] = field(default_factory=list)
    disturbance: Disturbance = field(default_factory=Disturbance)
    """Effects of other work and noise on the results."""
    own: OwnFile | None = None
    """The user's own file, if the results are of one."""
    unmeasured: list[Configuration] = field(default_factory=list)
    """The candidates that may still win, but were not measured on all rows."""
    leading_caveats: int = 0
    """Number of caveats, from the first on, that an answer in three lines shows as well."""
    is_tiny: bool = False
    """Whether the table is so small that any format does."""
    asked: str = ""
    """How often the user's own questions are asked, in words; empty if none count."""

    @property
    def is_undecided(self) -> bool:
        """Whether noise forbids to name a winner.

        That is so if some tie with the first one where the median noise is too large, or if all do and
        its band is wide. If all do within a narrow band, they are alike: the first is as good as any.
        """
        if self.disturbance.is_too_noisy:
            return bool(self.ties)
        if self.noise in {ESTIMATES, PREDICTIONS}:
            return False  # their bands are wide for want of measurements
        low, high = self.first.band
        is_wide = high > WIDE_BAND * low
        return is_wide and len(self.ties) + 1 == len(self.ranked) >= FEWEST_CANDIDATES

    @property
    def weights(self) -> Weights:
        """The weights above 0."""
        return self.scoring.weights

    @property
    def speeds(self) -> Speeds:
        """Transfers that read and save times include."""
        return self.scoring.speeds

    @property
    def datasets(self) -> list[DatasetSize]:
        """The data sets on which any measure counts."""
        return list(dict.fromkeys(each for those in self.scoring.datasets.values() for each in those))

    @property
    def change(self) -> WeightChange | None:
        """The smallest change of a weight that puts another candidate first; None for a tiny table."""
        if self.is_tiny:
            return None
        first, *others = self.ranked
        return smallest_change(
            first.logs, {each.candidate.name: each.logs for each in others}, self.weights
        )

    @property
    def break_evens(self) -> list[BreakEven]:
        """Of the first one with each other one on the Pareto front."""
        return self._break_evens(None)

    @property
    def remote_break_evens(self) -> list[BreakEven]:
        """The same for files that are read on a server; the costs were counted on tables."""
        is_known = family_of_suite(self.suite).name == shipped.LINK_FAMILY
        return self._break_evens(shipped.link_costs()) if is_known else []

    def _break_evens(self, costs: Mapping[str, LinkCosts] | None) -> list[BreakEven]:
        ahead = (each.candidate for each in self.ranked[1:] if each.on_front)
        found = (break_even_of(self.first.candidate, each, costs) for each in ahead)
        return [each for each in found if each]

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


def recommend(
    results: Results,
    weights: Weights,
    requirements: Iterable[Required] = (),
    *,
    speeds: Speeds = NO_TRANSFER,
    suite: str | None = None,
) -> Recommendation:
    """Rank the candidates in results.

    Parameters
    ----------
    results : Results
        All data sets in them count alike.
    weights : dict of Measure to float
        Weight of each measure; only proportions matter.
    requirements : iterable of Required
        Conditions that a candidate must meet.
    speeds : Speeds
        Transfers that read and save times include.
    suite : str, optional
        The suite to choose from; by default the first that has values of everything that has a weight.

    Raises
    ------
    UnknownNameError
        If the results do not contain the suite.
    InvalidWeightError
        If a weight cannot be used, or the results have no values of its measure.
    NoCandidateError
        If no candidate can be chosen.
    """
    scope = one_suite(results, speeds.needed(checked(weights)), suite)
    found = choose(scope, weights, requirements, speeds)
    found = replace(
        found,
        caveats=caveats(results, scope, found),
        disturbance=Disturbance.of(results, scope.records),
        own=OwnFile.of(results, scope.candidates),
        unmeasured=_unmeasured(results, scope),
    )
    return _tiny(found)


def _unmeasured(results: Results, scope: Scope) -> list[Configuration]:
    """Return the configurations of the scope's data sets that were measured on samples alone."""
    measured = {each.configuration for each in scope.candidates}
    sampled = (each for each in results.records if results.is_sample(each))
    return [each for each in dict.fromkeys(map(Configuration.of, sampled)) if each not in measured]


def _tiny(answer: Recommendation) -> Recommendation:
    """Return the recommendation of a table of about ten rows: CSV, unless it loses something."""
    if family_of_suite(answer.suite).item != "row" or any(
        each.rows > TINY_ROWS for each in answer.datasets
    ):
        return answer
    losses = Measure(family_of_suite(answer.suite).loss)
    for each in answer.ranked:
        size = [each.candidate.value(dataset, SIZE) or 0 for dataset in answer.datasets]
        lost = any(each.candidate.value(dataset, losses) for dataset in answer.datasets)
        is_plain = each.candidate.configuration == Configuration("CSV")
        if is_plain and max(size) <= shift_of(SIZE) and not lost:
            # Neither noise nor weights have put it first.
            ranked = [each, *(other for other in answer.ranked if other is not each)]
            return replace(answer, ranked=[replace(one, ties=False) for one in ranked], is_tiny=True)
    return answer


def choose(
    scope: Scope,
    weights: Weights,
    requirements: Iterable[Required] = (),
    speeds: Speeds = NO_TRANSFER,
) -> Recommendation:
    """Rank the candidates of a scope, as `recommend` does; without caveats.

    Raises
    ------
    InvalidWeightError
        If a weight cannot be used.
    NoCandidateError
        If no candidate can be chosen.
    """
    counting = checked(weights)
    datasets = {measure: _measured_on(measure, scope) for measure in counting}
    wanted = tuple(dict.fromkeys(requirements))
    excluded = excluded_of(scope.candidates, wanted, scope.suite, _needed(datasets, scope, speeds))
    out = {each.candidate.configuration for each in excluded}
    left = [each for each in scope.candidates if each.configuration not in out]
    # The best values come from candidates that can be chosen: 1 is a score that can be reached.
    scoring = Scoring.of(left, counting, datasets, speeds)
    cells = [(dataset, measure) for measure, those in datasets.items() for dataset in those]
    return Recommendation(
        results=scope.name,
        suite=scope.suite,
        scoring=scoring,
        requirements=wanted,
        noise=noise_source((each.cells[cell] for each in left for cell in cells), scope.bands),
        ranked=_ranked(left, scoring, scope.bands),
        excluded=[
            each if each.empty else replace(each, score=scoring.score(each.candidate))
            for each in excluded
        ],
    )


def _needed(
    datasets: dict[Measure, list[DatasetSize]], scope: Scope, speeds: Speeds
) -> dict[Measure, list[DatasetSize]]:
    """Return the cells that must have a value: the measures', reads, and the sizes of transfers.

    A format whose data did not come back is of no use, whatever its size and its times are.
    """
    reads = _measured_on(READ_TIME, scope)
    needed = datasets | ({READ_TIME: reads} if reads else {})
    sizes = [each for measure, those in datasets.items() if speeds.speed_of(measure) for each in those]
    if sizes:
        needed[SIZE] = list(dict.fromkeys([*datasets.get(SIZE, []), *sizes]))
    return needed


def _measured_on(measure: Measure, scope: Scope) -> list[DatasetSize]:
    """Return the data sets on which any candidate has a value."""
    return [
        dataset
        for dataset in scope.datasets
        if any(each.value(dataset, measure) is not None for each in scope.candidates)
    ]


def _ranked(candidates: list[Candidate], scoring: Scoring, noise: Bands) -> list[Ranked]:
    logs = {each.configuration: scoring.logs(each) for each in candidates}
    front = set(pareto_front({each: list(found.values()) for each, found in logs.items()}))
    scores = {each: scoring.weighted(found) for each, found in logs.items()}
    # By name where scores are equal, whatever the order of the records.
    in_order = sorted(candidates, key=lambda each: (scores[each.configuration], each.name))
    bands = [scoring.band(candidate, noise) for candidate in in_order]
    return [
        Ranked(
            candidate=candidate,
            score=scores[candidate.configuration],
            band=band,
            logs=logs[candidate.configuration],
            ratios=scoring.ratios(candidate),
            places=(formulas.best_place(band, bands), formulas.worst_place(band, bands)),
            ties=formulas.is_tie(band, bands[0]),
            on_front=candidate.configuration in front,
        )
        for candidate, band in zip(in_order, bands, strict=True)
    ]


def caveats(results: Results, scoped: Scope, answer: Recommendation) -> list[str]:
    """Return sentences on the limits of a recommendation from all results, of one scope."""
    scoring = answer.scoring
    found = []
    for measure, best in scoring.best.items():
        shift = shift_of(measure)
        if measure.unit == "seconds" and max(best) < shift:
            found.append(
                f"the best {measure.phrase} is below {quantity(shift, 'seconds')} on every table, where "
                "differences hardly count; measure more rows if yours are more"
            )
    for measure, speed in ((READ_TIME, scoring.speeds.read), (SAVE_TIME, scoring.speeds.save)):
        if speed and measure not in scoring.weights:
            found.append(f"the speed does not count, since {measure.phrase} has no weight")
    if answer.noise == "unknown":
        found.append("ties are not known: times of one sample do not show how they vary")
    found += condition_sentences(scoped)
    found += queries_left_out(results, scoped.suite)
    return found + smaller_sizes(results, scoped) + _left_out(results, scoped)


def _left_out(results: Results, scoped: Results) -> list[str]:
    others = [each for each in suites_in(results) if each not in suites_in(scoped)]
    if not others:
        return []
    names = dict.fromkeys(each.place for each in results.records if suite_of(each) in others)
    sentence = (
        f"the results of {' and '.join(others)} are left out; --dataset takes them in, with one of "
    )
    return [sentence + ", ".join(names)]


def excluded_of(
    candidates: list[Candidate],
    requirements: tuple[Required, ...],
    suite: str,
    datasets: dict[Measure, list[DatasetSize]],
) -> list[Excluded]:
    """Return the candidates that do not meet a requirement or lack a value, yet without scores.

    Parameters
    ----------
    candidates : list of Candidate
        Of one suite.
    requirements : tuple of Required
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
        empty = _first_empty(candidate, datasets) or _failed_check(candidate, suite, every)
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


def _failed_check(candidate: Candidate, suite: str, datasets: list[DatasetSize]) -> str:
    """Return why the data that came back could not be verified; empty if that did not fail.

    Suites that count no losses verify their reads all the same.
    """
    loss = Measure(family_of_suite(suite).loss)
    verified = ((each, candidate.cells.get((each, loss))) for each in datasets)
    failed = [each for each, record in verified if record is not None and record.value is None]
    return candidate.empty_reason(failed[0], loss) if failed else ""


def _message(excluded: list[Excluded]) -> str:
    by_name: dict[str, list[str]] = {}
    for each in excluded:
        for requirement, sentence in each.reasons.items():
            by_name.setdefault(str(requirement), []).append(sentence)
        if each.empty:
            by_name.setdefault("a missing value", []).append(each.empty)
    parts = [f"{name} excludes {len(sentences)} ({sentences[0]})" for name, sentences in by_name.items()]
    return f"none of {len(excluded)} can be chosen: {'; '.join(parts)}"
