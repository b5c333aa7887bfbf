"""Mix of questions: how often a user asks each query, as one measure of a recommendation.

The values of single queries are joined to the mean time of a query of the mix, sum(n * t) / sum(n), for
each configuration and data set, warm and cold. A configuration without a value of a query in the mix has
none of the mix, with that reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from adapter_core import UnknownNameError
from adapter_core.errors import InvalidWeightError, NoCandidateError
from format_bench.recommendation import formulas
from format_bench.recommendation.purposes import BALANCED, Wish, criteria_for
from format_bench.recommendation.recommend import Recommendation, recommend
from format_bench.recommendation.scope import suites_in
from format_bench.recommendation.scoring import Weights, numbers
from format_bench.results.candidates import Configuration, DatasetSize
from format_bench.results.display.text import joined, plural
from format_bench.results.load import ASKED, Results, suite_of
from format_bench.results.metrics import Measure
from format_bench.results.records import Key, Record, key
from format_bench.results.status import CellStatus

METRIC = "query time"

MEASURES = (Measure(METRIC), Measure(METRIC, "cold"))
"""The measures of a mix."""

Mix = dict[str, float]
"""Number of times that each query is asked, above 0, by its name."""


def parsed(texts: Iterable[str]) -> Mix:
    """Return the mix of texts such as "point=100".

    Raises
    ------
    InvalidWeightError
        If a text has another form, a number that is not above 0, or a question that has one already.
    """
    mix: Mix = {}
    wanted = "a question and a number above 0 are wanted, as in point=100"
    for text, name, times in numbers(texts, "--question", wanted, takes_zero=False):
        if name in mix:
            raise InvalidWeightError(f"--question {text}: {name} has a number already, {mix[name]:g}")
        mix[name] = times
    return mix


def weighed(weights: Weights, mix: Mix) -> Weights:
    """Return weights that count the mix: with 1 if it has no weight of its own.

    Raises
    ------
    InvalidWeightError
        If the mix has a weight, but no questions.
    """
    given = [each for each in MEASURES if weights.get(each.comparable)]
    if given and not mix:
        raise InvalidWeightError(
            f"{given[0].phrase} has a weight, but no question a number: add --question, as in point=100"
        )
    return weights if given or not mix else weights | {MEASURES[0]: 1.0}


def sentences(mix: Mix) -> list[str]:
    """Return a sentence on the times of a mix; empty without a mix."""
    parts = [f"{name} ({times:g})" for name, times in mix.items()]
    return (
        [f"{METRIC} is the mean time of a question, asked so often: {', '.join(parts)}"] if mix else []
    )


def mixed(results: Results, mix: Mix, suite: str | None = None) -> Results:
    """Return results with values of a mix in place of its queries' values.

    Parameters
    ----------
    results : Results
        The results; without any mix they are returned as they are.
    mix : dict of str to float
        The mix.
    suite : str, optional
        The suite; by default the first with all queries of the mix.

    Raises
    ------
    UnknownNameError
        If no suite has such a query.
    """
    if not mix:
        return results
    asked = {name: _asked(results, name) for name in suites_in(results)}
    chosen = [name for name in asked if suite in (None, name) and mix.keys() <= asked[name].keys()]
    if not chosen:
        known = {each for name in asked if suite in (None, name) for each in asked[name]}
        unknown = next((each for each in mix if each not in known), None)
        if unknown is not None:
            raise UnknownNameError(f"question in {results.name}", unknown, known)
        raise InvalidWeightError(f"no suite in {results.name} has all of {', '.join(mix)}")
    times = [each for each in results.records if _is_time_in(each, chosen[0])]
    others = [
        each for each in results.records if not (_is_time_in(each, chosen[0]) and each.query in mix)
    ]
    return replace(results, records=[*others, *_mixes_of(times, mix)])


class OwnMix(NamedTuple):
    """Mix of a user's own questions, and results that contain its times."""

    results: Results
    """The results with values of the mix in place of those of its questions."""
    asked: dict[str, Mix]
    """By data set; without questions that nothing answered."""
    unanswered: list[str]
    """The questions that nothing answered."""
    measure: Measure
    """The measure of a mix that counts: warm, if there are such times."""

    def added_to(self, wish: Wish) -> Wish:
        """Return a wish that also counts the times, like each metric of the preset."""
        return replace(wish, weights={self.measure: 1.0}, preset=wish.preset or BALANCED.name)

    @property
    def sentence(self) -> str:
        """The mix in words, e.g. "the mean of 3 questions asked equally often"."""
        mixes = [*self.asked.values()]
        if all(each == mixes[0] for each in mixes):
            return f"the mean of {_asked_so(mixes[0])}" if len(mixes[0]) > 1 else "the only one asked"
        parts = [f"{_asked_so(mix)} to {dataset}" for dataset, mix in self.asked.items()]
        return f"the mean of {joined(parts, most=None)}"

    @property
    def caveats(self) -> list[str]:
        """A sentence on questions that nothing answered, if there are any."""
        names = joined(self.unanswered) if self.unanswered else ""
        return [f"questions that nothing answered do not count: {names}"] if names else []


def _asked_so(mix: Mix) -> str:
    number = plural(len(mix), "question")
    if len(set(mix.values())) == 1:
        return f"{number} asked equally often" if len(mix) > 1 else number
    return f"{number} asked so often: " + joined((f"{each} ({mix[each]:g})" for each in mix), most=8)


def answered(results: Results, wish: Wish, suite: str | None = None) -> Recommendation:
    """Rank the candidates in results for a wish; a user's own questions count unless weights are given.

    Parameters
    ----------
    results : Results
        The results.
    wish : Wish
        Weights and requirements.
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
    own = None if wish.weights else own_mix(results, suite)
    if own:
        results, wish = own.results, own.added_to(wish)
    wanted = criteria_for(results, wish, suite)
    answer = recommend(results, wanted.weights, wanted.requirements, speeds=wish.speeds, suite=suite)
    caveats = [*(own.caveats if own else ()), *answer.caveats, *wanted.caveats]
    return replace(answer, caveats=caveats, asked=own.sentence if own else "")


def are_asked(results: Results) -> bool:
    """Return whether results have times of a user's own questions."""
    return bool(_own_times(results)[1])


def own_mix(results: Results, suite: str | None = None) -> OwnMix | None:
    """Return the mix of a user's own questions, as the metadata of runs have them; None without any.

    Parameters
    ----------
    results : Results
        The results.
    suite : str, optional
        The suite whose times count; by default each that asks.

    Raises
    ------
    NoCandidateError
        If nothing answered a question.
    """
    wanted, times, others = _own_times(results, suite)
    if not times:
        return None
    answers = [each for found in times.values() for each in found if each.value is not None]
    if not answers:
        first = next(iter(times.values()))[0]
        raise NoCandidateError(f"nothing answered any question ({first.query}: {first.sentence})")
    known = {(each.dataset, each.query) for each in answers}
    asked = {}
    for dataset in times:
        mix = {name: often for name, often in wanted[dataset].items() if (dataset, name) in known}
        if mix:
            asked[dataset] = mix
    for dataset, found in times.items():
        # Where nothing answered anything, each cell has its reason.
        others += _mixes_of(found, asked.get(dataset, wanted[dataset]))
    lacking = (
        name for dataset in times for name in wanted[dataset] if name not in asked.get(dataset, {})
    )
    measured = {Measure.of(each).comparable._replace(query="") for each in answers}
    return OwnMix(
        replace(results, records=others),
        asked,
        [*dict.fromkeys(lacking)],
        next(each for each in MEASURES if each in measured),
    )


def _own_times(
    results: Results, suite: str | None = None
) -> tuple[dict[str, Mix], dict[str, list[Record]], list[Record]]:
    """Return mix and times of a user's own questions, both by data set, and all other records."""
    wanted = {dataset: _mix_in(facts) for dataset, facts in results.data.items()}
    times: dict[str, list[Record]] = {}
    others = []
    for each in results.records:
        is_asked = each.query in wanted.get(each.dataset, {})
        if is_asked and _is_time_in(each, suite or suite_of(each)):
            times.setdefault(each.dataset, []).append(each)
        else:
            others.append(each)
    return wanted, times, others


def _mix_in(facts: Mapping[str, Any]) -> Mix:
    """Return the questions in the facts of a data set; empty without any, or if they are not numbers."""
    asked = facts.get(ASKED)
    if not isinstance(asked, dict) or not all(isinstance(each, int | float) for each in asked.values()):
        return {}
    return {str(name): float(often) for name, often in asked.items() if often > 0}


def _is_time_in(record: Record, suite: str) -> bool:
    return bool(record.query) and record.metric == METRIC and suite_of(record) == suite


@dataclass(frozen=True)
class AskedQuestions:
    """The times of the single queries of a suite."""

    names: list[str]
    """The queries with a value, in order of appearance."""
    measures: list[Measure]
    """The measures of a mix, of those in `MEASURES` that have a value."""
    _records: dict[tuple[Configuration, DatasetSize, Measure], Record]

    @classmethod
    def of(cls, results: Results, suite: str) -> AskedQuestions:
        """Return the queries of a suite."""
        found = {
            (Configuration.of(each), DatasetSize.of(each), Measure.of(each).comparable): each
            for each in results.records
            if _is_time_in(each, suite)
        }
        answered = [measure for (_, _, measure), each in found.items() if each.value is not None]
        states = {measure._replace(query="") for measure in answered}
        return cls(
            list(dict.fromkeys(measure.query for measure in answered)),
            [each for each in MEASURES if each in states],
            found,
        )

    def record(
        self, configuration: Configuration, dataset: DatasetSize, measure: Measure, query: str
    ) -> Record | None:
        """Return the record of a query; None if it was not measured."""
        return self._records.get((configuration, dataset, measure._replace(query=query)))


def _asked(results: Results, suite: str) -> dict[str, None]:
    return {each.query: None for each in results.records if _is_time_in(each, suite)}


def _mixes_of(records: Iterable[Record], mix: Mapping[str, float]) -> list[Record]:
    """Return a record of a mix for each configuration, data set and state of the page cache."""
    cells: dict[Key, dict[str, Record]] = {}
    for each in records:
        cells.setdefault(key(replace(each, query="")), {})[each.query] = each
    return [_mix_of(found, mix) for found in cells.values()]


class Missing(NamedTuple):
    """Status and sentence of a query without a value."""

    status: CellStatus
    sentence: str


def missing(query: str, record: Record | None) -> Missing | None:
    """Return the reason why a query has no value; None if it has one.

    Parameters
    ----------
    query : str
        Its name.
    record : Record or None
        Its record; None if it was not measured.
    """
    if record is None:
        return Missing(CellStatus.UNAVAILABLE, f"{query} was not measured")
    if record.value is None:
        return Missing(record.status, f"{query}: {record.sentence}")
    return None


def _mix_of(found: dict[str, Record], mix: Mapping[str, float]) -> Record:
    first = next(iter(found.values()))
    blank = replace(first, query="", value=None, repeats=[], round_sizes=[], interval=None)
    # CPU times and loops are of the first query alone.
    blank = replace(blank, cpu_repeats=[], loop_repeats=[])
    for name in mix:
        reason = missing(name, found.get(name))
        if reason:
            return replace(blank, status=reason.status, sentence=reason.sentence)
    parts = [found[name] for name in mix]

    times = list(mix.values())
    value = formulas.mean_time(times, [each.value or 0.0 for each in parts])
    ends = [each.interval for each in parts if each.interval]
    interval = None
    if len(ends) == len(parts):
        interval = [formulas.mean_time(times, side) for side in zip(*ends, strict=True)]
    return replace(blank, value=value, repeats=[value], interval=interval, sentence="")
