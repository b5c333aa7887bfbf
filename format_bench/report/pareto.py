"""What nothing beats in two measures at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.report.cells import Measure

if TYPE_CHECKING:
    from format_bench.report.cells import Entry
    from format_bench.report.groups import Group

Points = dict["Entry", tuple[float, float]]


def front(points: Points) -> list[Entry]:
    """Return the entries on the Pareto front, by the first measure.

    An entry is on it if no other is at most as large in both measures and smaller in one.

    Parameters
    ----------
    points : dict
        Of each entry two values, of which smaller is better.
    """
    ahead = [
        entry
        for entry, (x, y) in points.items()
        if not any(
            other_x <= x and other_y <= y and (other_x, other_y) != (x, y)
            for other_x, other_y in points.values()
        )
    ]
    return sorted(ahead, key=lambda entry: points[entry])


def points_of(group: Group, read: Measure) -> Points:
    """Return size and read time of the entries that have both."""
    sizes, times = group.values(Measure("size")), group.values(read)
    return {entry: (sizes[entry], times[entry]) for entry in sizes if entry in times}
