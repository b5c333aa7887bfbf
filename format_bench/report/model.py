"""Model of a report: results by suite and group, and an outline."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

from adapter_core.text import printable
from format_bench.results.candidates import Configuration
from format_bench.results.conditions import threads_in_words
from format_bench.results.display.text import joined, plural
from format_bench.results.environments import mixture
from format_bench.results.groups import ComparisonGroup, sorted_measures
from format_bench.results.load import Results, suite_of
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.noise import RunNoise
from format_bench.results.records import Record
from format_bench.results.self_check import SelfCheck
from format_bench.results.suites import compared_with, item_of, title_of

CHARTED = {each.name: each.chart for each in METRICS.values() if each.chart}
"""Titles of charts by metric; the others lack one."""


@dataclass(frozen=True)
class SuiteResults:
    """The groups of one suite."""

    name: str
    """The suite, as `compared_with` returns it."""
    groups: list[ComparisonGroup]

    @property
    def title(self) -> str:
        """The heading."""
        return printable(title_of(self.name))

    def extent(self, group: ComparisonGroup) -> str:
        """Return the size of a group's data in words; empty if it is not known."""
        item = item_of(self.name)
        sizes = [(group.rows, item)]
        if item == "row":
            sizes.append((group.columns, "column"))
        return ", ".join(plural(number, noun) for number, noun in sizes if number)

    @property
    def without_samples(self) -> SuiteResults:
        """The groups of whole data sets; all groups if there is no such."""
        whole = [each for each in self.groups if not each.is_sample]
        return SuiteResults(self.name, whole) if whole else self

    @property
    def datasets(self) -> list[str]:
        """The names of the data sets; one may be in several groups."""
        return list(dict.fromkeys(group.dataset for group in self.groups))

    @cached_property
    def configurations(self) -> list[Configuration]:
        """The configurations of all groups, sorted."""
        found = {each for group in self.groups for each in group.configurations}
        return sorted(found, key=lambda each: each.sort_key)

    @cached_property
    def measured(self) -> list[Configuration]:
        """The configurations with a value in some group, sorted."""
        pairs = (pair for group in self.groups for pair in group.cells.items())
        found = {configuration for (configuration, _), cell in pairs if cell.value is not None}
        return [each for each in self.configurations if each in found]

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures of all groups, sorted."""
        return sorted_measures(measure for group in self.groups for measure in group.measures)


def results_of_suite(results: Results, name: str) -> SuiteResults:
    """Return the results of one suite, without groups if it was not measured."""
    found = (each for each in results_by_suite(results) if each.name == name)
    return next(found, SuiteResults(name, []))


# Data set with its medium, rows, thread policy.
_GroupKey = tuple[str, int, str]


def results_by_suite(results: Results) -> list[SuiteResults]:
    """Return the results of each suite, in the order of measurement.

    Results of further adapters are among the results of their family's first suite.
    """
    found: dict[str, dict[_GroupKey, list[Record]]] = {}
    for record in results.records:
        key = (record.place, record.rows, record.threads)
        found.setdefault(compared_with(suite_of(record)), {}).setdefault(key, []).append(record)
    suites_with = Counter(dataset for keys in found.values() for dataset in {key[0] for key in keys})
    shared = {dataset for dataset, number in suites_with.items() if number > 1}
    noise = RunNoise(results.records)

    def group(suite: str, key: _GroupKey, records: list[Record]) -> ComparisonGroup:
        is_sample = results.is_sample(records[0])
        name = _group_name(key, list(found[suite]))
        if key[0] in shared:
            name += f", {printable(title_of(suite)).lower()}"
        if is_sample:
            name += ", a sample"
        return replace(ComparisonGroup.of(name, records, noise), is_sample=is_sample)

    return [
        SuiteResults(suite, [group(suite, *each) for each in by_key.items()])
        for suite, by_key in found.items()
    ]


def _group_name(key: _GroupKey, keys: list[_GroupKey]) -> str:
    dataset, rows, threads = key
    name = printable(dataset)
    if len({each[1] for each in keys if each[0] == dataset}) > 1:
        name += f", {rows:,} rows"
    if len({each[2] for each in keys}) > 1:
        name += f", {threads_in_words(threads)}"
    return name


@dataclass(frozen=True)
class Outline:
    """A report before anything is drawn or written."""

    name: str
    suites: list[SuiteResults]
    """The results by suite."""
    self_check: SelfCheck
    mixture: str
    """Sentence on values of several environments; empty if they are of one."""

    @property
    def lead(self) -> str:
        """The extent of the results on one line."""
        return joined([_extent(suite, self.suites) for suite in self.suites])


def _extent(suite: SuiteResults, suites: list[SuiteResults]) -> str:
    what = plural(len({each.format for each in suite.measured}), "format")
    if any(each.codec for each in suite.measured):
        what += f" with codecs, {plural(len(suite.measured), 'combination')},"
    kind = f" ({suite.title.lower()})" if len(suites) > 1 else ""
    return f"{what} on {plural(len(suite.datasets), 'data set')}{kind}"


def outline_of(results: Results) -> Outline:
    """Return the outline of a report on results."""
    suites = results_by_suite(results)
    return Outline(
        name=printable(results.name),
        suites=suites,
        self_check=SelfCheck.of(results.records),
        mixture=printable(mixture(results.records)),
    )
