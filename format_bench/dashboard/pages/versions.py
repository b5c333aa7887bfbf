"""Page with the history of each format over the versions of its libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from format_bench.dashboard.changes.chart import HistoryChart, Relative, relatives
from format_bench.dashboard.layout import Page, render
from format_bench.library_sets import version_changes
from format_bench.results.display.text import format_ratio, joined
from format_bench.results.metrics import METRICS, Noise
from format_bench.results.suites import suite_order, title_of

if TYPE_CHECKING:
    from format_bench.changes.history import History, HistoryLine, Point
    from format_bench.changes.summary import LineChanges
    from format_bench.dashboard.site_data import SiteData

MENU_ORDER = 20

# Operations with a chart; tables have all.
CHARTED = {
    each.operation
    for each in METRICS.values()
    if each.chart and each.noise in (Noise.WALL_TIME, Noise.SIZE)
}

# Libraries that nearly all adapters declare.
SHARED = ("pandas", "numpy")


def pages(site: SiteData) -> Iterator[Page]:
    """Yield the page for all lines, the line of the latest run first."""
    points = site.history.lines[0].points
    body = render(
        "versions.html",
        lead=f"{points[0].name} to {points[-1].name}: each format over the versions of its libraries.",
        parts=[_part(site.history, each) for each in site.changes],
    )
    summary = "Speed and size of each format over time, with each version of its libraries."
    yield Page("History over library versions", "versions.html", body, summary)


def _part(history: History, found: LineChanges) -> dict[str, Any]:
    line = found.line
    in_order = sorted(relatives(found.series), key=lambda each: suite_order(each.group.module))
    by_module = groupby(in_order, key=lambda each: each.group.module)
    return {
        "line": line,
        "steps": list(_steps(line)),
        "families": [
            (title_of(module), *_charts_and_tables(history, found, list(members)))
            for module, members in by_module
        ],
    }


def _steps(line: HistoryLine) -> Iterator[tuple[Point, str]]:
    """Yield each point but the first, the newest first, and the versions that changed there."""
    for before, point in reversed(list(pairwise(line.points))):
        found = version_changes(before.libraries, point.libraries)
        yield point, joined(found, most=len(found)) if found else "nothing"


def _charts_and_tables(
    history: History, found: LineChanges, members: list[Relative]
) -> tuple[list[str], list[tuple[str, list[Relative]]]]:
    by_operation: dict[str, list[Relative]] = {}
    for each in members:
        by_operation.setdefault(each.group.operation.name, []).append(each)
    in_order = sorted(members, key=lambda each: each.group.format.casefold())
    charted = [each for each in in_order if each.group.operation.name in CHARTED]
    return [_chart(history, found, each) for each in charted], list(by_operation.items())


def _chart(history: History, found: LineChanges, relative: Relative) -> str:
    group, points = relative.group, found.line.points
    # The chart labels versions of the first library alone, and a library that most adapters declare
    # explains less of one format than a library that few declare.
    declared = sorted(history.libraries_of(group.module, group.format), key=SHARED.__contains__)
    changed = {
        points.index(change.since)
        for change in found.changes
        if (change.module, change.format, change.operation)
        == (group.module, group.format, group.operation.name)
    }
    alt = _alt_text(relative, points, changed)
    return HistoryChart(relative, points, declared, changed).chart(alt).svg


def _alt_text(relative: Relative, points: Sequence[Point], changed: set[int]) -> str:
    first, last = relative.values[0], relative.values[-1]
    extent = (
        f"From {format_ratio(first)} at the first point with a value"
        f" to {format_ratio(last)} at the last;"
        f" lowest {format_ratio(min(relative.values))}, highest {format_ratio(max(relative.values))}."
    )
    names = [points[place].name for place in sorted(changed)]
    return f"{extent} Changes at {joined(names, most=8)}." if names else f"{extent} No change."
