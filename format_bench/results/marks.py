"""Best value of a comparison and the values that tie with it.

One rule for the terminal, asv's tables, reports and the site, also described in docs/methodology.md:

1. Only values of one data set, size, thread policy, metric and cache state are compared.
2. The smallest value is the best, and so is any that equals it. Nothing is marked if there are no two
   different values, nor for ratios, which explain times and are not aims themselves.
3. A value ties with the best if noise may explain the difference: a relative difference up to the noise
   that the rounds of the two in this run show (`format_bench.results.noise`). Where that is not known,
   if the intervals of the two medians overlap, so a value of one sample ties with none.
4. Exact metrics (sizes and counts) do not tie.

Beside the best of one metric, the Pareto front has the points that no other beats in all coordinates.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

# Mark of the smallest value; smaller is always better.
BEST = "*"

# Mark of a value that cannot be distinguished from the smallest.
TIE = "="

# The marks in charts and pages.
WORDS = {BEST: "best", TIE: "tie", "": ""}

# Styles of marked values on a terminal, as rich names them.
STYLES = {BEST: "bold green", TIE: "green"}

LEGEND = (
    "Smaller is better, always; the best of each comparison is marked. A tie is no further from the "
    "best than the rounds of both in this run differ by chance; where that is not known, their "
    "intervals overlap."
)
"""Meaning of "best" and "tie" as sentences."""

SYMBOLS = f"{BEST} best, {TIE} tie. {LEGEND}"
"""The same in tables of plain text."""

K = TypeVar("K", bound=Hashable)


def pareto_front(points: Mapping[K, Sequence[float]]) -> list[K]:
    """Return the points on the Pareto front, sorted by their coordinates.

    A point is on the front if no other one is at most as large in every coordinate and smaller in one.

    Parameters
    ----------
    points : mapping
        The coordinates of each point, all of the same measures; smaller is better.
    """
    front = [
        key
        for key, point in points.items()
        if not any(_dominates(other, point) for other in points.values())
    ]
    return sorted(front, key=lambda key: tuple(points[key]))


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
