"""Page of the changes at each commit, with the libraries whose versions differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from format_bench.changes.change import FormatChange
from format_bench.changes.group_changes import LEVEL
from format_bench.changes.series import Operation
from format_bench.changes.summary import LineChanges
from format_bench.dashboard.layout import Page, render
from format_bench.dashboard.site_data import SiteData
from format_bench.results.display.text import joined, plural
from format_bench.results.metrics import Noise

MENU_ORDER = 10

FILE_NAME = "changes.html"


def pages(site: SiteData) -> Iterator[Page]:
    """Yield the page for all lines, the line of the latest run first."""
    lead = headline(site.changes[0])
    body = render(
        "changes.html",
        lead=lead,
        least={
            name: f"{Operation('', noise).least_effect:.1%}"
            for name, noise in (
                ("time", Noise.WALL_TIME),
                ("memory", Noise.MEMORY),
                ("size", Noise.SIZE),
            )
        },
        parts=[_part(each) for each in site.changes],
        level=f"{LEVEL:.0%}",
        list_of=_list_of,
    )
    summary = f"{lead} The libraries beside each change, and all earlier changes."
    yield Page("What changed", FILE_NAME, body, summary)


def headline(found: LineChanges) -> str:
    """Return the number of changes at the newest point of a line, as a sentence."""
    points = found.line.points
    if len(points) < 2:  # noqa: PLR2004 (a change needs two)
        return f"So far there is one point, {points[-1].name}."
    number = plural(len(found.newest), "change") if found.newest else "Nothing has changed beyond noise"
    return f"{number} in {points[-1].name}, since {points[-2].name}."


def _part(found: LineChanges) -> dict[str, Any]:
    by_point = groupby(found.earlier, key=lambda change: change.since.name)
    moves = groupby(reversed(found.common_shifts), key=lambda move: move.point.name)
    return {
        "found": found,
        "earlier": [(name, list(changes)) for name, changes in by_point],
        "moves": [(name, joined(list(each), most=8)) for name, each in moves],
    }


def _list_of(changes: Sequence[FormatChange]) -> Any:
    from markupsafe import Markup

    return Markup(render("change_list.html", changes=changes))  # noqa: S704 (escaped by the template)
