"""Agreement of rankings: rank correlations of two results by metric, and the formats that moved.

C. Spearman: The Proof and Measurement of Association between Two Things, American Journal of
Psychology 15, 1904; M. G. Kendall: The Treatment of Ties in Ranking Problems, Biometrika 33, 1945, for
tau-b.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from format_bench.comparison.pairs import Pair, PairedDataset
    from format_bench.results.candidates import Configuration
    from format_bench.results.metrics import Measure


# Formats of a correlation; of two it is 1 or -1, whatever the values.
FEWEST_RANKED = 3

# Smallest difference of ranks that is reported.
NOTABLE_RANKS = 2


class Agreement(NamedTuple):
    """Correlations of the formats' orders in one measure."""

    suite: str
    measure: Measure
    dataset: str
    """Empty: by the geometric mean over all common data sets."""
    formats: int
    spearman: float | None
    kendall_tau_b: float | None


class Disagreement(NamedTuple):
    """A configuration whose ranks differ."""

    dataset: PairedDataset
    measure: Measure
    configuration: Configuration
    rank_a: float
    rank_b: float
    formats: int


def agreements(pairs: list[Pair]) -> list[Agreement]:
    """Return the correlations of each measure: on each data set, and on all."""
    found = []
    for (suite, measure), by_dataset in _grouped(pairs).items():
        for dataset, cells in by_dataset.items():
            values = {each.configuration: _values(each) for each in cells}
            found.append(_agreement(suite, measure, dataset.name, values))
        if len(by_dataset) > 1:
            found.append(_agreement(suite, measure, "", _on_all(by_dataset)))
    return [each for each in found if each.formats >= FEWEST_RANKED]


def disagreements(pairs: list[Pair]) -> list[Disagreement]:
    """Return the configurations whose ranks differ notably, largest differences first."""
    found = [
        each
        for (_, measure), by_dataset in _grouped(pairs).items()
        for dataset, cells in by_dataset.items()
        for each in _moved(dataset, measure, cells)
        if abs(each.rank_a - each.rank_b) >= NOTABLE_RANKS
    ]
    return sorted(found, key=lambda each: -abs(each.rank_a - each.rank_b))


def _grouped(pairs: list[Pair]) -> dict[tuple[str, Measure], dict[PairedDataset, list[Pair]]]:
    found: dict[tuple[str, Measure], dict[PairedDataset, list[Pair]]] = {}
    for pair in pairs:
        datasets = found.setdefault((pair.dataset.suite, pair.measure), {})
        datasets.setdefault(pair.dataset, []).append(pair)
    return found


def _moved(dataset: PairedDataset, measure: Measure, cells: list[Pair]) -> Iterator[Disagreement]:
    one, other = (ranks([_values(each)[side] for each in cells]) for side in (0, 1))
    for pair, rank_a, rank_b in zip(cells, one, other, strict=True):
        yield Disagreement(
            dataset, measure, pair.configuration, float(rank_a), float(rank_b), len(cells)
        )


def _agreement(
    suite: str, measure: Measure, dataset: str, values: dict[Configuration, tuple[float, float]]
) -> Agreement:
    sides = [each[0] for each in values.values()], [each[1] for each in values.values()]
    return Agreement(suite, measure, dataset, len(values), spearman(*sides), kendall_tau_b(*sides))


def _on_all(
    by_dataset: dict[PairedDataset, list[Pair]],
) -> dict[Configuration, tuple[float, float]]:
    """Return the mean logarithms of the configurations that are on all data sets."""
    logs: dict[Configuration, list[tuple[float, float]]] = {}
    for cells in by_dataset.values():
        for pair in cells:
            a, b = _values(pair)
            logs.setdefault(pair.configuration, []).append((_log(a), _log(b)))
    return {
        configuration: (fmean(a for a, _ in found), fmean(b for _, b in found))
        for configuration, found in logs.items()
        if len(found) == len(by_dataset)
    }


def _values(pair: Pair) -> tuple[float, float]:
    return pair.a.value or 0.0, pair.b.value or 0.0


def _log(value: float) -> float:
    return math.log(value) if value else -math.inf


def ranks(values: Sequence[float]) -> np.ndarray:
    """Return the ranks of values, 1 for the smallest; ties share their mean rank.

    Returns
    -------
    numpy.ndarray
        Shape (values,), dtype float64.
    """
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    found: np.ndarray = rankdata(values)
    return found


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Spearman's rho; None for fewer than three values, or if all of one side are equal."""
    from scipy.stats import spearmanr

    # Of ranks, since a mean logarithm of zeros is infinite, and scipy would return NaN.
    return float(spearmanr(ranks(a), ranks(b)).statistic) if _have_order(a, b) else None


def kendall_tau_b(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Kendall's tau-b, where ties count neither way; None as for `spearman`."""
    from scipy.stats import kendalltau

    return float(kendalltau(ranks(a), ranks(b)).statistic) if _have_order(a, b) else None


def _have_order(a: Sequence[float], b: Sequence[float]) -> bool:
    return len(a) >= FEWEST_RANKED and min(len(set(a)), len(set(b))) > 1
