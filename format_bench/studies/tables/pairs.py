"""Pairs of a format and an engine by question, from results of the suite `query`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import query_engines
from adapter_core.adapter import engine_of
from adapter_core.errors import InvalidResultsError
from adapter_core.query_sql import sql
from format_bench.families.queries.operations import DEFAULTS, FAMILY, TUNED, QueryOperations
from format_bench.families.questions import declared
from format_bench.report.queries import QueryTable, tracks_of
from format_bench.results.candidates import Configuration
from format_bench.results.conditions import threads_in_words
from format_bench.results.display.text import format_ratio, quantity
from format_bench.results.groups import ComparisonGroup
from format_bench.results.metrics import Measure
from format_bench.results.suites import SUITES
from format_bench.studies.declared.blocks import Block, Context

SUITE = "query"
WALL, CPU = "query time", "query CPU time"

# Rows of the table whose queries are printed as SQL.
_SQL_ROWS = 1000
# Longest SQL text that is printed whole.
_SQL_LENGTH = 160
_LEADERS = 3


@dataclass(frozen=True)
class Answers:
    """The warm results of one data set, size, thread policy and track."""

    group: ComparisonGroup
    metric: str
    """`WALL` or `CPU`."""
    track: str = ""
    """Empty in results without tracks."""

    @cached_property
    def table(self) -> QueryTable:
        """The values, and the ranking by them."""
        names = [name for name in declared(FAMILY).to().by_name if self._answered(name)]
        return QueryTable(self.group, self.track, Measure(self.metric, "warm"), names)

    def _answered(self, name: str) -> bool:
        return bool(self.values(name))

    def values(self, name: str) -> dict[Configuration, float]:
        """Return the values of a question, the smallest first."""
        return self.costs(Measure(self.metric, "warm", name))

    def costs(self, measure: Measure) -> dict[Configuration, float]:
        """Return the values of a measure on the track, the smallest first."""
        values = self.group.values(measure)
        found = {each: value for each, value in values.items() if each.track == self.track}
        return dict(sorted(found.items(), key=lambda item: item[1]))

    @property
    def formats(self) -> list[str]:
        """The formats with an answer, by the ranking of their best engines."""
        return list(dict.fromkeys(format_of(each) for each in self.table.ranked if self._has(each)))

    @property
    def engines(self) -> list[str]:
        """The engines with an answer, by the ranking of their best formats."""
        return list(
            dict.fromkeys(engine_of(each.format) for each in self.table.ranked if self._has(each))
        )

    def _has(self, each: Configuration) -> bool:
        return each in self.table.means

    @property
    def title(self) -> str:
        """The data set with its extent, and the track."""
        track = f", track {self.track}" if self.track else ""
        return f"{extent_of(self.group)}{track}"


def extent_of(group: ComparisonGroup) -> str:
    """Return the data set of a group with its extent."""
    threads = threads_in_words(group.threads)
    return f"{group.dataset}, {group.rows:,} rows, {threads}"


def format_of(configuration: Configuration) -> str:
    """Return the format of a pair, "Parquet" for "Parquet[duckdb]"."""
    return configuration.format.rpartition("[")[0]


def answers(context: Context, cpu: str) -> Iterator[Block]:
    """Yield the tables of each data set and track.

    Parameters
    ----------
    context : Context
        Results of the suite.
    cpu : str
        "True" for CPU times.

    Raises
    ------
    InvalidResultsError
        If the results have no warm answer.
    """
    metric = CPU if cpu == "True" else WALL
    suite = context.numbers.suite
    found = [Answers(each, metric, track) for each in suite.groups for track in tracks_of(each)]
    found = [each for each in found if each.table.means]
    if not found:
        raise InvalidResultsError(
            f"{context.results.name} has no warm answers of the suite {suite.name}"
        )
    for each in found:
        yield from (_leaders(each), _formats(each))
    yield _extent(found, metric)
    for each in found:
        yield from (_ranking(each), _times(each), *_cold(each))
    for group in suite.groups:
        tracks = {each.track: each for each in found if each.group is group}
        if {DEFAULTS, TUNED} <= tracks.keys():
            yield from _both_tracks(tracks[DEFAULTS], tracks[TUNED])


def _extent(found: list[Answers], metric: str) -> Block:
    rows = []
    for each in found:
        pairs = [pair for pair in each.table.ranked if pair in each.table.means]
        answers = sum(mean.queries for mean in each.table.means.values())
        numbers = (len(pairs), len(each.formats), len(each.engines), len(each.table.queries), answers)
        rows.append([each.title, *(f"{number:,}" for number in numbers)])
    header = ["data", "pairs", "formats", "engines", "questions", "answers, all equal"]
    kind = "CPU time of all threads of the process" if metric == CPU else "Wall time"
    text = (
        f"{kind}, medians of answers to an open file in the page cache. A ratio is (t + 1 ms) / "
        "(best + 1 ms), so that times near the clock's resolution do not decide."
    )
    return Block("Measured", text, header, rows)


def _leaders(found: Answers) -> Block:
    """Return the fastest pairs of each question."""
    rows = []
    for name in found.table.queries:
        values = found.values(name)
        first = next(iter(values))
        others = list(values)[1:_LEADERS]
        on_parquet = [each for each in values if format_of(each) == "Parquet"]
        ratios = found.table.ratios[name]
        rows.append(
            [
                f"{name}: {declared(FAMILY).to().by_name[name]}",
                f"{first.format} {quantity(values[first], 'seconds')}",
                ", ".join(f"{each.format} {format_ratio(ratios[each])}" for each in others) or "-",
                _with_time(on_parquet[:1], values),
                f"{len(values)}",
                _with_ratio(list(values)[-1:], ratios),
            ]
        )
    header = ["question", "fastest", "then, times the fastest", "fastest on Parquet", "pairs", "slowest"]
    return Block(f"Which engine for which question: {found.title}", "", header, rows, alignment="llllrl")


def _with_time(pairs: list[Configuration], values: dict[Configuration, float]) -> str:
    return ", ".join(f"{each.format} {quantity(values[each], 'seconds')}" for each in pairs) or "-"


def _with_ratio(pairs: list[Configuration], ratios: dict[Configuration, float]) -> str:
    return ", ".join(f"{each.format} {format_ratio(ratios[each])}" for each in pairs)


def _formats(found: Answers) -> Block:
    """Return the ratios of each format, by its best engine, for each kind of question."""
    text = (
        "Each format with its fastest engine for each question, by the fastest of all: the geometric "
        "mean over the questions of a kind, and the engine that was fastest most often. A number in "
        "brackets counts the questions without an answer."
    )
    kinds: dict[str, list[str]] = {}
    for name in found.table.queries:
        kinds.setdefault(declared(FAMILY).to().by_name[name].heading or name, []).append(name)
    rows = []
    for label in found.formats:
        cells = [_kind_cell(found, label, names) for names in kinds.values()]
        rows.append([label, *cells])
    title = f"Which format for which question: {found.title}"
    return Block(title, text, ["format", *kinds], rows, alignment="l" + "l" * len(kinds))


def _kind_cell(found: Answers, label: str, names: list[str]) -> str:
    best: list[tuple[float, str]] = []
    for name in names:
        own = [
            (ratio, engine_of(each.format))
            for each, ratio in found.table.ratios[name].items()
            if format_of(each) == label
        ]
        if own:
            best.append(min(own))
    if not best:
        return "-"
    engines = [engine for _, engine in best]
    most = max(dict.fromkeys(engines), key=engines.count)
    lacking = len(names) - len(best)
    return f"{_mean(ratio for ratio, _ in best)} {most}" + (f" ({lacking})" if lacking else "")


def _mean(ratios: Iterable[float]) -> str:
    return format_ratio(math.exp(fmean(map(math.log, ratios))))


def _ranking(found: Answers) -> Block:
    """Return the pairs by the geometric mean of their ratios."""
    table = found.table
    text = (
        "By the geometric mean of the ratios to the fastest answer of each question. Pairs that do not "
        "answer all questions are below the others, since they lack different ones."
    )
    rows = [
        [
            f"{place}",
            each.format,
            format_ratio(table.means[each].value),
            f"{table.means[each].queries} of {len(table.queries)}",
            f"{sum(next(iter(found.values(name))) == each for name in table.queries)}",
        ]
        for place, each in enumerate((pair for pair in table.ranked if pair in table.means), start=1)
    ]
    header = ["place", "pair", "mean ratio", "answered", "fastest"]
    return Block(f"All pairs: {found.title}", text, header, rows, alignment="rlrrr", fold=True)


def _times(found: Answers) -> Block:
    rows = []
    for each in (pair for pair in found.table.ranked if pair in found.table.means):
        cells = [found.table.cell(each, name).value for name in found.table.queries]
        texts = ["-" if value is None else quantity(value, "seconds") for value in cells]
        rows.append([each.format, *texts])
    return Block(f"Times: {found.title}", "", ["pair", *found.table.queries], rows, level=3, fold=True)


def _cold(found: Answers) -> Iterator[Block]:
    """Yield the cold answers of each question, if there are any, with the bytes that they brought in."""
    rows = []
    for name in found.table.queries:
        times = found.costs(Measure(WALL, "cold", name))
        fetched = found.costs(Measure("query bytes", "cold", name))
        if not times or not fetched:
            continue
        first, least = next(iter(times)), next(iter(fetched))
        rows.append(
            [
                name,
                f"{first.format} {quantity(times[first], 'seconds')}",
                quantity(fetched[first], "bytes") if first in fetched else "-",
                f"{least.format} {quantity(fetched[least], 'bytes')}",
                f"{len(times)}",
            ]
        )
    if not rows:
        return
    text = (
        "Wall time of opening and answering in a fresh process, imports excluded, from a file that is "
        "proven out of the page cache; and the bytes that storage fetched for it, read-ahead included."
    )
    header = ["question", "fastest", "it fetches", "fetches least", "pairs"]
    yield Block(f"Cold: {found.title}", text, header, rows, alignment="llrlr", level=3)


def _both_tracks(defaults: Answers, tuned: Answers) -> Iterator[Block]:
    """Yield the costs and gains of tuning, of the pairs with both tracks."""
    text = (
        "The pairs that were measured on both tracks. The mean is the geometric mean of (tuned + 1 ms) "
        "/ (defaults + 1 ms): below 1, tuning pays. Formats without a tuned file of this data set are "
        "among the cells [left out](#left-out)."
    )
    ratios = _ratios_of_tracks(defaults, tuned)
    by_pair: dict[str, dict[str, float]] = {}
    for name, found in ratios.items():
        for label, ratio in found.items():
            by_pair.setdefault(label, {})[name] = ratio
    rows = [
        [
            label,
            *(
                _cost(each, label, metric)
                for metric in ("save time", "size")
                for each in (defaults, tuned)
            ),
            _mean(found.values()),
            *_extremes(found),
        ]
        for label, found in sorted(
            by_pair.items(), key=lambda item: fmean(map(math.log, item[1].values()))
        )
    ]
    costs = [f"{what}, {track}" for what in ("save", "size") for track in (DEFAULTS, TUNED)]
    title = f"Tuned beside defaults: {extent_of(defaults.group)}"
    yield Block(title, text, ["pair", *costs, "mean", "least", "most"], rows)
    rows = [
        [
            name,
            *(_with_time([*each.values(name)][:1], each.values(name)) for each in (defaults, tuned)),
            _mean(found.values()),
            *_extremes(found),
        ]
        for name, found in ratios.items()
    ]
    header = ["question", f"fastest, {DEFAULTS}", f"fastest, {TUNED}", "mean", "least", "most"]
    yield Block(header=header, rows=rows, alignment="lllrll")


def _ratios_of_tracks(defaults: Answers, tuned: Answers) -> dict[str, dict[str, float]]:
    """Return tuned by defaults of each question, by the label of the pair."""
    shift = SUITES[SUITE].ratio_shift_seconds
    found: dict[str, dict[str, float]] = {}
    for name in defaults.table.queries:
        usual = {each.format: value for each, value in defaults.values(name).items()}
        ratios = {
            each.format: (value + shift) / (usual[each.format] + shift)
            for each, value in tuned.values(name).items()
            if each.format in usual
        }
        if ratios:
            found[name] = ratios
    return found


def _cost(found: Answers, label: str, metric: str) -> str:
    own = [value for each, value in found.costs(Measure(metric)).items() if each.format == label]
    return quantity(own[0], Measure(metric).unit) if own else "-"


def _extremes(ratios: Mapping[str, float]) -> tuple[str, str]:
    least, most = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    return f"{format_ratio(ratios[least])} {least}", f"{format_ratio(ratios[most])} {most}"


def questions(context: Context) -> Iterator[Block]:
    """Yield the questions to the data set `query`, as SQL, and those to records."""
    del context
    text = (
        f"To the data set `query` of {_SQL_ROWS:,} rows; constants of larger tables differ. `field` is "
        "asked to `query-nested`. Very long texts are cut short. `row` is the number of a row from 0, "
        "for which engines have other words."
    )
    found = QueryOperations.generate("query", _SQL_ROWS).facts.asked
    of_records = QueryOperations.generate("query-nested", 1).facts.asked
    rows = []
    for name, question in declared(FAMILY).to().by_name.items():
        query = of_records["field"] if name == "field" else found[name]
        if isinstance(query, str):
            shown = f"not asked: {query}"
        elif query.shape:
            shown = "the metadata"
        else:
            shown = f"`{_short(sql(query, positions='row'))}`"
        rows.append([name, str(question), shown])
    yield Block("", text, ["name", "question", "SQL"], rows, alignment="lll", fold=True)


def _short(text: str) -> str:
    return text if len(text) <= _SQL_LENGTH else f"{text[:_SQL_LENGTH]} ..."


def engines(context: Context) -> Iterator[Block]:
    """Yield the query engines with the work that each does itself."""
    del context
    rows = []
    for engine in query_engines.engines():
        notes = "; ".join(f"{label}: {note}" for label, note in engine.notes.items())
        done = ", ".join(sorted(part.value for part in engine.does))
        rows.append(
            [engine.label, ", ".join(engine.reads), done, engine.finished_by or "-", notes or "-"]
        )
    header = ["engine", "formats", "does itself", "the rest by", "notes"]
    yield Block(header=header, rows=rows, alignment="lllll")
