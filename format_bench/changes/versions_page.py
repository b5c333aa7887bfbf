"""The page with the history of each format over the versions of its libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from format_bench.changes import small_chart
from format_bench.changes.relative import Relative, relatives
from format_bench.changes.templating import render
from format_bench.dashboard.page import Page
from format_bench.display.text import joined, times
from format_bench.library_sets import steps
from format_bench.report.charts.svg import svg

if TYPE_CHECKING:
    from format_bench.changes.points import History, Line, Point
    from format_bench.changes.told import Told

CHARTED = ("save", "read", "random read", "size")
"""The operations with a chart; tables have all."""

SHARED = ("pandas", "numpy")
"""The libraries that nearly all adapters declare."""

TITLES = {"tabular": "Tables", "compression": "Compressed tables", "image": "Images"}
"""Of the modules of suites; others have their own names."""


def versions_page(history: History, found: Sequence[Told]) -> Page:
    """Return the page for all lines, the newest first."""
    points = found[0].line.points
    lead = (
        f"{points[0].name} to {points[-1].name}: what each version of the libraries did to each format."
    )
    body = render("versions.html", lead=lead, parts=[_part(history, each) for each in found])
    summary = (
        "How each format became faster or slower, smaller or larger, with each version of its libraries."
    )
    return Page("History over library versions", "versions.html", body, summary)


def _part(history: History, told: Told) -> dict[str, Any]:
    line = told.line
    in_order = sorted(relatives(told.series), key=lambda each: _place(each.group.module))
    by_module = groupby(in_order, key=lambda each: each.group.module)
    return {
        "line": line,
        "steps": list(_steps(line)),
        "families": [
            (TITLES.get(module, module.capitalize()), *_charts_and_tables(history, told, list(members)))
            for module, members in by_module
        ],
    }


def _place(module: str) -> tuple[bool, int, str]:
    """Return a sort key: those with titles in their order, and the others by name."""
    names = list(TITLES)
    known = module in names
    return not known, names.index(module) if known else 0, module


def _steps(line: Line) -> Iterator[tuple[Point, str]]:
    """Yield what changed at each point, the newest first."""
    for before, point in reversed(list(pairwise(line.points))):
        found = steps(before.libraries, point.libraries)
        yield point, joined(found, most=len(found)) if found else "nothing"


def _charts_and_tables(
    history: History, told: Told, members: list[Relative]
) -> tuple[list[str], list[tuple[str, list[Relative]]]]:
    by_operation: dict[str, list[Relative]] = {}
    for each in members:
        by_operation.setdefault(each.group.operation.name, []).append(each)
    in_order = sorted(members, key=lambda each: each.group.format.casefold())
    charted = [each for each in in_order if each.group.operation.name in CHARTED]
    return [_chart(history, told, each) for each in charted], list(by_operation.items())


def _chart(history: History, told: Told, relative: Relative) -> str:
    group, points = relative.group, told.line.points
    # What most adapters declare says less of one than what few do.
    declared = sorted(history.libraries_of(group.module, group.format), key=SHARED.__contains__)
    changed = {
        points.index(change.since)
        for change in told.changes
        if (change.module, change.format, change.operation)
        == (group.module, group.format, group.operation.name)
    }
    drawing = small_chart.draw(relative, points, declared, changed)
    return svg(drawing, f"{group} over {len(points)} points", _in_words(relative, points, changed))


def _in_words(relative: Relative, points: Sequence[Point], changed: set[int]) -> str:
    first, last = relative.values[0], relative.values[-1]
    said = (
        f"From {times(first)} at the first point with a value to {times(last)} at the last;"
        f" lowest {times(min(relative.values))}, highest {times(max(relative.values))}."
    )
    names = [points[place].name for place in sorted(changed)]
    return (
        f"{said} Changes begin at {joined(names, most=8)}." if names else f"{said} No change is named."
    )
