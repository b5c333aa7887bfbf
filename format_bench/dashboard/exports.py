"""Exports of the changes: an Atom feed (RFC 4287), JSON, and a badge."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from adapter_core.text import printable
from format_bench.changes.change import NAMESPACE, CellChange, FormatChange, sentence
from format_bench.changes.history import Point
from format_bench.changes.summary import LineChanges
from format_bench.dashboard.layout import BADGE, FEED, JSON, render
from format_bench.library_sets import VersionChange

# Version of `changes_schema.json`; raised when something is removed or changes its meaning.
SCHEMA_VERSION = 1

# Changes in the feed, the newest: readers keep those that they have seen, and the page has all.
MOST_ENTRIES = 100

BADGE_LABEL = "changes this month"
# Colours behind the number; white text on each has a contrast of 4.5:1 or more.
CALM_COLOUR, CHANGED_COLOUR, UNKNOWN_COLOUR = "#2e7d32", "#0b5fa5", "#5a606b"

# Six tenths of the template's font, which has 11 pixels.
_CHARACTER_PIXELS = 6.6
_PADDING_PIXELS = 6.0


def export_files(found: Sequence[LineChanges], site_url: str) -> dict[str, str]:
    """Return the text of each file by its name: the feed, JSON, and a badge of the first line.

    Parameters
    ----------
    found : sequence of LineChanges
        The changes of each line, the line of the latest run first.
    site_url : str
        Address of the site, with a slash at its end; empty if it is not known.
    """
    return {FEED: feed(found, site_url), JSON: as_json(found), BADGE: badge(found[0])}


def feed(found: Sequence[LineChanges], site_url: str) -> str:
    """Return the changes of all lines as an Atom feed, the newest first.

    Without an address of the site, links are relative to the feed.
    """
    changes = [change for each in found for change in each.changes]
    changes.sort(key=lambda change: change.since.date, reverse=True)
    return render(
        "changes.xml",
        # Permanent, as RFC 4287 demands (4.2.6): it depends on the site's address alone.
        identity=uuid.uuid5(NAMESPACE, site_url or "feed").urn,
        updated=_rfc3339(max(each.line.points[-1].date for each in found)),
        site_url=site_url,
        entries=[(change, _rfc3339(change.since.date)) for change in changes[:MOST_ENTRIES]],
    )


def _rfc3339(date: datetime) -> str:
    return f"{date:%Y-%m-%dT%H:%M:%SZ}"


def badge(found: LineChanges) -> str:
    """Return a badge as SVG with the number of changes at the newest point."""
    number = len(found.newest)
    if len(found.line.points) > 1:
        value, colour = str(number), CHANGED_COLOUR if number else CALM_COLOUR
    else:
        value, colour = "first run", UNKNOWN_COLOUR
    # Fonts differ between readers: the template makes each text as long as it is estimated here.
    left, right = (_CHARACTER_PIXELS * len(text) for text in (BADGE_LABEL, value))
    return render(
        "badge.svg",
        label=BADGE_LABEL,
        value=value,
        left=left,
        right=right,
        padding=_PADDING_PIXELS,
        colour=colour,
    )


def as_json(found: Sequence[LineChanges]) -> str:
    """Return all changes, confirmed and suspected, as `changes_schema.json` describes them."""
    lines = [
        {
            "machine": dict(each.line.hardware),
            "environment": each.line.environment,
            "points": [_point(point) for point in each.line.points],
            "changes": [_change(change) for change in each.changes],
            "suspected": [_change(change) for change in each.suspected],
        }
        for each in found
    ]
    document = {"version": SCHEMA_VERSION, "lines": lines}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _point(point: Point) -> dict[str, Any]:
    return {"name": point.name, "date": point.date.isoformat(), "commit": point.run.commit}


def _change(change: FormatChange) -> dict[str, Any]:
    return {
        "id": change.identity,
        "sort": change.kind.value,
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


def _step(step: VersionChange, *, declared: bool) -> dict[str, Any]:
    return {"name": step.name, "old": step.old, "new": step.new, "declared": declared}


def _cell(cell: CellChange) -> dict[str, Any]:
    return {
        "name": cell.name,
        "unit": cell.unit,
        "before": cell.before,
        "after": cell.after,
        "ratio_interval": list(cell.ratio_interval) if cell.ratio_interval else None,
    }
