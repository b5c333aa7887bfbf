"""Comparison of generated workloads with the statistics of the real columns that they imitate.

Prints the comparison as Markdown tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import click

from data_generator.datasets.workloads import (
    COLUMNS,
    PROPERTIES,
    ROWS,
    TYPES,
    WORKLOADS,
    cuts,
    quantile,
    shares,
    statistics,
    workload,
)
from data_generator.profiling.measures import Measures, measure
from data_generator.realistic.tables import realistic_table
from data_generator.spec.arrow import plain

if TYPE_CHECKING:
    import pandas as pd


FEWEST = {"null_ratio": 1, "ndv_ratio": 3}
"""Fewest nulls of a column with nulls, and fewest values of one with more than two: no smaller ratios
exist."""

QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class PropertyComparison:
    """Target and result of one property of all columns of one type."""

    workload: str
    kind: str
    columns: int
    """Number of columns with the property."""
    name: str
    target: str
    """Quartiles, or shares of patterns in per cent."""
    obtained: str
    distance: float
    """Largest difference of the shares of columns below any value, or of any pattern's share.

    With so many columns, the smallest possible distance is 1 / (2 * columns) on average.
    """


def compared(name: str, rows: int = ROWS, columns: int = COLUMNS) -> Iterator[PropertyComparison]:
    """Yield the comparison of each property of each type of column of a workload.

    Bounds below the ratio of one null, or of three distinct values, to the number of rows are skipped:
    tables of so few rows cannot reach them.
    """
    df = realistic_table(workload(name, columns), rows, name=name)
    found = {str(column): _measured(df[column]) for column in df.columns}
    mix = {kind: sum(column.startswith(kind) for column in found) / len(found) for kind in TYPES}
    yield _shares(name, "all", len(found), "type_mix", statistics()["type_mix"][name], mix)
    for kind in TYPES:
        of_kind = [each for column, each in found.items() if column.startswith(kind)]
        if of_kind:
            yield _patterns(name, kind, of_kind)
            for what in PROPERTIES:
                yield from _distribution(name, kind, what, of_kind)


def _measured(column: pd.Series) -> Measures:
    import pyarrow as pa

    return measure(plain(pa.array(column, from_pandas=True)))


def _patterns(name: str, kind: str, found: list[Measures]) -> PropertyComparison:
    wanted = statistics()["workloads"][name][kind]["pattern"]
    there = {each: sum(m.pattern == each for m in found) / len(found) for each in wanted}
    return _shares(name, kind, len(found), "pattern", wanted, there)


def _shares(  # noqa: PLR0913, PLR0917 (the fields of a comparison)
    name: str, kind: str, columns: int, what: str, wanted: dict[str, float], there: dict[str, float]
) -> PropertyComparison:
    distance = max(abs(wanted[each] - there[each]) for each in there)
    target, obtained = (
        ", ".join(f"{each} {shares[each]:.0%}" for each in there if f"{shares[each]:.0%}" != "0%")
        for shares in (wanted, there)
    )
    return PropertyComparison(name, kind, columns, what, target, obtained, distance)


def _distribution(
    name: str, kind: str, what: str, found: list[Measures]
) -> Iterator[PropertyComparison]:
    import numpy as np

    values = np.array([getattr(each, what) for each in found if _has(each, what)])
    if not len(values):
        return
    reachable = FEWEST.get(what, 0) / found[0].rows
    inner = zip(cuts(what)[1:-1], accumulate(shares(name, kind, what)), strict=False)
    distance = max(abs(below - float((values < cut).mean())) for cut, below in inner if cut > reachable)
    target = [quantile(name, kind, what, share) for share in QUARTILES]
    # Each of n columns represents the middle of 1 / n of all columns.
    obtained = np.quantile(values, QUARTILES, method="hazen").tolist()
    yield PropertyComparison(name, kind, len(values), what, _text(target), _text(obtained), distance)


def _has(column: Measures, what: str) -> bool:
    """Return True if a column has a property: properties of values need values."""
    if what == "zipf_s":
        return column.pattern == "gentle_zipf"
    return what == "null_ratio" or column.pattern != "null"


def _text(values: list[float]) -> str:
    return ", ".join(f"{value:.0f}" if "e+" in f"{value:.2g}" else f"{value:.2g}" for value in values)


def detailed(name: str) -> Iterator[str]:
    """Yield a table in Markdown of all properties of a workload of the default size."""
    yield "| type | columns | property | target | obtained | distance |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for each in compared(name):
        cells = (each.kind, each.columns, each.name, each.target, each.obtained, f"{each.distance:.2f}")
        yield f"| {' | '.join(map(str, cells))} |"


def distances(rows: int, columns: int) -> Iterator[str]:
    """Yield a table in Markdown of all workloads: mean distances, weighted by columns of each type."""
    what = ("type_mix", "pattern", *PROPERTIES)
    yield f"| workload | {' | '.join(what)} |"
    yield f"| --- {'| --- ' * len(what)}|"
    for name in WORKLOADS:
        found = list(compared(name, rows, columns))
        means = []
        for each in what:
            there = [(c.distance * c.columns, c.columns) for c in found if c.name == each]
            means.append(sum(d for d, _ in there) / sum(n for _, n in there))
        yield f"| {name} | {' | '.join(f'{mean:.2f}' for mean in means)} |"


@click.command(help=__doc__)
def main() -> None:
    """Print the comparison of one workload in detail, and the distances of all."""
    click.echo("\n".join(detailed("core")))
    for shape in (ROWS, COLUMNS), (100_000, 200):
        click.echo("\nDistances, {:,} rows x {} columns:\n".format(*shape))
        click.echo("\n".join(distances(*shape)))


if __name__ == "__main__":
    main()
