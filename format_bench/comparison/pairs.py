"""Which cells of two results measure the same thing.

What values are divided by where the tables of two results have other numbers of rows.

Times and sizes do not grow in one proportion with the rows, but how the formats stand to each other
changes less: so each value is divided by the geometric mean of all formats that both results have. The
ratio of two such values tells whether a format stands better, or worse, among the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from format_bench.results.candidates import (
    Candidate,
    Configuration,
    DatasetSize,
    candidates_of,
    datasets_of,
)
from format_bench.results.load import suite_of

if TYPE_CHECKING:
    from format_bench.results.load import Results
    from format_bench.results.metrics import Measure
    from format_bench.results.records import Record


class PairedTable(NamedTuple):
    """A data set that both results have, perhaps with different numbers of rows."""

    family: str
    dataset: str
    rows_a: int
    rows_b: int

    @property
    def same_rows(self) -> bool:
        """Whether values compare as they are."""
        return self.rows_a == self.rows_b


class Pair(NamedTuple):
    """Two cells with values."""

    table: PairedTable
    configuration: Configuration
    measure: Measure
    a: Record
    b: Record


class Pairs(NamedTuple):
    """All that two results have in common, and how much they do not."""

    pairs: list[Pair]
    only_a: int
    """Cells on common tables that have a value in the first results alone."""
    only_b: int


def pairs_of(a: Results, b: Results) -> Pairs:
    """Return the pairs of two results, in the order of the first."""
    pairs: list[Pair] = []
    left_over = [0, 0]
    families = dict.fromkeys(map(suite_of, a.records))
    for family in families:
        one, other = _by_choice(a, family), _by_choice(b, family)
        for table in _common_tables(family, list(one.values()), list(other.values())):
            for configuration in dict.fromkeys([*one, *other]):
                cells_a = _cells(one.get(configuration), DatasetSize(table.dataset, table.rows_a))
                cells_b = _cells(other.get(configuration), DatasetSize(table.dataset, table.rows_b))
                for measure in cells_a:
                    if measure in cells_b:
                        pairs.append(
                            Pair(table, configuration, measure, cells_a[measure], cells_b[measure])
                        )
                left_over[0] += len(cells_a.keys() - cells_b.keys())
                left_over[1] += len(cells_b.keys() - cells_a.keys())
    return Pairs(pairs, *left_over)


def _by_choice(results: Results, family: str) -> dict[Configuration, Candidate]:
    records = [each for each in results.records if suite_of(each) == family]
    return {each.configuration: each for each in candidates_of(records)}


def _common_tables(family: str, a: list[Candidate], b: list[Candidate]) -> Iterator[PairedTable]:
    """Yield data sets of equal rows; where there are none, each results' largest of that name."""
    rows_a, rows_b = _rows(a), _rows(b)
    for dataset in rows_a:
        if dataset not in rows_b:
            continue
        common = sorted(rows_a[dataset] & rows_b[dataset])
        if common:
            yield from (PairedTable(family, dataset, rows, rows) for rows in common)
        else:
            yield PairedTable(family, dataset, max(rows_a[dataset]), max(rows_b[dataset]))


def _rows(candidates: list[Candidate]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for table in datasets_of(candidates):
        found.setdefault(table.dataset, set()).add(table.rows)
    return found


def _cells(candidate: Candidate | None, table: DatasetSize) -> dict[Measure, Record]:
    """Return the cells of a table that have values."""
    cells = candidate.cells.items() if candidate else ()
    return {
        measure: record for (at, measure), record in cells if at == table and record.value is not None
    }


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
