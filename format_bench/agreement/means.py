"""What values are divided by where the tables of two results have other numbers of rows.

Times and sizes do not grow in one proportion with the rows, but how the formats stand to each other
changes less: so each value is divided by the geometric mean of all formats that both results have. The
ratio of two such values tells whether a format stands better, or worse, among the others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.agreement.pairs import Pair, PairedTable
    from format_bench.results.metrics import Measure

Group = tuple["PairedTable", "Measure"]
"""The cells that stand to each other."""

LEAST = 2
"""One format alone is always at its own mean."""


def means_of(pairs: list[Pair]) -> dict[Group, tuple[float, float] | None]:
    """Return the means of A and of B for each measure on each table whose rows differ.

    None where there is no such mean: of a single format, or if a value is 0.
    """
    groups: dict[Group, list[Pair]] = {}
    for pair in pairs:
        if not pair.table.same_rows:
            groups.setdefault((pair.table, pair.measure), []).append(pair)
    return {group: _means(found) for group, found in groups.items()}


def _means(pairs: list[Pair]) -> tuple[float, float] | None:
    values = [(each.a.value or 0.0, each.b.value or 0.0) for each in pairs]
    if len(values) < LEAST or any(0.0 in each for each in values):
        return None
    a, b = (math.exp(math.fsum(map(math.log, side)) / len(side)) for side in zip(*values, strict=True))
    return a, b
