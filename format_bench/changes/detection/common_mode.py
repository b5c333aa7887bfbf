"""What a machine does to all formats alike: a month in which everything is slower is no format's doing.

The row effects of a two-way table, as J. W. Tukey polishes it by medians (Exploratory Data Analysis,
1977): a format that changes, or a minority of them, does not move them.

When a machine as a whole was slower or faster than usual: what no single format is blamed for.

The cells of a line as they are asked about: beside what all formats have in common.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.detection.model import Question, Shift
from format_bench.changes.series import SUITES, Kind, Operation
from format_bench.display.text import times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.history import Line, Point
    from format_bench.changes.series import CellSeries, Group
    from format_bench.results.noise_floor import Floors


FEWEST_FORMATS = 6
"""Of fewer, a change of one or two would be taken for the machine's."""

Mood = tuple[str, str]
"""What has a mood of its own: a module of suites, and an operation, whose cells are measured in turn."""


def moods(series: Sequence[CellSeries]) -> dict[Mood, NDArray[np.float64]]:
    """Return the logarithm of what all formats have in common at each point, shape (points,).

    Of times alone: memory and size are not the machine's.
    """
    members: dict[Mood, list[CellSeries]] = {}
    for each in series:
        if each.group.operation.kind is Kind.TIME:
            members.setdefault(mood_of(each), []).append(each)
    return {
        mood: _common(np.array([each.levels for each in found]))
        for mood, found in members.items()
        if len({each.group.format for each in found}) >= FEWEST_FORMATS
    }


def mood_of(series: CellSeries) -> Mood:
    """Return which mood a series shares."""
    return series.group.module, series.group.operation.name


def _common(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        # A cell, or a month, may have no value at all.
        warnings.filterwarnings("ignore", "All-NaN slice encountered", RuntimeWarning)
        usual = np.nanmedian(levels, axis=1, keepdims=True)
        return np.nan_to_num(np.nanmedian(levels - usual, axis=0))


@dataclass(frozen=True)
class CommonMove:
    """A point at which the formats of a suite moved together, by more than is noise."""

    point: Point
    module: str
    operation: str
    ratio: float
    """Beside the usual state of all points; above 1 if slower."""

    def __str__(self) -> str:
        suite = f" ({SUITES[self.module]})" if self.module in SUITES else ""
        verb = "slower" if self.ratio > 1 else "faster"
        factor = times(max(self.ratio, 1 / self.ratio))
        return f"all formats{suite} {self.operation} {factor} times {verb} than usual"


def common_moves(line: Line, series: Sequence[CellSeries], floors: Floors | None) -> list[CommonMove]:
    """Return the moves of a line in order of time."""
    least = math.log1p(Operation("", Kind.TIME).least_effect(floors))
    found = [
        CommonMove(point, module, operation, math.exp(move))
        for (module, operation), of_points in moods(series).items()
        for point, move in zip(line.points, of_points.tolist(), strict=True)
        if abs(move) > least
    ]
    return sorted(found, key=lambda move: move.point.date)


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
