"""Changes of a format's operation at one point, with the cells that show them.

Sizes and counts are exact: any difference is a change. Times and memory are noisy, and go through the
change-point detector. Cells that lose or gain their values change their availability.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from format_bench.asv_support.results import AsvCell
from format_bench.changes.common_mode import AdjustedSeries, adjusted_series, cell_input, group_input
from format_bench.changes.detection import ChangePoint, DetectorInput, detect
from format_bench.changes.series import TIMES, CellSeries, FormatOperation
from format_bench.results.metrics import Noise

# Probability of any false alarm on the page.
LEVEL = 0.01

# Difference of logarithms in place of the infinite one of a change from 0, or to it.
ZERO_EFFECT = 20.0


@dataclass(frozen=True)
class GroupChange:
    """A change of level of an operation of a format."""

    group: FormatOperation
    change: ChangePoint
    cells: list[CellSeries]
    """Cells that changed in that direction by more than noise."""
    compared: list[CellSeries]
    """All cells of the group that have values before and after."""


def exact_changes(series: Sequence[CellSeries]) -> list[GroupChange]:
    """Return each point at which sizes or counts differ from those before.

    A value must leave the range of all values since the last change by more than
    `Operation.least_effect`: one that wavers is not a change. Cells of one group that change in the same
    direction at one point are one change.
    """
    found: dict[tuple[object, ...], list[tuple[CellSeries, ChangePoint]]] = {}
    groups: dict[FormatOperation, list[CellSeries]] = {}
    for each in series:
        if each.group.operation.kind in (Noise.SIZE, Noise.EXACT):
            groups.setdefault(each.group, []).append(each)
            for change in _exact_changes(each, each.group.operation.least_effect):
                key = (each.group, change.at, change.effect > 0)
                found.setdefault(key, []).append((each, change))
    return [
        GroupChange(
            cells[0][0].group,
            cells[0][1],
            [each for each, _ in cells],
            [each for each in groups[cells[0][0].group] if _on_both_sides(each, cells[0][1])],
        )
        for cells in found.values()
    ]


def _on_both_sides(series: CellSeries, change: ChangePoint) -> bool:
    """Return whether a cell has values before and after a change."""
    return all(
        any(cell and cell.value is not None for cell in (series.cells[point] for point in points))
        for points in (change.before, change.after)
    )


def _exact_changes(series: CellSeries, least: float) -> Iterator[ChangePoint]:
    values = {
        point: cell.value for point, cell in enumerate(series.cells) if cell and cell.value is not None
    }
    for before, after in pairwise(_ranges(values, least)):
        old, new = values[before[-1]], values[after[0]]
        effect = math.log(new / old) if new and old else math.copysign(ZERO_EFFECT, new - old)
        yield ChangePoint(tuple(before), tuple(after), drift=False, effect=effect, confirmed=True)


def _ranges(values: dict[int, float], least: float) -> list[list[int]]:
    """Return lists of successive points whose values stay within one range."""
    ranges: list[list[int]] = []
    for point, value in values.items():
        # Compared with the whole range, so that a value that wavers between two levels stays in one.
        last = [values[at] for at in ranges[-1]] if ranges else []
        if last and value <= max(last) * (1 + least) and value * (1 + least) >= min(last):
            ranges[-1].append(point)
        else:
            ranges.append([point])
    return ranges


@dataclass(frozen=True)
class AvailabilityChange:
    """Cells of one format in one module of suites that lost or gained their values at one point."""

    module: str
    format: str
    before: int
    """Number of the last point with the former state."""
    at: int
    gained: bool
    status: str
    """Status in place of a value, e.g. "failed"."""
    reason: str
    cells: list[CellSeries]


def availability_changes(series: Sequence[CellSeries]) -> list[AvailabilityChange]:
    """Return all losses and gains of values; cells with the same reason at one point are one change."""
    found: dict[tuple[object, ...], AvailabilityChange] = {}
    for each in series:
        # Points without a run of the cell are skipped: suites may be interrupted, or added later.
        run = [(point, cell) for point, cell in enumerate(each.cells) if cell]
        for (before, old), (at, new) in pairwise(run):
            if (old.value is None) == (new.value is None):
                continue
            gained = old.value is None
            empty: AsvCell = old if gained else new
            group = each.group
            key = (group.module, group.format, at, gained, empty.status, empty.sentence)
            change = AvailabilityChange(
                group.module, group.format, before, at, gained, empty.status, empty.sentence, []
            )
            found.setdefault(key, change).cells.append(each)
    return list(found.values())


def measured_changes(series: Sequence[CellSeries]) -> list[GroupChange]:
    """Return the changes of times and memory: first whole groups, then single cells.

    Parameters
    ----------
    series : sequence of CellSeries
        All of a line; sizes and counts are left out.
    """
    members = adjusted_series(series)
    groups: dict[Hashable, DetectorInput] = {
        group: group_input(found) for group, found in members.items()
    }
    # Single growths of memory flip from run to run between levels that allocators have, one cell here,
    # one there, each as constant as a change would be. So of single cells only times are searched.
    cells: dict[Hashable, DetectorInput] = {
        each.name: cell_input(each)
        for group, found in members.items()
        if group.operation.kind in TIMES
        for each in found
    }
    # Half of the level for each: groups are few, and need not share theirs with all cells.
    changes = {**detect(groups, LEVEL / 2), **detect(cells, LEVEL / 2)}
    whole = [
        _group_change(group, change, found)
        for group, found in members.items()
        for change in changes.get(group, [])
    ]
    # A median can move without most of its cells: then only single cells are reported.
    whole = [each for each in whole if 2 * len(each.cells) >= len(each.compared)]
    return [*whole, *_single_changes(members, changes, whole)]


def _group_change(
    group: FormatOperation, change: ChangePoint, members: list[AdjustedSeries]
) -> GroupChange:
    compared = [each for each in members if not np.isnan(each.effect(change))]
    changed = [each.series for each in compared if each.follows(change)]
    return GroupChange(group, change, changed, [each.series for each in compared])


def _single_changes(
    members: dict[FormatOperation, list[AdjustedSeries]],
    changes: Mapping[Hashable, list[ChangePoint]],
    whole: list[GroupChange],
) -> list[GroupChange]:
    """Return the changes of cells that no change of their group explains; one for each point."""
    found: dict[tuple[object, ...], GroupChange] = {}
    for group, of_group in members.items():
        explained = [each.change for each in whole if each.group == group]
        for member in of_group:
            for change in changes.get(member.name, []):
                if any(_explains(other, change) for other in explained):
                    continue
                key = (group, change.at, change.drift, change.effect > 0, change.confirmed)
                same_point = found.get(key) or GroupChange(
                    group,
                    change,
                    [],
                    [each.series for each in of_group if _on_both_sides(each.series, change)],
                )
                found[key] = replace(same_point, cells=[*same_point.cells, member.series])
    return list(found.values())


def _explains(of_group: ChangePoint, of_cell: ChangePoint) -> bool:
    """Return True if a cell changes as its group does: at about the same point, or in a drift."""
    # The median of a group may change one point before or after one of its cells.
    is_near = of_group.drift or of_cell.drift or abs(of_group.at - of_cell.at) <= 1
    return is_near and of_group.effect * of_cell.effect > 0
