"""What to do to values so that lengths of runs and sortedness come out as stated."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from data_generator.realistic import clusters
from data_generator.spec import WINDOW

if TYPE_CHECKING:
    import numpy as np

    from data_generator.spec import ColumnSpec

MERGED = 0.2
"""Sorting makes runs of about half this share of a window's values, if the window may be so small."""

SMALLEST = 3
"""Of two neighbours one is the larger in any case."""

ROUNDS = 3
"""Runs, the size of windows and what sorting merges depend on each other."""


class Plan(NamedTuple):
    """Steps that put values in order."""

    run_length: float
    """Mean length of the runs that are made before values are put in order."""
    window: int
    """Number of units that are sorted together."""
    sorted_units: int
    """How many of them are; the others stay where they are."""


def planned(spec: ColumnSpec, counts: np.ndarray) -> Plan:
    """Return the steps for values that occur as often as `counts` says, shape (distinct,)."""
    chance = clusters.together_by_chance(counts, spec.clustering)
    equal = max(chance, 1 - 1 / spec.mean_run_length)
    if spec.sortedness <= equal:
        return Plan(spec.mean_run_length * (1 - chance), 0, 0)
    # Each break between windows costs 2 / size of sortedness.
    needed = 2 * (1 - equal) / (1 - spec.sortedness + 1e-9)
    length = 1.0
    for _ in range(ROUNDS):
        # Smaller windows where few distinct values would merge to long runs, as far as breaks allow.
        size = max(SMALLEST, round(min(WINDOW / length, max(MERGED / (chance + 1e-9), needed))))
        in_order = (spec.sortedness - equal) / (1 - equal) / (1 - 2 / size)
        # If a share q of a window is sorted, q**2 of neighbours are in order, and half of the others.
        chosen = round(sqrt(min(1.0, in_order)) * size)
        merged = chosen / size * (1 - clusters.distinct_share(counts, chosen, spec.clustering))
        length = max(1.0, spec.mean_run_length * (1 - max(merged, chance)))
    return Plan(length, size, chosen)
