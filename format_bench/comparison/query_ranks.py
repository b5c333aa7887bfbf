"""Agreement on queries: rank correlations over queries, and the queries where formats moved most.

The order of a few formats in one query says little: of four there are 24. The order of the queries in
one format, and of all cells, says more.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from format_bench.comparison.pairs import FEWEST_FOR_MEAN
from format_bench.comparison.ranks import FEWEST_RANKED, kendall_tau_b, spearman

if TYPE_CHECKING:
    from collections.abc import Iterable

    from format_bench.comparison.pairs import Pair
    from format_bench.results.candidates import Configuration
    from format_bench.results.metrics import Measure


class QueryAgreement(NamedTuple):
    """Correlations of two orders of queries in one measure."""

    suite: str
    measure: Measure
    """Of no single query."""
    configuration: Configuration | None
    """None: all cells of all configurations together."""
    cells: int
    spearman: float | None
    kendall_tau_b: float | None


class QueryDisagreement(NamedTuple):
    """A cell whose place among the common formats differs, as a ratio to their geometric mean."""

    pair: Pair
    relative_a: float
    """The value in A by the geometric mean of all common formats in A, in this query."""
    relative_b: float

    @property
    def log_ratio(self) -> float:
        """Logarithm of the relative value in B by that in A."""
        return math.log(self.relative_b / self.relative_a)


def query_agreements(pairs: Iterable[Pair]) -> list[QueryAgreement]:
    """Return the correlations of each measure of queries: of each format, and of all cells."""
    found: dict[tuple[str, Measure, Configuration | None], list[Pair]] = {}
    for pair in pairs:
        if pair.measure.query:
            measure = pair.measure._replace(query="")
            for configuration in (pair.configuration, None):
                found.setdefault((pair.dataset.suite, measure, configuration), []).append(pair)
    return [
        QueryAgreement(*key, len(cells), *_correlations(cells))
        for key, cells in sorted(found.items(), key=_place)
        if len(cells) >= FEWEST_RANKED
    ]


def _place(item: tuple[tuple[str, Measure, Configuration | None], list[Pair]]) -> tuple[object, ...]:
    suite, measure, configuration = item[0]
    return suite, measure.phrase, configuration is None, configuration and configuration.sort_key


def _correlations(cells: list[Pair]) -> tuple[float | None, float | None]:
    a, b = [each.a.value or 0.0 for each in cells], [each.b.value or 0.0 for each in cells]
    return spearman(a, b), kendall_tau_b(a, b)


def query_disagreements(pairs: Iterable[Pair]) -> list[QueryDisagreement]:
    """Return the cells of queries with their relative places, those that differ most first.

    Only of queries that several formats answered in both results, with values above 0.
    """
    by_query: dict[tuple[object, Measure], list[Pair]] = {}
    for pair in pairs:
        if pair.measure.query and pair.a.value and pair.b.value:
            by_query.setdefault((pair.dataset, pair.measure), []).append(pair)
    found = []
    for cells in by_query.values():
        if len(cells) >= FEWEST_FOR_MEAN:
            a = math.exp(fmean(math.log(each.a.value or 1) for each in cells))
            b = math.exp(fmean(math.log(each.b.value or 1) for each in cells))
            found += [
                QueryDisagreement(each, (each.a.value or 0) / a, (each.b.value or 0) / b)
                for each in cells
            ]
    return sorted(found, key=lambda each: -abs(each.log_ratio))
