"""Tables of query sets by pair and track, beside the published sums of ClickBench."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from format_bench.families.queries.operations import DEFAULTS, TUNED
from format_bench.report.queries import query_names
from format_bench.results import records
from format_bench.results.candidates import Configuration
from format_bench.results.display.text import format_ratio
from format_bench.results.groups import ComparisonGroup
from format_bench.results.metrics import Measure
from format_bench.results.study_rows import StudyForm
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.declared.verdicts import geometric_mean
from format_bench.studies.tables.pairs import format_of
from format_bench.studies.tables.tuning import extremes, ratio_of

SUITE = "query_sets"

TITLES = {"tpch": "TPC-H", "visits": "Web visits, after ClickBench"}

PUBLISHED = {
    "Parquet[duckdb]": (118.0, 33.0),
    "DuckDB[duckdb]": (115.0, 26.0),
    "Vortex[duckdb]": (208.0, 41.0),
    "Parquet[datafusion]": (183.0, 46.0),
    "Vortex[datafusion]": (232.0, 91.0),
}
"""Sums over ClickBench's 43 queries in seconds, cold and hot, on a c6a.4xlarge with 16 cores:
github.com/ClickHouse/ClickBench at faa7e58, 100 million rows of 105 columns."""

BASE = "Parquet[duckdb]"
"""Pair that published and measured sums are ratios to."""


@dataclass(frozen=True)
class QuerySetResult:
    """A row of the CSV that earlier versions wrote: one query on one pair and track."""

    query_set: str
    scale: float
    format: str
    engine: str
    track: str
    query: str
    file_bytes: int = 0
    write_seconds: float = 0.0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    reason: str = ""


FORM = StudyForm(
    suite=records.QUERY_SETS,
    of=QuerySetResult,
    values={
        "file_bytes": ("size", ""),
        "write_seconds": ("save CPU time", ""),
        "wall_seconds": "query time",
        "cpu_seconds": "query CPU time",
    },
    named={"query_set": "dataset"},
)


def tables(context: Context) -> Iterator[Block]:
    """Yield the tables of each data set."""
    for group in context.numbers.suite.groups:
        found = _Set(group)
        yield from (found.summary(), *found.tuning(), *found.beside_published(), found.details())


@dataclass(frozen=True)
class _Set:
    """The warm answers of one data set."""

    group: ComparisonGroup

    @cached_property
    def pairs(self) -> list[Configuration]:
        """The pairs by format, so that its tracks are side by side."""
        return sorted(self.group.configurations, key=lambda each: (format_of(each), each.track))

    @cached_property
    def times(self) -> Mapping[str, Mapping[Configuration, float]]:
        """CPU times of each query by pair and track."""
        measures = [each for each in self.group.query_measures if each == _cpu(each.query)]
        return {each.query: self.group.values(each) for each in measures}

    @cached_property
    def best(self) -> Mapping[str, float]:
        """The least time of each query that has one."""
        return {query: min(values.values()) for query, values in self.times.items() if values}

    @property
    def title(self) -> str:
        """The data set with its extent."""
        return f"{TITLES.get(self.group.data, self.group.data)}, {self.group.rows:,} rows"

    def common(self, pairs: Sequence[Configuration]) -> list[str]:
        """Return the queries that all of some pairs answered that answered any."""
        some = [each for each in pairs if any(each in values for values in self.times.values())]
        return [query for query, values in self.times.items() if all(each in values for each in some)]

    def sum(self, pair: Configuration, queries: Sequence[str]) -> float:
        """Return the sum of the times of a pair."""
        return sum(self.times[query][pair] for query in queries)

    def cost(self, pair: Configuration, metric: str) -> float:
        """Return a value of the saved files; NaN if it is missing."""
        return self.group.values(Measure(metric)).get(pair, math.nan)

    def summary(self) -> Block:
        pairs = self.pairs
        common = self.common(pairs)
        rows = []
        for pair in pairs:
            own = {query: values[pair] for query, values in self.times.items() if pair in values}
            ratios = [ratio_of(value, self.best[query]) for query, value in own.items()]
            mean = geometric_mean(ratios) if own else math.nan
            total = self.sum(pair, common) if own else math.nan
            costs = (self.cost(pair, "save CPU time"), self.cost(pair, "size") / 1e6)
            row = [
                _name(pair),
                f"{len(own)} of {len(self.times)}",
                f"{total * 1e3:,.0f}" if own else "",
                format_ratio(mean) if own else "",
                *(f"{each:,.{digits}f}" for each, digits in zip(costs, (2, 1), strict=True)),
            ]
            rows.append((math.isnan(mean), mean, row))
        text = (
            "Sum: of the queries that all pairs answered. Relative: geometric mean of (t + 1 ms) / "
            "(best + 1 ms)."
        )
        header = ["pair, track", "answered", "sum, CPU ms", "relative", "write, CPU s", "MB"]
        return Block(self.title, text, header, [row for *_, row in sorted(rows)])

    def tuning(self) -> Iterator[Block]:
        """Yield a table of the gains of tuning, by format and engine."""
        found: dict[str, dict[str, Configuration]] = {}
        for pair in self.pairs:
            found.setdefault(pair.format, {})[pair.track] = pair
        rows = []
        for label, tracks in found.items():
            if not {DEFAULTS, TUNED} <= tracks.keys():
                continue
            one, other = tracks[TUNED], tracks[DEFAULTS]
            ratios = {
                query: ratio_of(values[one], values[other])
                for query, values in self.times.items()
                if one in values and other in values
            }
            if ratios:
                costs = (
                    self.cost(one, each) / self.cost(other, each) for each in ("save CPU time", "size")
                )
                mean = format_ratio(geometric_mean([*ratios.values()]))
                rows.append([label, mean, *extremes(ratios), *map(format_ratio, costs)])
        if rows:
            header = ["pair", "geometric mean", "least", "most", "write", "size"]
            yield Block("Tuned by defaults", "", header, rows, level=3)

    def beside_published(self) -> Iterator[Block]:
        """Yield ratios of sums to DuckDB's on Parquet, published and measured."""
        pairs = {each.format: each for each in self.pairs if each.track == DEFAULTS}
        compared = [label for label in PUBLISHED if label in pairs]
        if self.group.data != "visits" or BASE not in compared or len(compared) == 1:
            return
        common = self.common([pairs[label] for label in compared])
        rows = []
        for label in compared:
            ends = zip(PUBLISHED[label], PUBLISHED[BASE], strict=True)
            cold, hot = (value / other for value, other in ends)
            own = self.sum(pairs[label], common) / (self.sum(pairs[BASE], common) or math.nan)
            texts = map(format_ratio, (cold, hot, own))
            rows.append([label, *texts, f"{(own / hot - 1) * 100:+.0f}%"])
        text = (
            "Sums of queries as ratios to DuckDB on Parquet: published over 43 queries, wall time on 16 "
            "cores, 100 million real rows of 105 columns (ClickBench at faa7e58, c6a.4xlarge); here "
            f"over {len(common)} questions, CPU time on one core. The deviation is that of the measured "
            "ratio from the published hot one. Three differences beside the data: with few rows, "
            "planning and opening weigh more than scans; CPU time on one core does not see how well an "
            "engine uses many; and ClickBench's DuckDB reads Vortex by an extension, here it is a data "
            "set of Arrow."
        )
        header = ["pair", "published cold", "published hot", "here, warm", "deviation"]
        yield Block("Beside ClickBench", text, header, rows, level=3)

    def details(self) -> Block:
        """Return the times of each query, the reasons of those that are missing below."""
        pairs, words = self.pairs, query_names(SUITE)
        reasons: dict[str, int] = {}
        rows = []
        for query, values in self.times.items():
            row = [f"{query}, {words[query].words}" if query in words else query]
            for pair in pairs:
                if pair in values:
                    text = f"{values[pair] * 1e3:,.1f}"
                    row.append(f"**{text}**" if values[pair] == self.best[query] else text)
                else:
                    cell = self.group.cell(pair, _cpu(query))
                    number = reasons.setdefault(cell.sentence, len(reasons) + 1)
                    row.append(f"{cell.status} [{number}]")
            rows.append(row)
        numbers = [f"{number}: {_name(pair)}" for number, pair in enumerate(pairs, 1)]
        return Block(
            "Each query, CPU ms",
            f"{'; '.join(numbers)}. **Bold** is the least of a query.",
            ["query", *(str(number) for number in range(1, len(pairs) + 1))],
            rows,
            notes=list(reasons),
            level=3,
        )


def _cpu(query: str) -> Measure:
    return Measure("query CPU time", "warm", query)


def _name(pair: Configuration) -> str:
    return f"{pair.format}, {pair.track}"
