"""Two results side by side: tables and sentences on a terminal, or JSON."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import click

from adapter_core.errors import UnknownNameError
from format_bench.cli.options import load_source
from format_bench.comparison import (
    Agreement,
    Comparison,
    Disagreement,
    PairedDataset,
    QueryDisagreement,
    Ratio,
    Significance,
    compare,
)
from format_bench.results import published
from format_bench.results.display import terminal
from format_bench.results.display.text import format_ratio, joined, quantity
from format_bench.results.groups import query_order
from format_bench.studies.declared import kept, study

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.results.candidates import Configuration
    from format_bench.results.metrics import Measure

MARKS = {Significance.REAL: "", Significance.NOISE: "~", Significance.UNCLEAR: "?"}

EQUAL = "="

LEGEND = (
    f"Numbers are B / A; below 1, B is better; {EQUAL} where both are equal. ~ noise: the interval "
    "includes 1, or noise is larger. ? unclear: single samples. No mark: real. Agreement of ranks: 1 is "
    "the same order, -1 the opposite."
)

# Number of the largest differences, and of disagreements, that are printed.
SHOWN = 10


@click.command
@click.argument("a")
@click.argument("b", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the whole comparison as JSON.")
@click.option(
    "--page",
    "as_page",
    is_flag=True,
    help="Print a page of paper A's findings, judged by B.",
)
@click.pass_context
def command(ctx: click.Context, a: str, b: str | None, as_json: bool, as_page: bool) -> None:  # noqa: FBT001 (switches)
    """Compare two machines, two library sets, or published figures.

    A and B are folders or files of results, or names of published results: thesis, foxbench, qaware. A
    folder of asv's results stands for its newest run; append #MACHINE for the newest run on one machine.

    The output has the ratio B / A of each cell, and whether it is a difference or noise; whether
    formats, and queries, come in the same order in both; and what else differs that may explain it.
    --json adds the intervals of all cells.

    The papers foxbench, qaware, thesis, partial-reads and ipsl also have findings: --page prints them
    with a verdict, as format-bench study does. The last two published no other results. A paper without
    results prints all its claims, and how many of them the manual's own measurements confirm and refute.

    \b
    Examples:
      format-bench compare before after
      format-bench compare thesis reports/run --json
      format-bench compare foxbench reports/foxbench
      format-bench compare ipsl reports/ipsl --page
      format-bench compare qaware
      format-bench compare .asv/quick/results#laptop .asv/quick/results#server
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    a = study.RENAMED.get(a, a) if not Path(a).exists() else a
    if b is None:
        if a not in study.papers():
            papers = joined(study.papers(), most=None)
            raise click.UsageError(f"name the results to compare with {a}; {papers} can be alone")
        click.echo(kept.page(a).markdown(), nl=False)
        return
    if as_page or (a in study.papers() and a not in published.names() and not Path(a).exists()):
        if a not in study.papers():
            raise UnknownNameError("paper", a, study.papers())
        click.echo(study.read(a).page(load_source(b)).markdown(), nl=False)
        return
    one, other = load_source(a), load_source(b)
    if one.name == other.name:
        one, other = replace(one, name=a), replace(other, name=b)
    found = compare(one, other)
    if as_json:
        click.echo(json.dumps(to_json(found), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        show(found, quiet=ctx.obj["quiet"])


def show(comparison: Comparison, *, quiet: bool) -> None:
    """Print a comparison; if `quiet`, without legend and caveats."""
    console = terminal.console()
    terminal.prose(console, f"A: {comparison.a}; B: {comparison.b}")
    for banner in comparison.banners:
        terminal.prose(console, banner)
    _show_ratios(console, comparison.ratios)
    _show_ratios_of_queries(console, comparison.ratios)
    _show_largest(console, comparison.ratios)
    _show_ranks(console, comparison)
    _show_query_ranks(console, comparison)
    _show_differences(console, comparison)
    _show_counts(console, comparison)
    if not quiet:
        for caveat in comparison.caveats:
            terminal.prose(console, f"note: {caveat}", indent="  ")
        terminal.prose(console, LEGEND)


def _show_ratios(console: Console, ratios: list[Ratio]) -> None:
    """Print a table for each measure: formats by data sets."""
    by_measure: dict[tuple[str, Measure], list[Ratio]] = {}
    for each in (each for each in ratios if not each.pair.measure.query):
        by_measure.setdefault((each.pair.dataset.suite, each.pair.measure), []).append(each)
    for (suite, measure), found in by_measure.items():
        datasets = list(dict.fromkeys(each.pair.dataset for each in found))
        cells = {(each.pair.configuration, each.pair.dataset): _text(each) for each in found}
        rows = [
            [str(configuration), *(cells.get((configuration, dataset), "-") for dataset in datasets)]
            for configuration in dict.fromkeys(each.pair.configuration for each in found)
        ]
        header = ["format", *map(_heading, datasets)]
        terminal.table(console, f"{suite}: {measure.phrase}", header, rows)


def _show_ratios_of_queries(console: Console, ratios: list[Ratio]) -> None:
    """Print a table for each measure of queries and data set: queries by formats."""
    found: dict[tuple[PairedDataset, Measure], list[Ratio]] = {}
    for each in (each for each in ratios if each.pair.measure.query):
        key = each.pair.dataset, each.pair.all_queries
        found.setdefault(key, []).append(each)
    for (dataset, measure), cells in found.items():
        formats = list(dict.fromkeys(each.pair.configuration for each in cells))
        by_query: dict[str, dict[Configuration, str]] = {}
        for each in cells:
            query = by_query.setdefault(each.pair.measure.query, {})
            query[each.pair.configuration] = _text(each)
        rows = [
            [query, *(by_query[query].get(each, "-") for each in formats)]
            for query in sorted(by_query, key=query_order)
        ]
        title = f"{dataset.suite}: {measure.phrase} of {_heading(dataset)}"
        terminal.table(console, title, ["query", *map(str, formats)], rows)


def _heading(dataset: PairedDataset) -> str:
    return dataset.name if dataset.same_rows else f"{dataset.name}, relative"


def _text(ratio: Ratio) -> str:
    if ratio.pair.a.value == ratio.pair.b.value and not ratio.relative:
        return EQUAL
    value = "from 0" if ratio.value is None else format_ratio(ratio.value)
    return value + MARKS[ratio.significance]


def _show_largest(console: Console, ratios: list[Ratio]) -> None:
    real = [each for each in ratios if each.significance is Significance.REAL]
    if real:
        console.print(f"Largest of {len(real)} real differences:")
    for each in sorted(real, key=_size, reverse=True)[:SHOWN]:
        pair = each.pair
        a, b = (quantity(record.value or 0.0, record.unit) for record in (pair.a, pair.b))
        what = f"{pair.configuration}, {pair.measure.phrase} of {pair.dataset.name}"
        line = f"- {what}: {_text(each)}{_between(each)}, from {a} to {b}"
        terminal.prose(console, line, indent="  ")


def _between(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None:
        return ""
    return f" ({format_ratio(ratio.low)} to {format_ratio(ratio.high)})"


def _size(ratio: Ratio) -> float:
    # Twice as slow and twice as fast are differences of the same size.
    return abs(math.log(ratio.value)) if ratio.value else math.inf


def _show_ranks(console: Console, comparison: Comparison) -> None:
    found = [each for each in comparison.agreements if not each.measure.query]
    places = [each.dataset or "all" for each in found]
    _show_correlations(console, ["agreement of ranks", "data set", "formats"], found, places)
    moved = [each for each in comparison.disagreements if not each.measure.query]
    for each in moved[:SHOWN]:
        terminal.prose(
            console,
            f"- {each.configuration} is number {each.rank_a:g} of {each.formats} in A and number "
            f"{each.rank_b:g} in B, by {each.measure.phrase} of {each.dataset.name}",
            indent="  ",
        )


def _show_correlations(
    console: Console, header: list[str], found: list[Agreement], places: list[str]
) -> None:
    rows = [
        [
            f"{each.suite}: {each.measure.phrase}",
            place,
            str(each.cells),
            *("-" if number is None else f"{number:.2f}" for number in each[-2:]),
        ]
        for each, place in zip(found, places, strict=True)
    ]
    if rows:
        terminal.table(console, "", [*header, "Spearman", "Kendall tau-b"], rows)


def _show_query_ranks(console: Console, comparison: Comparison) -> None:
    """Print correlations over queries, and the median of those over the formats of a query."""
    found = comparison.query_agreements
    places = [str(each.configuration or "all") for each in found]
    _show_correlations(console, ["agreement of ranks over queries", "format", "cells"], found, places)
    for line in (*_over_formats(comparison), *_queries_that_differ(comparison)):
        terminal.prose(console, line, indent="  ")


def _over_formats(comparison: Comparison) -> Iterator[str]:
    found: dict[Measure, list[float]] = {}
    for each in comparison.agreements:
        if each.measure.query and each.dataset and each.spearman is not None:
            found.setdefault(each.measure._replace(query=""), []).append(each.spearman)
    for measure, numbers in found.items():
        yield (
            f"- {measure.phrase}: over the formats of each query, Spearman is {median(numbers):.2f} in "
            f"the median of {len(numbers)} queries, from {min(numbers):.2f} to {max(numbers):.2f}"
        )


def _queries_that_differ(comparison: Comparison) -> Iterator[str]:
    if comparison.query_disagreements:
        yield "Places of formats in a query, by the geometric mean of all, that differ most:"
    for each in comparison.query_disagreements[:SHOWN]:
        pair = each.pair
        yield (
            f"- {pair.configuration}, {pair.measure.phrase}: {format_ratio(each.relative_a)} times the "
            f"mean in A, {format_ratio(each.relative_b)} times in B"
        )


def _show_differences(console: Console, comparison: Comparison) -> None:
    if comparison.differences:
        console.print("Other differences, which may be the reason:")
    for name, a, b in comparison.differences:
        line = f"- {name}: {a or 'not known'} in A, {b or 'not known'} in B"
        terminal.prose(console, line, indent="  ")


def _show_counts(console: Console, comparison: Comparison) -> None:
    counts = Counter(each.significance for each in comparison.ratios)
    kinds = ", ".join(f"{counts[each]} {each}" for each in Significance if counts[each])
    terminal.prose(
        console,
        f"{len(comparison.ratios)} cells in both: {kinds}. Left out: {comparison.only_a} with a "
        f"value in A alone, {comparison.only_b} in B alone.",
    )


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON values; numbers are as measured, in their units, and not rounded."""
    return {
        "a": comparison.a,
        "b": comparison.b,
        "verdicts": dict(Counter(str(each.significance) for each in comparison.ratios)),
        "cells": [_cell(each) for each in comparison.ratios],
        "rank_correlations": [
            _agreement(each, {"dataset": each.dataset or None, "formats": each.cells})
            for each in comparison.agreements
        ],
        "rank_disagreements": [_disagreement(each) for each in comparison.disagreements],
        "query_rank_correlations": [
            _agreement(
                each,
                {"format": each.configuration and str(each.configuration), "cells": each.cells},
            )
            for each in comparison.query_agreements
        ],
        "query_places": [_query_disagreement(each) for each in comparison.query_disagreements],
        "circumstances_that_differ": [each._asdict() for each in comparison.differences],
        "cells_in_a_only": comparison.only_a,
        "cells_in_b_only": comparison.only_b,
        "remarks": [*comparison.banners, *comparison.caveats],
    }


def _cell(ratio: Ratio) -> dict[str, Any]:
    pair = ratio.pair
    interval = None if None in (ratio.low, ratio.high) else [ratio.low, ratio.high]
    return {
        "family": pair.dataset.suite,
        **pair.configuration.to_json(),
        "dataset": pair.dataset.name,
        "rows_a": pair.dataset.rows_a,
        "rows_b": pair.dataset.rows_b,
        "metric": pair.measure.option,
        "unit": pair.measure.unit,
        "a": pair.a.value,
        "b": pair.b.value,
        "relative": ratio.relative,
        "ratio": ratio.value,
        "interval": interval,
        "confidence": ratio.confidence,
        "verdict": ratio.significance,
    }


def _agreement(agreement: Agreement, place: dict[str, Any]) -> dict[str, Any]:
    return {
        "family": agreement.suite,
        "measure": agreement.measure.option,
        **place,
        "spearman": agreement.spearman,
        "kendall_tau_b": agreement.kendall_tau_b,
    }


def _disagreement(found: Disagreement) -> dict[str, Any]:
    return {
        "format": str(found.configuration),
        "dataset": found.dataset.name,
        "metric": found.measure.option,
        "rank_a": found.rank_a,
        "rank_b": found.rank_b,
        "formats": found.formats,
    }


def _query_disagreement(found: QueryDisagreement) -> dict[str, Any]:
    return {
        "format": str(found.pair.configuration),
        "dataset": found.pair.dataset.name,
        "metric": found.pair.measure.option,
        "relative_a": found.relative_a,
        "relative_b": found.relative_b,
    }
