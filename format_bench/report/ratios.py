"""How many times the best a value is, in one group and over several."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.report.cells import Entry, Measure
    from format_bench.report.groups import Group


def ratios(group: Group, measure: Measure) -> dict[Entry, float]:
    """Return each value by the smallest one; none if that is 0."""
    values = group.values(measure)
    best = min(values.values(), default=0)
    return {entry: value / best for entry, value in values.items()} if best > 0 else {}


def mean_ratios(groups: Iterable[Group], measure: Measure) -> dict[Entry, float]:
    """Return the geometric means over groups, of the entries that have a ratio in each.

    Ratios call for the geometric mean: it does not depend on what they are relative to (Fleming and
    Wallace, "How not to lie with statistics", Communications of the ACM 29, 1986).
    """
    found = [each for group in groups if (each := ratios(group, measure))]
    everywhere = set.intersection(*map(set, found)) if found else set()
    return {
        entry: math.exp(statistics.fmean(math.log(each[entry]) for each in found))
        for entry in sorted(everywhere, key=lambda entry: entry.place)
    }
