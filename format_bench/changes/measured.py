"""What has changed of times and memory, which vary from run to run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.member import Member, cell_question, group_question, members_of
from format_bench.changes.operations import Kind
from format_bench.changes.shifts import shifts

if TYPE_CHECKING:
    from format_bench.changes.cell_series import CellSeries, Group
    from format_bench.changes.question import Question, Shift
    from format_bench.results.noise_floor import Floors


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
