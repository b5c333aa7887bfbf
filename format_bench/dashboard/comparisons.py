"""A page for each kind of data of the newest run: the charts and tables of the report, with links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from format_bench.dashboard.page import Page
from format_bench.dashboard.templating import render
from format_bench.display import marks
from format_bench.display.text import joined
from format_bench.report import ranking
from format_bench.report.charts.axes import LOGARITHMIC_RANGE
from format_bench.report.writers.html import section

if TYPE_CHECKING:
    from format_bench.dashboard.newest import Newest
    from format_bench.report.model import Entry, Family, Group, Measure
    from format_bench.report.numbers import Numbers, Place


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


def address(family: Family) -> str:
    """Return the file name of a family's page."""
    return f"{family.title.lower().replace(' ', '-')}.html"


def _graphs(family: Family, newest: Newest) -> list[tuple[str, str]]:
    found = newest.graphs.by_measure
    return [(str(measure), found[family.name, measure]) for measure in family.measures]


def _shown(family: Family, newest: Newest) -> dict[str, Any]:
    """Return a family as the report's template takes it, its numbers linked."""
    title = f"{family.title}: the newest run"
    found = section(family, newest.outline, anchor="comparison", title=title)
    for group, shown in zip(family.groups, found["groups"], strict=True):
        shown["numbers"] = _linked(shown["numbers"], family, group, newest)
    return found


def _linked(found: Numbers, family: Family, group: Group, newest: Newest) -> Numbers:
    """Return the numbers of a group, each measured one a link to its graph; derived ones have none."""

    def link(entry: Entry, measure: Measure, place: Place) -> Place:
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
