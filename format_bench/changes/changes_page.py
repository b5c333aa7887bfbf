"""The page on what changed, and which library did it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from format_bench.changes.measured import LEVEL
from format_bench.changes.operations import Kind, Operation
from format_bench.changes.templating import render
from format_bench.dashboard.page import Page
from format_bench.display.text import joined, many

if TYPE_CHECKING:
    from format_bench.changes.change import Change
    from format_bench.changes.told import Told
    from format_bench.results.noise_floor import Floors

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
