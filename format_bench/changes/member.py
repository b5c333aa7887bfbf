"""The cells of a line as they are asked about: beside what all formats have in common."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.mood import mood_of, moods
from format_bench.changes.operations import Kind
from format_bench.changes.question import Question, Shift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.cell_series import CellSeries, Group
    from format_bench.results.noise_floor import Floors


@dataclass(frozen=True)
class Member:
    """A cell beside what all formats have in common."""

    series: CellSeries
    levels: NDArray[np.float64]
    halves: NDArray[np.float64]
    least_effect: float

    @property
    def has_values(self) -> bool:
        """Whether there is a value at any point."""
        return not np.isnan(self.levels).all()

    def effect(self, shift: Shift) -> float:
        """Return the cell's own difference of logarithms between the points of a shift."""
        return _mean(self.levels, shift.after) - _mean(self.levels, shift.before)

    def moved(self, shift: Shift) -> bool:
        """Tell whether the cell moved as the shift did, and by more than is noise."""
        return bool(self.effect(shift) * np.sign(shift.effect) > self.least_effect)


def _mean(levels: NDArray[np.float64], points: Sequence[int]) -> float:
    values = levels[list(points)]
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else np.nan


def members_of(series: Sequence[CellSeries], floors: Floors | None) -> dict[Group, list[Member]]:
    """Return the cells of times and memory by their groups, in the order of the series."""
    common = moods(series)
    found: dict[Group, list[Member]] = {}
    for each in series:
        if each.group.operation.kind in (Kind.TIME, Kind.MEMORY):
            mood = common.get(mood_of(each), np.zeros(len(each.levels)))
            least = float(np.log1p(each.group.operation.least_effect(floors)))
            member = Member(each, each.levels - mood, each.halves - mood[:, None], least)
            found.setdefault(each.group, []).append(member)
    return found


def cell_question(member: Member) -> Question:
    """Return the question whether a cell has changed."""
    alike = ("cell", *mood_of(member.series))
    return Question(member.levels, _kind(member), alike, member.least_effect, member.halves)


def group_question(members: list[Member]) -> Question:
    """Return the question whether a group has changed: its level is the median of its cells'."""
    group = members[0].series.group
    usual = [np.nanmedian(each.levels) if each.has_values else np.nan for each in members]
    levels = [each.levels - level for each, level in zip(members, usual, strict=True)]
    halves = [each.halves - level for each, level in zip(members, usual, strict=True)]
    return Question(
        levels=_medians(np.array(levels)),
        kind=_kind(members[0]),
        alike=("group", group.module, group.operation.name),
        least_effect=members[0].least_effect,
        halves=_medians(np.array(halves)),
    )


def _kind(member: Member) -> Kind:
    return member.series.group.operation.kind


def _medians(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return medians over the first axis; not a number where there is no value."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice encountered", RuntimeWarning)
        return np.nanmedian(values, axis=0)
