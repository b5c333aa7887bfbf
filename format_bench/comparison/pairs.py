"""Pairs of cells of two results, and the means that relate data sets of different sizes.

Times and sizes do not grow in one proportion with the rows, but the order of the formats changes less.
So where two results have different numbers of rows, each value is divided by the geometric mean of all
formats that both have. The ratio of two such values compares a format's places among the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from format_bench.results.candidates import Candidate, Configuration, DatasetSize, candidates_of
from format_bench.results.load import Results, suite_of

if TYPE_CHECKING:
    from format_bench.results.metrics import Measure
    from format_bench.results.records import Record


class PairedDataset(NamedTuple):
    """A data set that both results have, perhaps with different numbers of rows."""

    suite: str
    name: str
    rows_a: int
    rows_b: int

    @property
    def same_rows(self) -> bool:
        """Whether values compare directly."""
        return self.rows_a == self.rows_b


class Pair(NamedTuple):
    """Two cells with values, of the same configuration and measure."""

    dataset: PairedDataset
    configuration: Configuration
    measure: Measure
    a: Record
    b: Record


class Pairs(NamedTuple):
    """Pairs of cells, and the numbers of cells that remain."""

    pairs: list[Pair]
    only_a: int
    """Cells on common data sets that have a value in the first results alone."""
    only_b: int


def pairs_of(a: Results, b: Results) -> Pairs:
    """Return the pairs of two results, in the order of the first."""
    pairs: list[Pair] = []
    only_a = only_b = 0
    for suite in dict.fromkeys(map(suite_of, a.records)):
        one, other = _candidates(a, suite), _candidates(b, suite)
        for dataset in _common_datasets(suite, one, other):
            for configuration in dict.fromkeys([*one, *other]):
                cells_a = _cells(one.get(configuration), DatasetSize(dataset.name, dataset.rows_a))
                cells_b = _cells(other.get(configuration), DatasetSize(dataset.name, dataset.rows_b))
                pairs += [
                    Pair(dataset, configuration, measure, cells_a[measure], cells_b[measure])
                    for measure in cells_a
                    if measure in cells_b
                ]
                only_a += len(cells_a.keys() - cells_b.keys())
                only_b += len(cells_b.keys() - cells_a.keys())
    return Pairs(pairs, only_a, only_b)


Candidates = dict[Configuration, Candidate]


def _candidates(results: Results, suite: str) -> Candidates:
    records = [each for each in results.records if suite_of(each) == suite]
    return {_compared(each.configuration): each for each in candidates_of(records)}


def _compared(configuration: Configuration) -> Configuration:
    """Return a configuration without its codec if a track decides it: names of one codec differ."""
    return configuration._replace(codec=None, level=None) if configuration.track else configuration


def _common_datasets(suite: str, a: Candidates, b: Candidates) -> Iterator[PairedDataset]:
    """Yield data sets of equal rows; where there are none, each results' largest of that name."""
    rows_a, rows_b = _rows(a), _rows(b)
    for name in rows_a:
        if name not in rows_b:
            continue
        # Absolute values say more than ratios to a mean, so equal rows come first.
        common = sorted(rows_a[name] & rows_b[name])
        if common:
            yield from (PairedDataset(suite, name, rows, rows) for rows in common)
        else:
            yield PairedDataset(suite, name, max(rows_a[name]), max(rows_b[name]))


def _rows(candidates: Candidates) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for candidate in candidates.values():
        for dataset, _ in candidate.cells:
            found.setdefault(dataset.dataset, set()).add(dataset.rows)
    return found


def _cells(candidate: Candidate | None, dataset: DatasetSize) -> dict[Measure, Record]:
    """Return the cells of a data set that have values."""
    cells = candidate.cells.items() if candidate else ()
    return {
        measure: record for (at, measure), record in cells if at == dataset and record.value is not None
    }


# The cells that share a mean.
MeanKey = tuple["PairedDataset", "Measure"]

# Formats of a mean; one alone is always at its own mean.
FEWEST_FOR_MEAN = 2


def means_of(pairs: list[Pair]) -> dict[MeanKey, tuple[float, float] | None]:
    """Return the means of A and of B for each measure on each data set whose rows differ.

    None where the mean does not exist: of a single format, or if a value is 0.
    """
    by_key: dict[MeanKey, list[Pair]] = {}
    for pair in pairs:
        if not pair.dataset.same_rows:
            by_key.setdefault((pair.dataset, pair.measure), []).append(pair)
    return {key: _means(found) for key, found in by_key.items()}


def _means(pairs: list[Pair]) -> tuple[float, float] | None:
    values = [(each.a.value or 0.0, each.b.value or 0.0) for each in pairs]
    if len(values) < FEWEST_FOR_MEAN or any(0.0 in each for each in values):
        return None
    a, b = (math.exp(math.fsum(map(math.log, side)) / len(side)) for side in zip(*values, strict=True))
    return a, b
