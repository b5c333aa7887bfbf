"""Best value of a comparison and the values that tie with it.

One rule for the terminal, asv's tables, reports and the site, also described in docs/methodology.md:

1. Only values of one data set, size, thread policy, metric and cache state are compared.
2. The smallest value is the best, and so is any that equals it. Nothing is marked if there are no two
   different values, nor for ratios, which explain times and are not aims themselves.
3. A value ties with the best if noise may explain the difference: a relative difference up to the noise
   that the rounds of the two in this run show (`format_bench.results.noise`). Where that is not known,
   up to the noise floor of the metric on this machine; without floors, if the intervals of the two
   medians overlap, so a value of one sample ties with none.
4. Exact metrics (sizes and counts) do not tie.

Beside the best of one metric, the Pareto front has the points that no other beats in all coordinates.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from format_bench.results.noise_floor import Floors


# Mark of the smallest value; smaller is always better.
BEST = "*"

# Mark of a value that cannot be distinguished from the smallest.
TIE = "="

# The marks in charts and pages.
WORDS = {BEST: "best", TIE: "tie", "": ""}

# Styles of marked values on a terminal, as rich names them.
STYLES = {BEST: "bold green", TIE: "green"}

K = TypeVar("K", bound=Hashable)


def legend(floors: Floors | None) -> str:
    """Return the meaning of "best" and "tie" as sentences."""
    text = (
        "Smaller is better, always; the best of each comparison is marked. A tie is no further from the "
        "best than the rounds of both in this run differ by chance; where that is not known, "
    )
    if floors:
        return f"{text}than noise is on this machine ({floors})."
    return f"{text}if their intervals overlap."


def symbols(floors: Floors | None) -> str:
    """Return the meaning of the symbols, "best" and "tie" included, in tables of plain text."""
    return f"{BEST} best, {TIE} tie. {legend(floors)}"


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
