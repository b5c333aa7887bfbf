"""Whether two results put formats into the same order, metric by metric.

How far two rankings agree: rank correlations, from 1 (the same order) to -1 (the opposite).

C. Spearman: The Proof and Measurement of Association between Two Things, American Journal of
Psychology 15, 1904; M. G. Kendall: The Treatment of Ties in Ranking Problems, Biometrika 33, 1945, for
tau-b.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from format_bench.comparison.pairs import Pair, PairedTable
    from format_bench.results.candidates import Configuration
    from format_bench.results.metrics import Measure


NOTABLE = 2
"""Ranks by which a disagreement is worth naming."""


class Agreement(NamedTuple):
    """How far the orders of formats agree in one measure."""

    family: str
    measure: Measure
    dataset: str
    """Empty: by the geometric mean over all common data sets."""
    formats: int
    spearman: float | None
    kendall_tau_b: float | None


class Disagreement(NamedTuple):
    """A format whose ranks differ."""

    table: PairedTable
    measure: Measure
    configuration: Configuration
    rank_a: float
    rank_b: float
    formats: int


def agreements(pairs: list[Pair]) -> list[Agreement]:
    """Return the correlations of each measure: on each data set, and on all."""
    found = []
    for (family, measure), by_table in _grouped(pairs).items():
        for table, cells in by_table.items():
            values = {each.configuration: _values(each) for each in cells}
            found.append(_agreement(family, measure, table.dataset, values))
        if len(by_table) > 1:
            found.append(_agreement(family, measure, "", _on_all(by_table)))
    return [each for each in found if each.formats >= LEAST]


def disagreements(pairs: list[Pair]) -> list[Disagreement]:
    """Return the formats whose ranks differ notably, those that differ most first."""
    found = [
        each
        for (_, measure), by_table in _grouped(pairs).items()
        for table, cells in by_table.items()
        for each in _moved(table, measure, cells)
        if abs(each.rank_a - each.rank_b) >= NOTABLE
    ]
    return sorted(found, key=lambda each: -abs(each.rank_a - each.rank_b))


def _grouped(pairs: list[Pair]) -> dict[tuple[str, Measure], dict[PairedTable, list[Pair]]]:
    found: dict[tuple[str, Measure], dict[PairedTable, list[Pair]]] = {}
    for pair in pairs:
        tables = found.setdefault((pair.table.family, pair.measure), {})
        tables.setdefault(pair.table, []).append(pair)
    return found


def _moved(table: PairedTable, measure: Measure, cells: list[Pair]) -> Iterator[Disagreement]:
    one, other = (ranks([_values(each)[side] for each in cells]) for side in (0, 1))
    for pair, rank_a, rank_b in zip(cells, one, other, strict=True):
        yield Disagreement(table, measure, pair.configuration, float(rank_a), float(rank_b), len(cells))


def _agreement(
    family: str, measure: Measure, dataset: str, values: dict[Configuration, tuple[float, float]]
) -> Agreement:
    sides = [each[0] for each in values.values()], [each[1] for each in values.values()]
    return Agreement(family, measure, dataset, len(values), spearman(*sides), kendall_tau_b(*sides))


def _on_all(by_table: dict[PairedTable, list[Pair]]) -> dict[Configuration, tuple[float, float]]:
    """Return the mean logarithms of the formats that are on all tables."""
    logs: dict[Configuration, list[tuple[float, float]]] = {}
    for cells in by_table.values():
        for pair in cells:
            a, b = _values(pair)
            logs.setdefault(pair.configuration, []).append((_log(a), _log(b)))
    return {
        configuration: (fmean(a for a, _ in found), fmean(b for _, b in found))
        for configuration, found in logs.items()
        if len(found) == len(by_table)
    }


def _values(pair: Pair) -> tuple[float, float]:
    return pair.a.value or 0.0, pair.b.value or 0.0


def _log(value: float) -> float:
    return math.log(value) if value else -math.inf


LEAST = 3
"""Of fewer formats a correlation says nothing."""


def ranks(values: Sequence[float]) -> np.ndarray:
    """Return the ranks of values, 1 for the smallest; ties share their mean rank.

    Returns
    -------
    numpy.ndarray
        Shape (values,), dtype float64.
    """
    import numpy as np

    _, at, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[at]


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Spearman's rho; None for fewer than three values, or where one side has no order."""
    import numpy as np

    one, other = ranks(a), ranks(b)
    if len(one) < LEAST or not one.std() or not other.std():
        return None
    return float(np.corrcoef(one, other)[0, 1])


def kendall_tau_b(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Kendall's tau-b, for which ties count neither way; None as for `spearman`."""
    import numpy as np

    signs = [np.sign(np.subtract.outer(side, side)) for side in (ranks(a), ranks(b))]
    untied = np.prod([np.abs(each).sum() for each in signs])
    if len(a) < LEAST or not untied:
        return None
    return float((signs[0] * signs[1]).sum() / np.sqrt(untied))
