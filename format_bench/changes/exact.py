"""What has changed of sizes and counts, which are the same each time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from format_bench.changes.measured import GroupShift
from format_bench.changes.operations import Kind
from format_bench.changes.question import Shift

if TYPE_CHECKING:
    from format_bench.changes.cell_series import CellSeries, Group
    from format_bench.results.noise_floor import Floors

MOST = 20.0
"""The logarithm that stands for a change from 0, or to it."""


def exact_shifts(series: Sequence[CellSeries], floors: Floors | None) -> list[GroupShift]:
    """Return each point at which a size or a count is another than before.

    A value that wavers is no change: it must leave the range of all values since the last change by more
    than `Operation.least_effect`. Cells of one group that move alike at one point are told together.
    """
    found: dict[tuple[object, ...], list[tuple[CellSeries, Shift]]] = {}
    groups: dict[Group, list[CellSeries]] = {}
    for each in series:
        if each.group.operation.kind in (Kind.SIZE, Kind.COUNT):
            groups.setdefault(each.group, []).append(each)
            for shift in _shifts(each, each.group.operation.least_effect(floors)):
                key = (each.group, shift.after[0], shift.effect > 0)
                found.setdefault(key, []).append((each, shift))
    return [
        GroupShift(
            cells[0][0].group,
            cells[0][1],
            [each for each, _ in cells],
            groups[cells[0][0].group],
        )
        for cells in found.values()
    ]


def _shifts(series: CellSeries, least: float) -> Iterator[Shift]:
    values = {point: cell.value for point, cell in enumerate(series.cells) if cell}
    known = {point: value for point, value in values.items() if value is not None}
    for before, after in pairwise(_states(known, least)):
        old, new = known[before[-1]], known[after[0]]
        effect = math.log(new / old) if new and old else math.copysign(MOST, new - old)
        yield Shift(tuple(before), tuple(after), drift=False, effect=effect, confirmed=True)


def _states(values: dict[int, float], least: float) -> list[list[int]]:
    """Return the points of each state, in which values stay within the same range."""
    states: list[list[int]] = []
    for point, value in values.items():
        state = [values[at] for at in states[-1]] if states else []
        if state and value <= max(state) * (1 + least) and value * (1 + least) >= min(state):
            states[-1].append(point)
        else:
            states.append([point])
    return states
