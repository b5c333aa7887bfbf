"""A page for each kind of data of the newest run: the charts and tables of the report, with links.

Where asv draws a cell over time.

The newest run of asv, as the reports take it, and where asv draws its cells over time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from adapter_core.text import printable
from format_bench.asv_support.records import records_of
from format_bench.asv_support.run import Keeper
from format_bench.dashboard.asv_page import ASV_PAGE
from format_bench.dashboard.layout import Page, render
from format_bench.display import marks
from format_bench.display.text import joined
from format_bench.report import ranking
from format_bench.report.charts.axes import LOGARITHMIC_RANGE
from format_bench.report.model import TITLES, outline_of
from format_bench.report.writers.html import section
from format_bench.results.candidates import Configuration
from format_bench.results.load import Results, family_of
from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from format_bench.asv_support.results import Cell, Run
    from format_bench.changes.history import History
    from format_bench.dashboard.layout import Source
    from format_bench.report.model import Outline, SuiteResults
    from format_bench.report.numbers import Numbers, Place
    from format_bench.results.groups import ComparisonGroup
    from format_bench.results.records import Record


GraphKey = tuple[str, str, Configuration, Measure]
"""SuiteResults, data set, entry, measure."""


@dataclass(frozen=True)
class Graphs:
    """The addresses of graphs, relative to the site."""

    by_cell: dict[GraphKey, str]
    by_measure: dict[tuple[str, Measure], str]
    """By family and measure: a graph of some formats and data sets, where others can be chosen."""

    @classmethod
    def of(cls, cells: Sequence[Cell], records: Sequence[Record], benchmarks: dict[str, Any]) -> Graphs:
        """Return the graphs of all cells.

        Parameters
        ----------
        cells : sequence of Cell
            The cells as asv knows them.
        records : sequence of Record
            The same cells as reports know them, in the same order.
        benchmarks : dict
            asv's benchmarks.json.
        """
        by_cell, by_measure = {}, {}
        for cell, record in zip(cells, records, strict=True):
            family, measure = family_of(record), Measure(record.metric, record.cache)
            entry = Configuration(record.format, record.codec, record.level)
            first_two = benchmarks[cell.benchmark]["param_names"][:2]
            chosen = dict(zip(first_two, (cell.format, cell.dataset), strict=True)) | cell.axes
            place = (family, printable(record.dataset), entry, measure)
            by_cell[place] = _address(cell.benchmark, chosen)
            of_measure = {"cache": measure.cache} if measure.cache else {}
            by_measure[family, measure] = _address(cell.benchmark, of_measure)
        return cls(by_cell, by_measure)


def _address(benchmark: str, chosen: dict[str, str]) -> str:
    """Return an address as asv's page reads it: parameters by name, values as Python writes them."""
    query = urlencode({f"p-{name}": repr(value) for name, value in chosen.items()}, quote_via=quote)
    return f"{ASV_PAGE}#{quote(benchmark)}" + (f"?{query}" if query else "")


_OF_THE_KEEPER = ("asv_commit", "time")
"""By which the circumstances of a run are found again; others say the same to people."""


@dataclass(frozen=True)
class Newest:
    """What the pages about the newest run are made of."""

    run: Run
    results: Results
    outline: Outline
    graphs: Graphs
    suites_missing: list[str]
    """The modules of suites that asv knows and this run has no result of."""


def newest(source: Source, history: History) -> Newest:
    """Return the run of the newest commit, which need not be the run that was made last.

    Earlier library sets may be measured after later ones.
    """
    run = history.lines[0].points[-1].run
    circumstances = Keeper(source.results_dir, run.environment).newest(run.commit)
    records = records_of(run, circumstances)
    in_order = sorted(records, key=_place)
    told = {name: fact for name, fact in circumstances.items() if name not in _OF_THE_KEEPER}
    results = Results(source.project, in_order, [told] if told else [], source.floors)
    benchmarks = json.loads((source.results_dir / "benchmarks.json").read_text(encoding="utf-8"))
    benchmarks.pop("version")
    return Newest(
        run=run,
        results=results,
        outline=outline_of(results),
        graphs=Graphs.of(run.cells, records, benchmarks),
        suites_missing=sorted(_modules(benchmarks) - _modules(cell.benchmark for cell in run.cells)),
    )


def _modules(benchmarks: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in benchmarks}


def _place(record: Record) -> int:
    """Return a sort key: tables come first, and what reports have no title for comes last."""
    family = family_of(record)
    return [*TITLES, family].index(family)


def comparisons(newest: Newest) -> Iterator[Page]:
    """Yield the pages."""
    for family in newest.outline.families:
        body = render(
            "comparison.html",
            family=_shown(family, newest),
            graphs=_graphs(family, newest),
            legend=ranking.legend(newest.outline.floors),
            logarithmic_range=LOGARITHMIC_RANGE,
            words=marks.WORDS,
        )
        named = joined([group.name for group in family.groups], most=8)
        summary = f"Charts and all numbers of the newest run on {named}."
        yield Page(family.title, address(family), body, summary)


def address(family: SuiteResults) -> str:
    """Return the file name of a family's page."""
    return f"{family.title.lower().replace(' ', '-')}.html"


def _graphs(family: SuiteResults, newest: Newest) -> list[tuple[str, str]]:
    found = newest.graphs.by_measure
    return [(str(measure), found[family.name, measure]) for measure in family.measures]


def _shown(family: SuiteResults, newest: Newest) -> dict[str, Any]:
    """Return a family as the report's template takes it, its numbers linked."""
    title = f"{family.title}: the newest run"
    found = section(family, newest.outline, anchor="comparison", title=title)
    for group, shown in zip(family.groups, found["groups"], strict=True):
        shown["numbers"] = _linked(shown["numbers"], family, group, newest)
    return found


def _linked(found: Numbers, family: SuiteResults, group: ComparisonGroup, newest: Newest) -> Numbers:
    """Return the numbers of a group, each measured one a link to its graph; derived ones have none."""

    def link(entry: Configuration, measure: Measure, place: Place) -> Place:
        graph = newest.graphs.by_cell.get((family.name, group.dataset, entry, measure))
        return replace(place, text=_anchor(graph, place.text)) if graph else place

    measured = len(group.measures)
    rows = [
        (
            entry,
            [link(entry, *pair) for pair in zip(group.measures, places, strict=False)]
            + places[measured:],
        )
        for entry, places in found.rows
    ]
    return replace(found, rows=rows)


def _anchor(address: str, text: str) -> str:
    from markupsafe import Markup

    return Markup('<a href="{}">{}</a>').format(address, text)
