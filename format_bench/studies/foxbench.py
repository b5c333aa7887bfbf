"""Study of FoxBench: its published tables beside measured results, and the cost of its stacks.

Osterthun and Pohl (FoxBench, 2025) ask forty queries of a year of ERA5 in NetCDF4, Zarr, TileDB and
TensorStore, and compare sizes with Parquet and CSV. Most of their stacks read through xarray.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

import click

from adapter_core.errors import InvalidResultsError, NoCommonCellsError
from format_bench.comparison import Comparison, compare
from format_bench.display.markdown import table_lines
from format_bench.display.text import format_ratio, joined, plural, quantity
from format_bench.report.losses_and_gaps import rows_of_gaps
from format_bench.report.model import SuiteResults, results_of_suite
from format_bench.report.queries import query_names, query_tables
from format_bench.results.load import Results, load
from format_bench.results.metrics import Measure
from format_bench.results.published import foxbench
from format_bench.results.status import WRONG

if TYPE_CHECKING:
    from format_bench.report.queries import QueryTable
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ComparisonGroup


EXPLANATIONS: dict[str, str] = {
    "TileDB[xarray]": (
        "TileDB-CF's engine opens the array anew in each query, and opening reads the metadata of each "
        "fragment, the unit of writing. Tried with a point query on a week of the 1-degree grid: 2 ms "
        "where they are merged, as here, 33 ms with 168 fragments, 313 ms with one for each of 2,688 "
        "tiles. So the published 0.9 s is probably that of many fragments, and not of TileDB."
    ),
    "Zarr.dir[xarray]": (
        "A map of a day has 5,400 chunks of 1 x 50 x 100 values: the published 80 ms (Q26) are 15 µs a "
        "chunk. zarr-python takes 370 µs a chunk here, mostly its own bookkeeping, and TensorStore 21 "
        "µs. Published times also hardly grow from an hour to a day at a place, 24 times the chunks. So "
        "the published array probably had larger chunks than its text has."
    ),
}
"""Reasons of disagreements with the published tables, by stack.

Each is printed once, if a disagreement of its stack is among the largest of the results.
"""

WARM, COLD = Measure("query time", "warm"), Measure("query time", "cold")
SIZE = Measure("size")

VERIFIED = "all equal to NumPy's"
"""End of the remark on a compared answer."""

# The data sets with both variables; of several the first that was measured counts.
_BOTH = (("era5-hourly", "era5-hourly-soil"), ("era5-hourly-1deg", "era5-hourly-soil-1deg"))

_LARGEST = 3

_HEAD = """\
# FoxBench: published and measured

Osterthun and Pohl (FoxBench, 2025) ask forty queries of a year of ERA5: two variables, hourly, at 0.25
degrees. Their stacks: Zarr through xarray, NetCDF4 through xarray and h5netcdf, TileDB through xarray
and TileDB-CF, and TensorStore. The data here are generated. The track `paper` has the published chunks,
1 x 50 x 100 values with LZ4; the track `best` has larger ones, of several hours. All numbers are those
of the results, and smaller is better.
Made by `format-bench study foxbench`.
"""


def page(results: Results) -> str:
    """Return the page in Markdown.

    Raises
    ------
    InvalidResultsError
        If the results have no value of a query of the suite.
    """
    suite = results_of_suite(results, foxbench.SUITE)
    tables = [each for group in suite.groups for each in query_tables(group)]
    if not any(each.means for each in tables):
        raise InvalidResultsError(f"{results.name} has no answers of the suite {foxbench.SUITE}")
    parts = [
        _HEAD,
        *_extent(suite),
        *_published(results),
        *_storage(suite),
        *_ranking(tables),
        *_traps(tables),
        *_tracks(suite, tables),
        *_left_out(suite),
    ]
    return "\n".join(parts) + "\n"


def _extent(suite: SuiteResults) -> Iterator[str]:
    yield "## Measured\n"
    rows = []
    answered = verified = wrong = 0
    for group in suite.groups:
        cells = [
            (configuration, measure.query, cell)
            for (configuration, measure), cell in group.cells.items()
            if measure.metric == WARM.metric
        ]
        valued = {(each, query) for each, query, cell in cells if cell.value is not None}
        stacks = {each.format for each, _ in valued}
        queries = {query for _, query in valued}
        rows.append(
            [group.dataset, f"{group.rows:,}", *(f"{len(each):,}" for each in (stacks, queries))]
        )
        rows[-1].append(f"{len(valued):,}")
        answered += len(valued)
        verified += len(
            {(each, query) for each, query, cell in cells if cell.sentence.endswith(VERIFIED)}
        )
        wrong += len({(each, query) for each, query, cell in cells if WRONG in cell.sentence})
    header = ["data set", "hours", "stacks", "queries", "answers"]
    yield from table_lines(header, rows, alignment="lrrrr")
    yield (
        f"\nAn answer is that of one stack on one track to one query. Of {answered:,} answers "
        f"{verified:,} were compared with the generated values and equal to them, bit by bit; "
        f"{plural(wrong, 'answer')} came back wrong.\n"
    )


def _published(results: Results) -> Iterator[str]:
    yield "## Beside the published times\n"
    try:
        found = compare(load("foxbench"), results)
    except NoCommonCellsError:
        yield "The results have no value of a published cell: other data sets, stacks or queries.\n"
        return
    sizes = sorted({(each.pair.dataset.rows_a, each.pair.dataset.rows_b) for each in found.ratios})
    extent = joined([f"{a:,} hours published and {b:,} here" for a, b in sizes])
    yield (
        f"{extent or 'Different hours'}: only queries answered in both count. Warm reads are "
        "compared; the published tables do not record the state of the page cache. 1 is the same "
        "order of the queries, -1 the opposite.\n"
    )
    rows = [
        [
            each.measure.metric,
            each.configuration.format if each.configuration else "**all stacks**",
            str(each.cells),
            *("-" if number is None else f"{number:.2f}" for number in each[-2:]),
        ]
        for each in found.query_agreements
    ]
    header = ["rank correlation of", "stack", "cells", "Spearman", "Kendall tau-b"]
    yield from table_lines(header, rows, alignment="llrrr")
    yield ""
    yield from _over_stacks(found)
    yield from _disagreements(found)


def _over_stacks(found: Comparison) -> Iterator[str]:
    numbers: dict[str, list[float]] = {}
    stacks: dict[str, int] = {}
    for each in found.agreements:
        if each.measure.query and each.dataset and each.spearman is not None:
            numbers.setdefault(each.measure.metric, []).append(each.spearman)
            stacks[each.measure.metric] = max(stacks.get(each.measure.metric, 0), each.cells)
    for metric, values in numbers.items():
        yield (
            f"- Order of {stacks[metric]} stacks by {metric}: Spearman {median(values):.2f} in the "
            f"median of {len(values)} queries, from {min(values):.2f} to {max(values):.2f}."
        )
    yield ""


def _disagreements(found: Comparison) -> Iterator[str]:
    names = query_names(foxbench.SUITE)
    groups: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for each in found.query_disagreements:
        pair = each.pair
        key = pair.measure.metric, pair.configuration.format, names[pair.measure.query].heading
        places = math.log(each.relative_a), math.log(each.relative_b)
        groups.setdefault(key, []).append(places)
    means = {
        key: (fmean(a for a, _ in places), fmean(b for _, b in places)) for key, places in groups.items()
    }
    largest = sorted(means, key=lambda key: -abs(means[key][1] - means[key][0]))[:_LARGEST]
    if largest:
        yield "### Largest disagreements\n"
        yield "Places are relative to the geometric mean of the common stacks in each query.\n"
    for number, key in enumerate(largest, start=1):
        metric, stack, heading = key
        a, b = (format_ratio(math.exp(each)) for each in means[key])
        numbers = plural(len(groups[key]), "cell")
        yield (
            f"{number}. **{stack}, {metric}, {heading}**: {a} times the mean published, {b} times here "
            f"({numbers})."
        )
    yield ""
    stacks = dict.fromkeys(stack for _, stack, _ in largest)
    yield from (f"{each}: {EXPLANATIONS[each]}\n" for each in stacks if each in EXPLANATIONS)


def _storage(suite: SuiteResults) -> Iterator[str]:
    """Yield the sizes of both variables beside the published ones, as ratios to Zarr."""
    yield "## Storage\n"
    zarr = foxbench.FORMATS["Zarr"]
    hours, own = _sizes_of_both(suite, zarr)
    reference = own.get(zarr)
    if not reference:
        yield f"No size of both variables in {zarr} was measured.\n"
        return
    duration = min(foxbench.HOURS, key=lambda each: abs(foxbench.HOURS[each] - hours))
    published = {
        each.format: each.value or 0
        for each in foxbench.records()
        if each.metric == "size" and each.rows == foxbench.HOURS[duration]
    }
    yield (
        f"Both variables together, {hours:,} hours here, the {duration} published; ratios are to "
        "Zarr. The deviation is that of the ratios.\n"
    )
    rows = []
    for label in foxbench.FORMATS.values():
        is_family = "[" not in label
        mine = [each for each in own if each == label or (is_family and _base(each) == label)]
        theirs = published.get(label)
        ratio = theirs / published[zarr] if theirs else None
        for each in mine or [""]:
            here = own[each] / reference if each else None
            deviation = f"{here / ratio - 1:+.0%}" if here and ratio else "-"
            rows.append(
                [
                    each or label,
                    quantity(theirs, "bytes") if theirs else "-",
                    format_ratio(ratio) if ratio else "-",
                    quantity(own[each], "bytes") if each else "not measured",
                    format_ratio(here) if here else "-",
                    deviation,
                ]
            )
    header = ["format", "published", "ratio", "here", "ratio", "deviation"]
    yield from table_lines(header, rows, alignment="lrrrrr")
    yield ""


def _sizes_of_both(suite: SuiteResults, reference: str) -> tuple[int, dict[str, float]]:
    """Return the largest number of hours at which a format has both sizes, and their sums by format."""
    for names in _BOTH:
        found: dict[int, list[ComparisonGroup]] = {}
        for group in suite.groups:
            if group.dataset in names:
                found.setdefault(group.rows, []).append(group)
        complete = [hours for hours, groups in found.items() if len(groups) == len(names)]
        for hours in sorted(complete, reverse=True):
            one, other = (_paper_sizes(group) for group in found[hours])
            both = {label: one[label] + other[label] for label in one if label in other}
            if reference in both:
                return hours, both
    return 0, {}


def _paper_sizes(group: ComparisonGroup) -> dict[str, float]:
    return {
        each.format: value
        for each, value in group.values(SIZE).items()
        if each.track in {foxbench.TRACK, ""}
    }


def _base(label: str) -> str:
    return re.split(r"[.\[]", label, maxsplit=1)[0]


def _ranking(tables: list[QueryTable]) -> Iterator[str]:
    yield "## Ranking\n"
    yield (
        "Geometric mean, over the queries, of the time relative to the best stack of the same "
        "track. A number in brackets is over fewer queries, since some have no value, and "
        "compares with none.\n"
    )
    shown = [each for each in tables if each.measure in (WARM, COLD)]
    header = ["stack", *(_column(each) for each in shown)]
    stacks = sorted({row.format for each in shown for row in each.ranked}, key=str.casefold)
    rows = []
    for stack in stacks:
        cells = []
        for table in shown:
            row = next((each for each in table.means if each.format == stack), None)
            text = format_ratio(table.means[row].value) if row else "-"
            if row and table.complete[:1] == [row]:
                text = f"**{text}**"
            cells.append(text if row is None or row in table.complete else f"({text})")
        rows.append([stack, *cells])
    yield from table_lines(header, rows)
    yield ""


def _column(table: QueryTable) -> str:
    parts = [table.group.name, table.track, table.measure.cache or ""]
    return ", ".join(filter(None, parts))


def native_of(label: str) -> str | None:
    """Return the stack without xarray, e.g. "TileDB" for "TileDB[xarray]"; None for one that is."""
    base, _, engine = label.removesuffix("]").partition("[")
    if engine == "xarray":
        return base
    rest = engine.removeprefix("xarray-")
    return f"{base}[{rest}]" if engine and rest != engine else None


def _traps(tables: list[QueryTable]) -> Iterator[str]:
    yield "## Cost of xarray\n"
    yield (
        "Warm query time through xarray by that of the same store without it: the median over the "
        "queries of an area, and the range.\n"
    )
    shown = [each for each in tables if each.measure == WARM]
    headings = list(dict.fromkeys(heading for each in shown for heading, _ in each.runs))
    rows = []
    for table in shown:
        by_format = {each.format: each for each in table.ranked}
        for label in sorted(by_format, key=str.casefold):
            native = by_format.get(native_of(label) or "")
            if native:
                factors = _factors(table, by_format[label], native)
                cells = {
                    heading: [factors[query] for query in queries if query in factors]
                    for heading, queries in table.runs
                }
                texts = [_spread(cells.get(heading, [])) for heading in headings]
                rows.append([f"{label} / {native.format}", table.group.name, table.track, *texts])
    header = ["stacks", "data set", "track", *headings]
    yield from table_lines(header, sorted(rows), alignment="lll" + "r" * len(headings))
    yield ""


def _factors(table: QueryTable, one: Configuration, other: Configuration) -> dict[str, float]:
    """Return the ratios of one configuration's values to another's, of the queries that both answer."""
    found = {}
    for query in table.queries:
        a, b = table.cell(one, query).value, table.cell(other, query).value
        if a and b:
            found[query] = a / b
    return found


def _spread(factors: list[float]) -> str:
    """Return the median of factors and their range, e.g. "3.1 (2.0 to 9.5)"."""
    if not factors:
        return "-"
    middle, low, high = (f"{each:.3g}" for each in (median(factors), min(factors), max(factors)))
    return middle if low == high else f"{middle} ({low} to {high})"


def _tracks(suite: SuiteResults, tables: list[QueryTable]) -> Iterator[str]:
    yield "## Published chunks beside better ones\n"
    yield (
        "Values on the track `paper` by those on the track `best`: the geometric mean over the "
        "queries and their range, and the size. Above 1, the better chunks pay.\n"
    )
    rows = []
    for group in suite.groups:
        own = [each for each in tables if each.group is group]
        by_format: dict[str, dict[str, Configuration]] = {}
        for each in group.configurations:
            by_format.setdefault(each.format, {})[each.track] = each
        sizes = group.values(SIZE)
        for label, tracks in sorted(by_format.items(), key=lambda item: item[0].casefold()):
            if {"paper", "best"} <= tracks.keys():
                paper, best = tracks["paper"], tracks["best"]
                texts = [_gain(own, measure, paper, best) for measure in (WARM, COLD)]
                is_known = paper in sizes and best in sizes
                size = format_ratio(sizes[paper] / sizes[best]) if is_known else "-"
                rows.append([label, group.name, *texts, size])
    if rows:
        header = ["stack", "data set", "warm", "cold", "size"]
        yield from table_lines(header, rows, alignment="llrrr")
    else:
        yield "No stack was measured on both tracks."
    yield ""


def _gain(tables: list[QueryTable], measure: Measure, paper: Configuration, best: Configuration) -> str:
    by_track = {each.track: each for each in tables if each.measure == measure}
    if not {"paper", "best"} <= by_track.keys():
        return "-"
    factors = []
    for query in by_track["paper"].queries:
        a, b = by_track["paper"].cell(paper, query).value, by_track["best"].cell(best, query).value
        if a and b:
            factors.append(a / b)
    if not factors:
        return "-"
    mean = math.exp(fmean(map(math.log, factors)))
    low, high = (f"{each:.3g}" for each in (min(factors), max(factors)))
    return f"{mean:.3g} ({low} to {high})"


def _left_out(suite: SuiteResults) -> Iterator[str]:
    yield "## Left out\n"
    rows = [row[1:] for row in rows_of_gaps([suite])]
    if rows:
        yield from table_lines(
            ["stack", "data sets", "cells", "status", "reason"], rows, alignment="lllll"
        )
    else:
        yield "Every cell has a value."
    most = max(group.rows for group in suite.groups)
    longer = [each for each, hours in foxbench.HOURS.items() if hours > most]
    if longer:
        names = joined(longer, most=None)
        yield f"\nSizes of the paper that were not measured, with the queries of that length: {names}."


@click.command
@click.argument("results", type=click.Path(path_type=Path))
def command(results: Path) -> None:
    """Compare results with the published tables of FoxBench.

    RESULTS is a folder or file of results of the suite `foxbench`. Prints a Markdown page: rank
    correlations, the largest disagreements, sizes, the cost of xarray, and the gain of better chunks.

    \b
    Example:
      format-bench run --suite foxbench --datasets era5-hourly,era5-hourly-soil --rows 168 --cold \\
          --out reports/foxbench
      format-bench study foxbench reports/foxbench > docs/foxbench.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(page(load(results)), nl=False)
