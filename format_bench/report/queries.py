"""Results of queries: configurations by queries, ranked by the geometric mean of their ratios.

A suite with queries has a value for each query and metric. A table has the values of one metric, state
of the page cache and track; each value is compared with the best of its query, and the mean of these
ratios ranks the configurations, as in ClickBench.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from format_bench.families.questions import declared
from format_bench.report.model import CHARTED
from format_bench.results.candidates import Configuration
from format_bench.results.display.text import format_ratio, plural, quantity
from format_bench.results.groups import ComparisonGroup, ResultCell
from format_bench.results.marks import BEST
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.suites import SUITES, family_of_suite
from format_bench.results.table import FormattedCell, ResultTable, formatted_cell

MEAN = "mean"
"""Name of the column of the means."""


class QueryName(NamedTuple):
    """A query in words."""

    heading: str
    """The words that neighbouring queries share; else empty."""
    words: str
    """All of it, e.g. "t2m, Germany, month"."""
    last: str
    """The end, which its neighbours do not share, e.g. "month"."""


def query_names(suite: str, *others: str) -> dict[str, QueryName]:
    """Return the queries of a suite in words by name; empty if its family declares none.

    They are asked to the suite's data sets, or to `others`.
    """
    if suite not in SUITES:
        return {}
    own = declared(family_of_suite(suite).name)
    return {
        name: QueryName(query.heading, str(query), str(query).rpartition(", ")[2])
        for dataset in (*SUITES[suite].datasets, *others)
        for name, query in own.to(dataset).by_name.items()
    }


class MeanRatio(NamedTuple):
    """Geometric mean of ratios to the best of each query, or of each group."""

    value: float
    queries: int
    """Number of queries, or groups, with a ratio."""


Ratios = dict[Configuration, float]


def ratios_to_best(values: Ratios, shift: float = 0.0) -> Ratios:
    """Return each value by the smallest one, a shift added to both; empty if that is 0."""
    best = min(values.values(), default=0) + shift
    return {each: (value + shift) / best for each, value in values.items()} if best > 0 else {}


def mean_ratios(columns: Iterable[Ratios]) -> dict[Configuration, MeanRatio]:
    """Return the geometric mean of the ratios of each configuration, over the columns that have one.

    Ratios call for the geometric mean: it does not depend on their reference (Fleming and
    Wallace, "How not to lie with statistics", Communications of the ACM 29, 1986).
    """
    logs: dict[Configuration, list[float]] = {}
    for ratios in columns:
        for configuration, ratio in ratios.items():
            logs.setdefault(configuration, []).append(math.log(ratio))
    return {
        each: MeanRatio(math.exp(statistics.fmean(found)), len(found)) for each, found in logs.items()
    }


@dataclass(frozen=True)
class QueryTable:
    """Values of one metric by configuration and query, of one track of a group."""

    group: ComparisonGroup
    track: str
    """Empty if the suite has no tracks."""
    measure: Measure
    """Of no single query."""
    queries: list[str]
    """In order."""

    @property
    def title(self) -> str:
        """The heading, e.g. "Query time, warm: era5-hourly, track paper"."""
        cache = f", {self.measure.cache}" if self.measure.cache else ""
        track = f", track {self.track}" if self.track else ""
        return f"{CHARTED[self.measure.metric]}{cache}: {self.group.name}{track}"

    @cached_property
    def names(self) -> dict[str, QueryName]:
        """The queries in words, as far as they are declared."""
        return query_names(self.group.suite, self.group.dataset)

    def words(self, query: str) -> str:
        """Return the name of a query with its words, e.g. "Q10, t2m, Germany, month"."""
        name = self.names.get(query)
        return f"{query}, {name.words}" if name else query

    @property
    def runs(self) -> list[tuple[str, list[str]]]:
        """The queries by heading, in order; one run without a heading if they are not declared."""
        found: list[tuple[str, list[str]]] = []
        for query in self.queries:
            name = self.names.get(query)
            heading = name.heading if name else ""
            if not found or found[-1][0] != heading:
                found.append((heading, []))
            found[-1][1].append(query)
        return found

    @cached_property
    def ranked(self) -> list[Configuration]:
        """The configurations by mean; those that lack a query come last, the most complete first."""
        own = {
            configuration
            for configuration, measure in self.group.cells
            if configuration.track == self.track and measure._replace(query="") == self.measure
        }
        without = MeanRatio(math.inf, 0)

        def place(each: Configuration) -> tuple[object, ...]:
            mean = self.means.get(each, without)
            return -mean.queries, mean.value, each.sort_key

        return sorted(own, key=place)

    @cached_property
    def complete(self) -> list[Configuration]:
        """The configurations with a ratio for each query that has ratios, by mean; none without one."""
        # Means over different queries are no order.
        most = len(self.ratios)
        return [each for each in self.ranked if each in self.means and self.means[each].queries == most]

    @cached_property
    def ratios(self) -> dict[str, Ratios]:
        """Each value by the smallest of its query; without queries that have no value, or 0 as smallest.

        To times, the suite's `ratio_shift_seconds` is added first.
        """
        found = {}
        for query in self.queries:
            values = {
                configuration: cell.value
                for (configuration, measure), cell in self.group.cells.items()
                if configuration.track == self.track
                and measure == self.measure._replace(query=query)
                and cell.value is not None
            }
            ratios = ratios_to_best(values, self._shift)
            if ratios:
                found[query] = ratios
        return found

    @property
    def _shift(self) -> float:
        suite = SUITES.get(self.group.suite)
        is_time = METRICS[self.measure.metric].unit == "seconds"
        return suite.ratio_shift_seconds if suite and is_time else 0.0

    @cached_property
    def means(self) -> dict[Configuration, MeanRatio]:
        """The mean of each configuration, over the queries that it answered."""
        return mean_ratios(self.ratios.values())

    @cached_property
    def short_names(self) -> dict[Configuration, Configuration]:
        """The configurations as rows name them: without the track, and without the only codec."""
        formats = [each.format for each in self.ranked]
        return {
            each: Configuration(each.format)
            if formats.count(each.format) == 1
            else replace(each, track="")
            for each in self.ranked
        }

    def cell(self, configuration: Configuration, query: str) -> ResultCell:
        """Return a cell."""
        return self.group.cell(configuration, self.measure._replace(query=query))

    def mean_cell(self, configuration: Configuration) -> FormattedCell:
        """Return the mean of a configuration as text; without a mark if it is incomplete."""
        mean = self.means.get(configuration)
        if mean is None:
            return FormattedCell("-", "", None, "no value")
        tip = f"geometric mean of {plural(mean.queries, 'ratio')}"
        if configuration not in self.complete:
            tip += f" of {len(self.ratios)}, so it is not ranked"
        mark = BEST if self.complete[:1] == [configuration] and len(self.complete) > 1 else ""
        return FormattedCell(format_ratio(mean.value), mark, mean.value, tip)

    def numbers(self) -> ResultTable:
        """Return the values as a table, the means in its first column."""

        def cell(row: Configuration, query: str, mark: str) -> FormattedCell:
            return formatted_cell(self.short_names[row], self.measure, self.cell(row, query), mark)

        return self.table(self.mean_cell, cell)

    def table(
        self,
        mean: Callable[[Configuration], FormattedCell],
        cell: Callable[[Configuration, str, str], FormattedCell],
    ) -> ResultTable:
        """Return a table of the mean of each row, and of its cell of each query, given its mark."""
        marks = {
            query: self.group.marks(self.measure._replace(query=query), self.ranked)
            for query in self.queries
        }
        rows = [
            (
                self.short_names[row],
                [mean(row), *(cell(row, each, found.get(row, "")) for each, found in marks.items())],
            )
            for row in self.ranked
        ]
        return ResultTable([MEAN, *self.queries], rows, self.title)

    def leaders(self) -> tuple[str, str] | None:
        """Return the first by mean, and the rest of a sentence on it; None without a ranking."""
        if len(self.complete) < 2:  # noqa: PLR2004 (a ranking)
            return None
        first, *others = self.complete
        mean = format_ratio(self.means[first].value)
        lead = f", {mean} times the best of each query (geometric mean of {len(self.ratios)})"
        parts = [lead, f"then {self._named(others[0])}"]
        if len(others) > 1:
            parts.append(f"last {self._named(others[-1])}")
        return str(self.short_names[first]), "; ".join(parts)

    def _named(self, configuration: Configuration) -> str:
        return f"{self.short_names[configuration]} {format_ratio(self.means[configuration].value)}"

    def tip(self, configuration: Configuration, query: str) -> str:
        """Return a value with its query in words, or the reason why there is none."""
        cell = self.cell(configuration, query)
        if cell.value is None:
            return f"{self.words(query)}: {cell.sentence}"
        return f"{self.words(query)}: {quantity(cell.value, cell.unit)}"


def tracks_of(group: ComparisonGroup) -> list[str]:
    """Return the tracks of a group's results, in the order of the suite's declaration."""
    suite = SUITES.get(group.suite)
    declared = [each.name for each in suite.tracks] if suite else []
    found = sorted({each.track for each in group.configurations})
    return sorted(found, key=lambda name: declared.index(name) if name in declared else len(declared))


def query_tables(group: ComparisonGroup) -> Iterator[QueryTable]:
    """Yield the tables of a group, by track and metric, of the metrics that have a chart."""
    queries: dict[tuple[str, Measure], list[str]] = {}
    asked = {(configuration.track, measure) for configuration, measure in group.cells}
    for track in tracks_of(group):
        for each in group.query_measures:
            if each.metric in CHARTED and (track, each) in asked:
                queries.setdefault((track, each._replace(query="")), []).append(each.query)
    for (track, measure), names in queries.items():
        yield QueryTable(group, track, measure, names)
