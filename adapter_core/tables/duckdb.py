"""Tables between Arrow and DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Comparison, DataFormat, Feature, Kind, Predicate, UnknownNameError
from adapter_core.column_batches import ColumnSums
from adapter_core.errors import InvalidSelectionError
from adapter_core.predicate import BOOLEANS, NUMBERS
from adapter_core.tables.sql import misnamed, quoted

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pandas as pd
    import pyarrow as pa


_FLOATS = {"FLOAT", "DOUBLE"}
_NUMBERS = _FLOATS | {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG")}
_NUMBERS |= {"INTEGER", "UINTEGER"}

REFUSES = {
    Kind.HALF_FLOAT: "DuckDB has no type for them",
    Kind.TIMEDELTA: "DuckDB's interval counts months, days and microseconds",
}
"""Kinds of column that DuckDB changes, with the reasons."""


class DuckDBColumns(DataFormat):
    """A format whose columns are those of a table in DuckDB."""

    suite = "engines"
    holds_nul_in_names = False
    supports: ClassVar = frozenset({Feature.COLUMNS})

    def _check_values(self, df: pd.DataFrame) -> None:
        reason = misnamed(df.columns)
        if reason:
            raise self.refusal(reason)


def sums_of_relation(
    relation: duckdb.DuckDBPyRelation, columns: list[str], where: Predicate | None
) -> ColumnSums:
    """Return the sums of some columns over the rows that pass a predicate, by DuckDB's own plan."""
    _check_numbers(relation, columns)
    totals = ", ".join(f"sum({quoted(name)})" for name in columns)
    ((rows, *sums),) = _filtered(relation, where).aggregate(f"count(*), {totals}").fetchall()
    # A sum of integers has 128 bits, and the sum of no values is null.
    return ColumnSums(rows, {name: float(each or 0) for name, each in zip(columns, sums, strict=True)})


def arrays_of_relation(
    relation: duckdb.DuckDBPyRelation, columns: list[str], where: Predicate | None
) -> dict[str, np.ndarray]:
    """Return some columns of the rows that pass a predicate, each of shape (rows,)."""
    import numpy as np

    _check_numbers(relation, columns)
    arrays = _filtered(relation, where).select(*map(quoted, columns)).fetchnumpy()
    for name in columns:
        if isinstance(arrays[name], np.ma.MaskedArray):
            raise InvalidSelectionError(f"column {name!r} contains nulls")
    return arrays


def _check_numbers(relation: duckdb.DuckDBPyRelation, columns: list[str]) -> None:
    for name in columns:
        contents = _contents(relation, name)
        if contents not in (NUMBERS, BOOLEANS):
            raise InvalidSelectionError(f"column {name!r} contains {contents}, not numbers")


def _contents(relation: duckdb.DuckDBPyRelation, column: str) -> str:
    if column not in relation.columns:
        raise UnknownNameError("column", column, relation.columns)
    name = str(relation.types[relation.columns.index(column)])
    return BOOLEANS if name == "BOOLEAN" else NUMBERS if name in _NUMBERS else name


def _filtered(relation: duckdb.DuckDBPyRelation, where: Predicate | None) -> duckdb.DuckDBPyRelation:
    if where is None:
        return relation
    return relation.filter(" AND ".join(_condition(relation, each) for each in where.comparisons))


def _condition(relation: duckdb.DuckDBPyRelation, each: Comparison) -> str:
    contents, name = _contents(relation, each.column), quoted(each.column)
    kind = str(relation.types[relation.columns.index(each.column)])
    value = each.fitted(contents, is_single=kind == "FLOAT").value
    constant = f"'{value}'::DOUBLE" if isinstance(value, float) else str(value)
    text = f"{name} {each.operator} {constant}"
    # NaN is the largest number of DuckDB.
    may_pass_nan = kind in _FLOATS and each.operator in ("!=", ">", ">=")
    return f"{text} AND NOT isnan({name})" if may_pass_nan else text


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> Iterator[None]:
    """Register an Arrow table under the name "given"."""
    connection.register("given", table)
    try:
        yield
    finally:
        connection.unregister("given")


@contextmanager
def plain_path(path: Path) -> Iterator[Path]:
    """Provide a symbolic link, whose path has plain characters only, to a path that need not exist."""
    with TemporaryDirectory() as folder:
        link = Path(folder, "link")
        link.symlink_to(path.absolute())
        yield link
