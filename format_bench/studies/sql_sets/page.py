"""Page of measured query sets, beside the published sums of ClickBench."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from adapter_core.errors import InvalidResultsError
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import format_ratio
from format_bench.studies.sql_sets.sets import query_set
from format_bench.studies.sql_sets.trials import TRACKS, QuerySetResult

SHIFT_SECONDS = 1e-3
"""Added to both times of a ratio, so that the shortest queries do not decide; ClickBench adds 10 ms."""

_MEGA = 1e6

_HEAD = """\
# Query sets: TPC-H and web visits

Whole sets of SQL queries, asked by three engines from files of several formats. The statements are the
same for all engines (`format_bench/studies/sql_sets/*.toml`). Each pair of a format and an engine runs
in a fresh process on one CPU; a query is asked three times, and the median CPU time of the second and
third call counts, in ms; smaller is better, **bold** is the least of a query. Every answer is compared
with that of the first pair: floats agree within 1e-10 of them. A cell with a number in brackets has no
value; its sentence is below.

*defaults* are files as the library writes them unasked, with its own codec. *tuned* files are written
by `save_tuned`: rows sorted, statistics, filters or indexes for lookup columns; the writer knows
columns, no constants of queries.

- TPC-H: tables of tpchgen-cli, with floats for decimals and datetimes for dates; 22 queries after the
  specification of the TPC. These are no results of TPC-H, which are audited.
- Web visits: a generated table of 21 columns (ClickBench: 105 of real visits), and 43 questions of the
  kinds and in the order of ClickBench's, in our own words: its statements are not copied.
"""

PUBLISHED = {
    ("Parquet", "duckdb"): (118.0, 33.0),
    ("DuckDB", "duckdb"): (115.0, 26.0),
    ("Vortex", "duckdb"): (208.0, 41.0),
    ("Parquet", "datafusion"): (183.0, 46.0),
    ("Vortex", "datafusion"): (232.0, 91.0),
}
"""Sums over ClickBench's 43 queries in seconds, cold and hot, on a c6a.4xlarge with 16 cores:
github.com/ClickHouse/ClickBench at faa7e58, 100 million rows of 105 columns."""


def page(results: Sequence[QuerySetResult]) -> str:
    """Return the page in Markdown.

    Raises
    ------
    InvalidResultsError
        If results are missing.
    """
    if not results:
        raise InvalidResultsError("there are no results of query sets")
    lines = [_HEAD]
    by_set = sorted(results, key=lambda each: each.query_set)
    for name, group in groupby(by_set, key=lambda each: each.query_set):
        lines += _section(name, list(group))
    return "\n".join(lines).rstrip() + "\n"


def _section(name: str, results: list[QuerySetResult]) -> Iterator[str]:
    queries = query_set(name)
    scale = results[0].scale
    size = f"scale factor {scale:g}" if name == "tpch" else f"{scale * _MEGA:,.0f} rows"
    yield f"## {queries.title}, {size}\n"
    pairs = list(dict.fromkeys(each.pair for each in results))
    cells = {(each.pair, each.query): each for each in results}
    asked = [query for query in queries.by_name if any(each.query == query for each in results)]
    best = {
        query: min(
            (each.cpu_seconds for each in results if each.query == query and not each.reason),
            default=math.nan,
        )
        for query in asked
    }
    yield (
        "Sum: of the queries that all pairs answered. Relative: geometric mean of (t + 1 ms) / "
        "(best + 1 ms).\n"
    )
    yield from _summary(pairs, asked, cells, best)
    yield ""
    yield from _tuning(results)
    if name == "visits":
        yield from _beside_published(pairs, asked, cells)
    yield "### Each query, CPU ms\n"
    yield from _details(pairs, asked, cells, best)


Cells = dict[tuple[str, str], QuerySetResult]


def _summary(pairs: list[str], asked: list[str], cells: Cells, best: dict[str, float]) -> Iterator[str]:
    common = _common(pairs, asked, cells)
    rows = []
    for pair in pairs:
        found = [cells[pair, query] for query in asked if (pair, query) in cells]
        good = [each for each in found if not each.reason]
        ratios = [
            (each.cpu_seconds + SHIFT_SECONDS) / (best[each.query] + SHIFT_SECONDS) for each in good
        ]
        relative = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
        total = sum(cells[pair, query].cpu_seconds for query in common) if good else math.nan
        rows.append(
            (
                relative,
                [
                    pair,
                    f"{len(good)} of {len(asked)}",
                    f"{total * 1e3:,.0f}" if good else "",
                    format_ratio(relative) if good else "",
                    f"{found[0].write_seconds:.2f}",
                    f"{found[0].file_bytes / _MEGA:,.1f}",
                ],
            )
        )
    header = ["pair, track", "answered", "sum, CPU ms", "relative", "write, CPU s", "MB"]
    rows.sort(key=lambda row: (math.isnan(row[0]), row[0]))
    yield from table_lines(header, [row for _, row in rows])


def _common(pairs: list[str], asked: list[str], cells: Cells) -> list[str]:
    """Return the queries that all pairs answered that answered any."""
    some = [p for p in pairs if any((p, q) in cells and not cells[p, q].reason for q in asked)]
    return [q for q in asked if all((p, q) in cells and not cells[p, q].reason for p in some)]


def _tuning(results: list[QuerySetResult]) -> Iterator[str]:
    """Yield a table of the gains of tuning, by format and engine."""
    found: dict[str, dict[str, dict[str, QuerySetResult]]] = {}
    for each in results:
        label = f"{each.format}[{each.engine}]"
        found.setdefault(label, {}).setdefault(each.query, {})[each.track] = each
    rows = []
    for label, queries in found.items():
        both = [
            tracks
            for tracks in queries.values()
            if len(tracks) == len(TRACKS) and not any(each.reason for each in tracks.values())
        ]
        if not both:
            continue
        ratios = {
            each["tuned"].query: (each["tuned"].cpu_seconds + SHIFT_SECONDS)
            / (each["defaults"].cpu_seconds + SHIFT_SECONDS)
            for each in both
        }
        least, most = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        defaults, tuned = both[0]["defaults"], both[0]["tuned"]
        rows.append(
            [
                label,
                format_ratio(mean),
                f"{format_ratio(ratios[least])} ({least})",
                f"{format_ratio(ratios[most])} ({most})",
                format_ratio(tuned.write_seconds / defaults.write_seconds),
                format_ratio(tuned.file_bytes / defaults.file_bytes),
            ]
        )
    if rows:
        yield "### Tuned by defaults\n"
        header = ["pair", "geometric mean", "least", "most", "write", "size"]
        yield from table_lines(header, rows)
        yield ""


def _beside_published(pairs: list[str], asked: list[str], cells: Cells) -> Iterator[str]:
    """Yield ratios of sums to DuckDB's on Parquet, published and measured."""

    def total(key: tuple[str, str]) -> float:
        pair = f"{key[0]}[{key[1]}], defaults"
        found = [cells.get((pair, query)) for query in common]
        return sum(each.cpu_seconds for each in found if each) or math.nan

    compared = [key for key in PUBLISHED if f"{key[0]}[{key[1]}], defaults" in pairs]
    base = ("Parquet", "duckdb")
    if base not in compared or len(compared) == 1:
        return
    common = _common([f"{key[0]}[{key[1]}], defaults" for key in compared], asked, cells)
    rows = []
    for key in compared:
        cold, hot = (value / other for value, other in zip(PUBLISHED[key], PUBLISHED[base], strict=True))
        own = total(key) / total(base)
        deviation = f"{(own / hot - 1) * 100:+.0f}%"
        cells_of = [f"{key[0]}[{key[1]}]", *map(format_ratio, (cold, hot, own)), deviation]
        rows.append(cells_of)
    yield "### Beside ClickBench\n"
    yield (
        "Sums of queries as ratios to DuckDB on Parquet: published over 43 queries, wall time on 16 "
        "cores, 100 million real rows of 105 columns (ClickBench at faa7e58, c6a.4xlarge); here over "
        f"{len(common)} questions, CPU time on one core. The deviation is that of the measured ratio "
        "from the published hot one. Three differences beside the data: with few rows, planning and "
        "opening weigh more than scans; CPU time on one core does not see how well an engine uses many; "
        "and ClickBench's DuckDB reads Vortex by an extension, here it is a data set of Arrow.\n"
    )
    header = ["pair", "published cold", "published hot", "here, warm", "deviation"]
    yield from table_lines(header, rows)
    yield ""


def _details(pairs: list[str], asked: list[str], cells: Cells, best: dict[str, float]) -> Iterator[str]:
    notes: dict[str, int] = {}
    words = query_set(next(iter(cells.values())).query_set).by_name
    numbers = {pair: str(place) for place, pair in enumerate(pairs, 1)}
    yield "; ".join(f"{number}: {pair}" for pair, number in numbers.items()) + ".\n"
    rows = []
    for query in asked:
        row = [f"{query}, {words[query]}"]
        for pair in pairs:
            each = cells.get((pair, query))
            if each is None:
                row.append("")
            elif each.reason:
                number = notes.setdefault(each.reason, len(notes) + 1)
                row.append(f"failed [{number}]")
            else:
                text = f"{each.cpu_seconds * 1e3:,.1f}"
                row.append(f"**{text}**" if each.cpu_seconds == best[query] else text)
        rows.append(row)
    yield from table_lines(["query", *numbers.values()], rows)
    yield ""
    for reason, number in notes.items():
        yield f"{number}. {reason}"
    yield ""
