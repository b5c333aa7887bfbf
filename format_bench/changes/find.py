"""What has changed of sizes and counts, which are the same each time.

What has values no more, or has some at last, and why.

What has changed of times and memory, which vary from run to run.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.detection.common_mode import Member, cell_question, group_question, members_of
from format_bench.changes.detection.detector import shifts
from format_bench.changes.detection.model import Shift
from format_bench.changes.series import Kind

if TYPE_CHECKING:
    from format_bench.asv_support.results import Cell
    from format_bench.changes.detection.model import Question
    from format_bench.changes.series import CellSeries, Group
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


@dataclass(frozen=True)
class Turn:
    """Cells of one format in one module of suites that lost or gained their values at one point."""

    module: str
    format: str
    before: int
    """The last point at which they were as before."""
    at: int
    gained: bool
    status: str
    """What they are instead of a value, as in "failed"."""
    reason: str
    cells: list[CellSeries]


def turns(series: Sequence[CellSeries]) -> list[Turn]:
    """Return all turns between points at which a cell was run; those with the same reason are one."""
    found: dict[tuple[object, ...], Turn] = {}
    for each in series:
        run = [(point, cell) for point, cell in enumerate(each.cells) if cell]
        for (before, old), (at, new) in pairwise(run):
            if (old.value is None) == (new.value is None):
                continue
            gained = old.value is None
            without: Cell = old if gained else new
            group = each.group
            key = (group.module, group.format, at, gained, without.status, without.sentence)
            turn = Turn(
                group.module, group.format, before, at, gained, without.status, without.sentence, []
            )
            found.setdefault(key, turn).cells.append(each)
    return list(found.values())


LEVEL = 0.01
"""The probability with which chance may name anything at all."""


@dataclass(frozen=True)
class GroupShift:
    """A shift of an operation of a format, and the cells that have it."""

    group: Group
    shift: Shift
    cells: list[CellSeries]
    """Those that changed by more than is noise, in that direction."""
    of: list[CellSeries]
    """All cells of the group that have values before and after."""


def measured_shifts(series: Sequence[CellSeries], floors: Floors | None) -> list[GroupShift]:
    """Return what has changed: first of whole groups, then of single cells of others.

    Single cells are asked for their times alone: growths of memory flip from run to run between levels
    that allocators have, one cell here, one there, each as constant as a change would be.

    Parameters
    ----------
    series : sequence of CellSeries
        All of a line; those that do not vary are left out.
    floors : Floors, optional
        The machine's.
    """
    members = members_of(series, floors)
    groups: dict[Hashable, Question] = {group: group_question(found) for group, found in members.items()}
    cells: dict[Hashable, Question] = {
        _name(each): cell_question(each)
        for group, found in members.items()
        if group.operation.kind is Kind.TIME
        for each in found
    }
    # Both halves of the allowance: groups are few, so they need not share theirs with all cells.
    answers = {**shifts(groups, LEVEL / 2), **shifts(cells, LEVEL / 2)}
    whole = [
        _group_shift(group, shift, found)
        for group, found in members.items()
        for shift in answers.get(group, [])
    ]
    whole = [each for each in whole if 2 * len(each.cells) >= len(each.of)]
    return [*whole, *_single(members, answers, whole)]


def _name(member: Member) -> tuple[str, ...]:
    series = member.series
    return series.benchmark, series.group.format, series.name


def _group_shift(group: Group, shift: Shift, members: list[Member]) -> GroupShift:
    compared = [each for each in members if not np.isnan(each.effect(shift))]
    moved = [each.series for each in compared if each.moved(shift)]
    return GroupShift(group, shift, moved, [each.series for each in compared])


def _explains(of_group: Shift, of_cell: Shift) -> bool:
    """Tell whether a cell changes as its group does; on a drift, or into one, at any point."""
    if of_group.drift or of_cell.drift:
        return of_group.effect * of_cell.effect > 0
    return abs(of_group.after[0] - of_cell.after[0]) <= 1


def _single(
    members: dict[Group, list[Member]],
    answers: Mapping[Hashable, list[Shift]],
    whole: list[GroupShift],
) -> list[GroupShift]:
    """Return the shifts of cells that no shift of their group explains; those of one point together."""
    found: dict[tuple[object, ...], GroupShift] = {}
    for group, of_group in members.items():
        explained = [each.shift for each in whole if each.group == group]
        for member in of_group:
            for shift in answers.get(_name(member), []):
                at = shift.after[0]
                if any(_explains(other, shift) for other in explained):
                    continue
                key = (group, at, shift.drift, shift.effect > 0, shift.confirmed)
                known = found.get(key) or GroupShift(
                    group, shift, [], [each.series for each in of_group]
                )
                found[key] = replace(known, cells=[*known.cells, member.series])
    return list(found.values())
