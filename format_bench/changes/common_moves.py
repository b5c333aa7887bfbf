"""When a machine as a whole was slower or faster than usual: what no single format is blamed for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.changes.mood import moods
from format_bench.changes.operations import SUITES, Kind, Operation
from format_bench.display.text import times

if TYPE_CHECKING:
    from format_bench.changes.cell_series import CellSeries
    from format_bench.changes.points import Line, Point
    from format_bench.results.noise_floor import Floors


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
