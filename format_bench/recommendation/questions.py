"""Mix of questions: how often a user asks each query, as one measure of a recommendation.

The values of single queries are joined to the mean time of a query of the mix, sum(n * t) / sum(n), for
each configuration and data set, warm and cold. A configuration without a value of a query in the mix has
none of the mix, with that reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from adapter_core import UnknownNameError
from adapter_core.errors import InvalidWeightError
from format_bench.recommendation import formulas
from format_bench.recommendation.scope import suites_in
from format_bench.recommendation.scoring import Weights, numbers
from format_bench.results.candidates import Configuration, DatasetSize
from format_bench.results.load import Results, suite_of
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
