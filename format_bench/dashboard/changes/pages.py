"""The templates of the changes, and those of the report, which they share.

The page on what changed, and which library did it.

The page with the history of each format over the versions of its libraries.

The pages on what changed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from format_bench.changes.find import LEVEL
from format_bench.changes.sentences import libraries, sentence
from format_bench.changes.series import Kind, Operation
from format_bench.changes.summary import told
from format_bench.dashboard.changes import chart
from format_bench.dashboard.changes.chart import Relative, relatives
from format_bench.dashboard.layout import Page
from format_bench.display.text import joined, many, quantity, times
from format_bench.library_sets import steps
from format_bench.report.charts.svg import environment as report_environment
from format_bench.report.charts.svg import svg

if TYPE_CHECKING:
    from jinja2 import Environment

    from format_bench.changes.change import Change
    from format_bench.changes.history import History, Line, Point
    from format_bench.changes.summary import Told
    from format_bench.results.noise_floor import Floors


@functools.cache
def environment() -> Environment:
    """Return the report's environment with the templates of this folder."""
    from jinja2 import PackageLoader

    found = report_environment().overlay(loader=PackageLoader("format_bench.dashboard.changes"))
    # An overlay has the filters of its original, and would add to them.
    found.filters = {
        **found.filters,
        "anchor": lambda change: f"change-{change.identity.removeprefix('urn:uuid:')}",
        "libraries": libraries,
        "quantity": lambda value, unit: "-" if value is None else quantity(value, unit),
        "sentence": sentence,
        "times": times,
    }
    return found


def render(template: str, **values: Any) -> str:
    """Return a template, filled in; values are escaped unless they are markup."""
    return environment().get_template(template).render(**values)


FILE_NAME = "changes.html"


def changes_page(found: Sequence[Told], floors: Floors | None) -> Page:
    """Return the page for all lines, the newest first."""
    lead = headline(found[0])
    body = render(
        "changes.html",
        lead=lead,
        least={
            kind.value: f"{Operation('', kind).least_effect(floors):.1%}"
            for kind in (Kind.TIME, Kind.MEMORY, Kind.SIZE)
        },
        measured=floors is not None,
        parts=[_part(each) for each in found],
        level=f"{LEVEL:.0%}",
        list_of=_list_of,
    )
    return Page(
        "What changed", FILE_NAME, body, f"{lead} Which library did it, and what changed before."
    )


def headline(told: Told) -> str:
    """Return how much the newest point of a line has changed, as a sentence."""
    points = told.line.points
    if len(points) < 2:  # noqa: PLR2004 (a change needs two)
        return f"So far there is one point, {points[-1].name}."
    what = many(len(told.newest), "change") if told.newest else "Nothing has changed beyond noise"
    return f"{what} in {points[-1].name}, since {points[-2].name}."


def _part(told: Told) -> dict[str, Any]:
    by_point = groupby(told.earlier, key=lambda change: change.since.name)
    moves = groupby(reversed(told.moves), key=lambda move: move.point.name)
    return {
        "told": told,
        "earlier": [(name, list(found)) for name, found in by_point],
        "moves": [(name, joined(list(found), most=8)) for name, found in moves],
    }


def _list_of(changes: Sequence[Change]) -> Any:
    from markupsafe import Markup

    return Markup(render("change_list.html", changes=changes))  # noqa: S704 (escaped by the template)


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
    body = render(
        "versions.html", lead=lead, parts=[_versions_page_part(history, each) for each in found]
    )
    summary = (
        "How each format became faster or slower, smaller or larger, with each version of its libraries."
    )
    return Page("History over library versions", "versions.html", body, summary)


def _versions_page_part(history: History, told: Told) -> dict[str, Any]:
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
    drawing = chart.draw(relative, points, declared, changed)
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


def pages(history: History, floors: Floors | None) -> list[Page]:
    """Return the pages, before they are put into a frame.

    Parameters
    ----------
    history : History
        All results.
    floors : Floors, optional
        By how much two equal measurements differ on the machine.
    """
    found = told(history, floors)
    return [changes_page(found, floors), versions_page(history, found)]
