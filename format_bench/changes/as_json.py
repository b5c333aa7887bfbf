"""The changes for programs: JSON, as `changes_schema.json` describes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from format_bench.changes.words import sentence
from format_bench.display.text import printable

if TYPE_CHECKING:
    from format_bench.changes.change import CellChange, Change
    from format_bench.changes.points import Point
    from format_bench.changes.told import Told
    from format_bench.library_sets import Step

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
