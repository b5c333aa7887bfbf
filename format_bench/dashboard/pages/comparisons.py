"""Pages of the latest run, one for each suite: charts and tables as in the report, linked to asv."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from adapter_core.text import printable
from format_bench.asv_support.results import AsvCell
from format_bench.dashboard.asv_page import ASV_PAGE
from format_bench.dashboard.layout import Page, page_of_run, render
from format_bench.dashboard.site_data import LatestRun, SiteData
from format_bench.report.model import SuiteResults
from format_bench.report.writers.html import section
from format_bench.results.candidates import Configuration
from format_bench.results.display.text import joined
from format_bench.results.disturbance import Disturbance
from format_bench.results.groups import ComparisonGroup
from format_bench.results.load import suite_of
from format_bench.results.marks import LEGEND
from format_bench.results.metrics import Measure
from format_bench.results.records import Record
from format_bench.results.suites import compared_with
from format_bench.results.table import FormattedCell, ResultTable

MENU_ORDER = 30

# Suite, data set, configuration, measure.
GraphKey = tuple[str, str, Configuration, Measure]


@dataclass(frozen=True)
class GraphLinks:
    """Addresses of asv's graphs, relative to the site."""

    by_cell: dict[GraphKey, str]
    by_measure: dict[tuple[str, Measure], str]
    """By suite and measure: a graph of some formats and data sets, where others can be chosen."""
    of_queries: dict[tuple[str, str], str]
    """By suite and title: a graph of some formats and queries to a data set, and possibly a track."""

    @classmethod
    def of(
        cls,
        cells: Sequence[AsvCell],
        records: Sequence[Record],
        benchmarks: Mapping[str, Any],
        site: str = "",
        machine: str = "",
    ) -> GraphLinks:
        """Return the addresses for all cells.

        Parameters
        ----------
        cells : sequence of Cell
            The cells of a run of asv.
        records : sequence of Record
            The same cells as records, in the same order.
        benchmarks : dict
            asv's benchmarks.json.
        site : str
            Prefix of addresses that leads to the site.
        machine : str
            The machine whose graphs are linked; empty for asv's choice.
        """
        by_cell: dict[GraphKey, str] = {}
        by_measure: dict[tuple[str, Measure], str] = {}
        of_queries: dict[tuple[str, str], str] = {}
        graph = partial(_graph, site=site, machine=machine)
        for cell, record in zip(cells, records, strict=True):
            suite = compared_with(suite_of(record))
            measure = Measure.of(record)
            entry = Configuration.of(record)
            # Format and data set come first in every suite; asv's page needs their names.
            first_two = benchmarks[cell.benchmark]["param_names"][:2]
            chosen = dict(zip(first_two, (cell.format, cell.dataset), strict=True)) | cell.axes
            by_cell[suite, printable(record.dataset), entry, measure] = graph(cell.benchmark, chosen)
            of_measure = {"cache": measure.cache} if measure.cache else {}
            address = graph(cell.benchmark, of_measure)
            if measure.query:
                place = filter(None, (printable(record.dataset), cell.track))
                title = ", ".join([str(measure._replace(query="")), *place])
                of_queries.setdefault((suite, title), address)
            elif not entry.settings:  # few formats have a graph of their defaults
                by_measure.setdefault((suite, measure), address)
        return cls(by_cell, by_measure, of_queries)


def _graph(benchmark: str, chosen: dict[str, str], *, site: str, machine: str) -> str:
    """Return an address as asv's page parses it: parameters by name, values as Python literals."""
    facts = {"machine": machine} if machine else {}
    facts |= {f"p-{name}": repr(value) for name, value in chosen.items()}
    query = urlencode(facts, quote_via=quote)
    return f"{site}{ASV_PAGE}#{quote(benchmark)}" + (f"?{query}" if query else "")


def pages(site: SiteData) -> Iterator[Page]:
    """Yield a page for each suite of each machine; the menu has the first machine's."""
    for latest in site.runs:
        yield from _pages(site, latest)


def _pages(site: SiteData, latest: LatestRun) -> Iterator[Page]:
    machine = latest.run.machine if site.other_machines else ""
    graphs = GraphLinks.of(
        latest.run.cells, latest.records, latest.benchmarks, site=latest.up, machine=machine
    )
    for suite in latest.outline.suites:
        body = render(
            "comparison.html",
            suite=_section(suite, graphs, latest.results.source),
            banner=Disturbance.of(
                latest.results,
                (each for each in latest.records if compared_with(suite_of(each)) == suite.name),
            ).banner,
            graphs=[
                *((str(each), graphs.by_measure[suite.name, each]) for each in suite.measures),
                *((title, to) for (name, title), to in graphs.of_queries.items() if name == suite.name),
            ],
            legend=LEGEND,
        )
        groups = joined([group.name for group in suite.groups], most=8)
        summary = f"Charts and all numbers of the latest run on {groups}."
        page = Page(suite.title, file_name(suite), body, summary, scripts=("code.js",))
        yield page_of_run(site, latest, page, _machines_with(suite, site))


def _machines_with(suite: SuiteResults, site: SiteData) -> set[str]:
    """Return the machines that measured a suite."""
    return {
        each.run.machine for each in site.runs if suite.name in {own.name for own in each.outline.suites}
    }


def file_name(suite: SuiteResults) -> str:
    """Return the file name of a suite's page."""
    return f"{suite.title.lower().replace(' ', '-')}.html"


def _section(suite: SuiteResults, graphs: GraphLinks, source: str) -> dict[str, Any]:
    """Return a suite as the report's template takes it, its numbers linked."""
    title = f"{suite.title}: the latest run"
    found = section(suite, anchor="comparison", title=title, source=source)
    for group, shown in zip(suite.groups, found["groups"], strict=True):
        shown["numbers"] = _linked(shown["numbers"], suite, group, graphs)
    return found


def _linked(
    found: ResultTable, suite: SuiteResults, group: ComparisonGroup, graphs: GraphLinks
) -> ResultTable:
    """Return the numbers of a group, each measured one a link to its graph."""

    def link(entry: Configuration, measure: Measure, place: FormattedCell) -> FormattedCell:
        graph = graphs.by_cell.get((suite.name, group.dataset, entry, measure))
        return replace(place, text=_anchor(graph, place.text)) if graph else place

    # Derived numbers follow the measured ones, and asv has no graph of them.
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
