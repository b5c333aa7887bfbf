"""Scope of a recommendation: the results of one suite, possibly of one data set, and the user's file."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from adapter_core import UnknownNameError
from adapter_core.errors import InvalidWeightError
from format_bench.recommendation.scoring import Bands
from format_bench.results.candidates import (
    Candidate,
    Configuration,
    DatasetSize,
    candidates_of,
    datasets_of,
    measures_of,
)
from format_bench.results.conditions import WITHIN_A_PLACE
from format_bench.results.load import Results, suite_of
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.noise import RunNoise
from format_bench.results.records import Record
from format_bench.results.suites import SUITES, compared_with, item_of, suite_order


@dataclass(frozen=True)
class Scope(Results):
    """The results that one choice is made from: of one suite, each data set in one size."""

    @property
    def suite(self) -> str:
        """The suite; its tables may have results of further adapters."""
        return suite_of(self.records[0])

    @cached_property
    def bands(self) -> Bands:
        """The bands of values that noise allows."""
        return Bands(RunNoise(self.whole or self.records))

    @cached_property
    def candidates(self) -> list[Candidate]:
        """All that can be chosen, in order of appearance."""
        return candidates_of(self.records)

    @cached_property
    def datasets(self) -> list[DatasetSize]:
        """The data sets of all candidates, in order of appearance."""
        return datasets_of(self.candidates)

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures that have at least one value, in order of appearance."""
        return measures_of(self.candidates)

    @property
    def own_measures(self) -> list[Measure]:
        """The measures of the suite's own records, in the order of their declarations."""
        own = measures_of(candidates_of(each for each in self.records if suite_of(each) == self.suite))
        order = list(METRICS)
        return sorted(own, key=lambda each: (order.index(each.metric), each.cache or ""))


def of_dataset(results: Results, dataset: str) -> Results:
    """Return the results of one data set.

    Raises
    ------
    UnknownNameError
        If the results do not contain that data set.
    """
    known = {record.place for record in results.records}
    if dataset not in known:
        raise UnknownNameError(f"data set in {results.name}", dataset, known)
    found = [each for each in results.records if each.place == dataset]
    return replace(results, records=found, whole=results.whole or results.records)


def of_condition(results: Results, axis: str, value: str) -> Results:
    """Return the results under a value of an axis that separates data sets, e.g. on a medium.

    An empty value takes the results under no condition of the axis.

    Raises
    ------
    UnknownNameError
        If no result names the axis, or has the value.
    """
    known: dict[str, set[str]] = {}
    for record in results.records:
        # Settings and bounds tell configurations apart, and can be chosen by all the same.
        for name in set(record.conditions) - (WITHIN_A_PLACE - {"error bound", "settings"}):
            known.setdefault(name, set()).add(record.conditions[name])
    if axis not in known:
        raise UnknownNameError(f"condition in {results.name}", axis, known)
    found = [each for each in results.records if each.conditions.get(axis, "") == value]
    if not found:
        raise UnknownNameError(f"{axis} in {results.name}", value or "none", known[axis])
    return replace(results, records=found, whole=results.whole or results.records)


def condition_sentences(results: Results) -> list[str]:
    """Return a sentence for each axis whose values separate data sets, if results have several."""
    values: dict[str, dict[str, None]] = {}
    for record in results.records:
        for axis in set(record.conditions) - WITHIN_A_PLACE:
            values.setdefault(axis, {})[record.conditions[axis]] = None
    return [
        f"each data set counts once for each {axis} ({', '.join(found)}); "
        f"--under {shlex.quote(f'{axis}=VALUE')} takes one"
        for axis, found in values.items()
        if len(found) > 1
    ]


def suites_in(results: Results) -> list[str]:
    """Return the suites of results, in the order of their declarations."""
    return sorted({suite_of(record) for record in results.records}, key=suite_order)


def one_suite(results: Results, measures: Collection[Measure], suite: str | None = None) -> Scope:
    """Return the results of a suite, by default the first, that has values of all measures.

    Of a data set in several sizes, e.g. samples of a user's data, the largest counts that at least two
    configurations have. Configurations with codecs are added to those without, if these are of a single
    data set, and further adapters to the usual ones, if they were measured on all data sets.

    Raises
    ------
    UnknownNameError
        If the results do not contain the suite.
    InvalidWeightError
        If no suite, or not that one, has values of all measures.
    """
    wanted = set(measures)
    suites = suites_in(results)
    if suite is not None and suite not in suites:
        raise UnknownNameError(f"suite in {results.name}", suite, suites)
    # Samples count only where nothing was measured on all rows.
    whole = results.without_samples().records
    for name in suites if suite is None else [suite]:
        own = [each for each in whole if suite_of(each) == name]
        records = _largest(own or [each for each in results.records if suite_of(each) == name])
        if wanted <= _measured(records):
            if name in SUITES and not SUITES[name].qualifier:
                datasets = {DatasetSize.of(each) for each in records}
                # On several data sets, candidates without a value on one of them would all be excluded.
                more = _compressed(results.records) if len(datasets) == 1 else []
                more += further_records(results.records, name, datasets)
                records += [each for each in more if DatasetSize.of(each) in datasets]
            return Scope(results.name, records, results.metadata, whole=results.whole or results.records)
    if suite is not None:
        own = [each for each in results.records if suite_of(each) == suite]
        results = replace(results, name=f"{suite} in {results.name}", records=own)
    raise InvalidWeightError(_lacking(results, wanted))


def _largest(records: Iterable[Record]) -> list[Record]:
    """Return the records of the largest size of each data set that allows a comparison.

    Records of single queries are left out; a mix of them is a record of none.
    """
    found = [each for each in records if not each.query]
    measured: dict[str, dict[int, set[Configuration]]] = {}
    for each in found:
        sizes = measured.setdefault(each.place, {})
        sizes.setdefault(each.rows, set()).add(Configuration.of(each))
    largest = {
        dataset: max(sizes, key=lambda rows: (len(sizes[rows]) > 1, rows))
        for dataset, sizes in measured.items()
    }
    return [each for each in found if each.rows == largest[each.place]]


def smaller_sizes(results: Results, scoped: Scope) -> list[str]:
    """Return a sentence for each data set whose smaller, or incomplete, sizes are left out."""
    counting = {each.place: each.rows for each in scoped.records}
    others: dict[str, set[int]] = {}
    for each in results.records:
        if each.rows != counting.get(each.place, each.rows):
            others.setdefault(each.place, set()).add(each.rows)
    item = item_of(scoped.suite)
    return [
        f"{dataset} counts with {counting[dataset]:,} {item}s; its results with "
        f"{' and '.join(f'{each:,}' for each in sorted(sizes))} are left out"
        for dataset, sizes in others.items()
    ]


def queries_left_out(results: Results, suite: str) -> list[str]:
    """Return a sentence if a suite's results contain times of queries that do not count."""
    found = {
        each.query
        for each in results.records
        if each.query and each.metric == "query time" and suite_of(each) == suite
    }
    if not found:
        return []
    noun = "query does" if len(found) == 1 else "queries do"
    return [f"the values of {len(found)} {noun} not count: recommend --question takes them in"]


def _compressed(records: list[Record]) -> list[Record]:
    """Return the records with a codec of suites that compare codecs."""
    suites = {name for name, suite in SUITES.items() if suite.codecs}
    return [each for each in records if each.codec and suite_of(each) in suites]


def further_records(records: Iterable[Record], suite: str, datasets: set[DatasetSize]) -> list[Record]:
    """Return the records of the further adapters that a suite's tables have.

    They are of all their data sets; empty if one of the given data sets is not among these.
    """
    found = [
        each
        for each in records
        if compared_with(suite_of(each)) == suite != suite_of(each) and not each.query
    ]
    measured = {DatasetSize.of(each) for each in found}
    # On other data sets, all of them would be excluded.
    return found if datasets <= measured else []


def further_candidates(results: Results, scope: Scope) -> list[Candidate]:
    """Return the further adapters with results of any data set of a scope."""
    found = candidates_of(further_records(results.records, scope.suite, set()))
    return [each for each in found if not set(scope.datasets).isdisjoint(datasets_of([each]))]


def _measured(records: list[Record]) -> set[Measure]:
    found = (each for each in records if each.value is not None and not each.query)
    return {Measure.of(each).comparable for each in found}


def _lacking(results: Results, wanted: set[Measure]) -> str:
    measured = _measured(results.records)
    if wanted <= measured:
        together = " and ".join(sorted(each.phrase for each in wanted))
        return f"{results.name} has {together} of different families, never of one"
    lacking = " and ".join(sorted(each.phrase for each in wanted - measured))
    available = ", ".join(sorted(each.option for each in measured)) or "no value at all"
    return f"{results.name} has no values of {lacking}; it has {available}"


@dataclass(frozen=True)
class OwnFile:
    """The file that a user came with."""

    name: str
    size_bytes: int | None
    """None of a file of which a sample was measured."""
    baseline: Candidate | None
    """The candidate that writes such files, measured or estimated on the same rows."""

    @classmethod
    def of(cls, results: Results, candidates: list[Candidate]) -> OwnFile | None:
        """Return the user's file that results are of; None if they are of other data."""
        for facts in results.data.values():
            if not isinstance(name := facts.get("file"), str):
                continue
            size, known = facts.get("bytes"), facts.get("baseline")
            baseline = None
            if isinstance(known, dict):
                choice = known.get("format"), known.get("codec"), known.get("level")
                same = (each for each in candidates if _choice(each.configuration) == choice)
                baseline = next(same, None)
            return cls(name, size if isinstance(size, int) else None, baseline)
        return None


def _choice(configuration: Configuration) -> tuple[Any, ...]:
    return configuration.format, configuration.codec, configuration.level
