"""The changes as a feed: Atom, RFC 4287.

A badge that tells how much the newest month changed.

The changes for programs: JSON, as `changes_schema.json` describes it.

The files for feed readers, programs and other people's pages.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from adapter_core.text import printable
from format_bench.changes.change import NAMESPACE
from format_bench.changes.sentences import sentence
from format_bench.dashboard.layout import BADGE, FEED, JSON, render
from format_bench.report.charts.drawing import width_of

if TYPE_CHECKING:
    from format_bench.changes.change import CellChange, Change
    from format_bench.changes.history import Point
    from format_bench.changes.summary import Told
    from format_bench.library_sets import Step


MOST_ENTRIES = 100
"""The newest changes; readers keep what they have seen, and the page has all."""


def feed(found: Sequence[Told], site_url: str) -> str:
    """Return the changes of all lines, the newest first.

    Parameters
    ----------
    found : sequence of Told
        What there is to tell.
    site_url : str
        Where the site stands, with a slash at its end. If empty, links are relative to the feed.
    """
    changes = [change for told in found for change in told.changes]
    changes.sort(key=lambda change: change.since.date, reverse=True)
    return render(
        "changes.xml",
        identity=uuid.uuid5(NAMESPACE, site_url or "feed").urn,
        updated=_time(max(told.line.points[-1].date for told in found)),
        site_url=site_url,
        entries=[(change, _time(change.since.date)) for change in changes[:MOST_ENTRIES]],
    )


def _time(date: datetime) -> str:
    """Return a date as RFC 3339 has it."""
    return f"{date:%Y-%m-%dT%H:%M:%SZ}"


_ROLE = "value"
"""The role whose size of text the badge has, 11 pixels."""
_PADDING = 6.0
LABEL = "changes this month"
NONE, SOME, FIRST = "#2e7d32", "#0b5fa5", "#5a606b"
"""The colour behind the number; white text on it has a contrast of 4.5:1 or more."""


def badge(told: Told) -> str:
    """Return a badge as SVG, as in "changes this month: 2"."""
    number = len(told.newest)
    known = len(told.line.points) > 1
    value = str(number) if known else "first run"
    left, right = (width_of(text, _ROLE) + 2 * _PADDING for text in (LABEL, value))
    colour = (SOME if number else NONE) if known else FIRST
    return render("badge.svg", label=LABEL, value=value, left=left, right=right, colour=colour)


VERSION = 1
"""Of the form; raised when something is removed or changes its meaning, not when something is added."""


def as_json(found: Sequence[Told]) -> str:
    """Return all changes and suspicions of all lines, the newest first."""
    lines = [
        {
            "machine": dict(told.line.hardware),
            "environment": told.line.environment,
            "points": [_point(point) for point in told.line.points],
            "changes": [_change(each) for each in told.changes],
            "suspected": [_change(each) for each in told.suspected],
        }
        for told in found
    ]
    return json.dumps({"version": VERSION, "lines": lines}, indent=1, ensure_ascii=False) + "\n"


def _point(point: Point) -> dict[str, Any]:
    return {"name": point.name, "date": point.date.isoformat(), "commit": point.run.commit}


def _change(change: Change) -> dict[str, Any]:
    return {
        "id": change.identity,
        "sort": change.sort.value,
        "sentence": sentence(change),
        "suite": change.module,
        "format": change.format,
        "operation": change.operation or None,
        "became": change.verb,
        "ratio": change.ratio,
        "before": _point(change.before),
        "since": _point(change.since),
        "data_sets": change.changed_datasets,
        "of_data_sets": change.datasets,
        "libraries": [
            *(_step(step, declared=True) for step in change.own_steps),
            *(_step(step, declared=False) for step in change.other_steps),
        ],
        "reason": printable(change.reason) or None,
        "cells": [_cell(cell) for cell in change.cells],
    }


def _step(step: Step, *, declared: bool) -> dict[str, Any]:
    return {"name": step.name, "old": step.old, "new": step.new, "declared": declared}


def _cell(cell: CellChange) -> dict[str, Any]:
    return {
        "name": cell.name,
        "unit": cell.unit,
        "before": cell.before,
        "after": cell.after,
        "ratio_interval": list(cell.ratio_interval) if cell.ratio_interval else None,
    }


def export_files(found: Sequence[Told], site_url: str) -> dict[str, str]:
    """Return the text of each file by its name: a feed, JSON, and a badge of the first line.

    Parameters
    ----------
    found : sequence of Told
        The changes of each line, the line of the latest run first.
    site_url : str
        Address of the site, with a slash at its end; empty if it is not known.
    """
    return {FEED: feed(found, site_url), JSON: as_json(found), BADGE: badge(found[0])}
