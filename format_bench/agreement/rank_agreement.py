"""Whether two results put formats into the same order, metric by metric."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from format_bench.agreement.ranks import LEAST, kendall_tau_b, ranks, spearman

if TYPE_CHECKING:
    from format_bench.agreement.pairs import Pair, PairedTable
    from format_bench.results.candidates import Choice
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
    choice: Choice
    rank_a: float
    rank_b: float
    formats: int


def agreements(pairs: list[Pair]) -> list[Agreement]:
    """Return the correlations of each measure: on each data set, and on all."""
    found = []
    for (family, measure), by_table in _grouped(pairs).items():
        for table, cells in by_table.items():
            values = {each.choice: _values(each) for each in cells}
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
        yield Disagreement(table, measure, pair.choice, float(rank_a), float(rank_b), len(cells))


def _agreement(
    family: str, measure: Measure, dataset: str, values: dict[Choice, tuple[float, float]]
) -> Agreement:
    sides = [each[0] for each in values.values()], [each[1] for each in values.values()]
    return Agreement(family, measure, dataset, len(values), spearman(*sides), kendall_tau_b(*sides))


def _on_all(by_table: dict[PairedTable, list[Pair]]) -> dict[Choice, tuple[float, float]]:
    """Return the mean logarithms of the formats that are on all tables."""
    logs: dict[Choice, list[tuple[float, float]]] = {}
    for cells in by_table.values():
        for pair in cells:
            a, b = _values(pair)
            logs.setdefault(pair.choice, []).append((_log(a), _log(b)))
    return {
        choice: (fmean(a for a, _ in found), fmean(b for _, b in found))
        for choice, found in logs.items()
        if len(found) == len(by_table)
    }


def _values(pair: Pair) -> tuple[float, float]:
    return pair.a.value or 0.0, pair.b.value or 0.0


def _log(value: float) -> float:
    return math.log(value) if value else -math.inf
