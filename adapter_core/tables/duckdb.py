"""Tables between Arrow and DuckDB, and parts of DuckDB's relations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial, reduce
from operator import and_
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from adapter_core import (
    Comparison,
    Kind,
    PartialReads,
    Predicate,
    UnknownNameError,
)
from adapter_core.column_batches import ColumnSums
from adapter_core.errors import InvalidSelectionError
from adapter_core.predicate import BOOLEANS, NUMBERS, OPERATORS, TEXT
from adapter_core.remote_adapter import NO_EXTENSION
from adapter_core.tables.arrow import MAPS_INSIDE, frame_of
from adapter_core.tables.sql import misnamed, quoted
from adapter_core.values import maps_with_repeated_keys

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pandas as pd
    import pyarrow as pa


REFUSES = {
    Kind.HALF_FLOAT: "DuckDB has no type for them",
    Kind.WIDE_DECIMAL: "DuckDB has no type for them",
    Kind.TIMEDELTA: "DuckDB's interval counts months, days and microseconds",
}
"""Kinds of column that DuckDB changes, with the reasons."""


_FLOATS = {"FLOAT", "DOUBLE"}
_INTEGERS = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG")}
_INTEGERS |= {"INTEGER", "UINTEGER"}

# Contents of columns for `Comparison.fitted`, by DuckDB's types.
_CONTENTS = {
    **dict.fromkeys(_FLOATS | _INTEGERS, NUMBERS),
    "VARCHAR": TEXT,
    "BOOLEAN": BOOLEANS,
}

# `limit` needs a number.
_ALL_ROWS = 2**62


class DuckDBColumns(PartialReads):
    """A format whose columns DuckDB reads as a table."""

    local_only = NO_EXTENSION
    suite = "engines"
    holds_nul_in_names = False
    refuses_inside: ClassVar = MAPS_INSIDE

    def _check_values(self, df: pd.DataFrame) -> None:
        reason = misnamed(df.columns)
        if reason:
            raise self.refusal(reason)
        self._refuse_column(maps_with_repeated_keys(df), "maps with a key twice")


class DuckDBScan(PartialReads):
    """A format read in parts as a relation, with the types that all its rows have."""

    @abstractmethod
    def _scanned(self, path: Path) -> AbstractContextManager[duckdb.DuckDBPyRelation]:
        """Open the whole table, lazily, on a connection that nothing else uses meanwhile."""

    def _framing(self, table: duckdb.DuckDBPyRelation, path: Path) -> Callable[[pa.Table], pd.DataFrame]:
        """Return a function that makes the DataFrame of some rows of a table in a file."""
        return partial(frame_of, nullable=nullable_columns(table))

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with self._scanned(path) as scanned:
            table = projected(scanned, columns)
            return self._framing(table, path)(sliced(table, start, stop).to_arrow_table())

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        with self._scanned(path) as table:
            part = projected(filtered(table, predicate), columns).to_arrow_table()
            return self._framing(projected(table, columns), path)(part)

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with self._scanned(path) as scanned:
            table = projected(scanned, columns)
            yield from map(self._framing(table, path), batches_of(table, batch_rows))


class DuckDBTable(DuckDBScan, DuckDBColumns):
    """A format of DuckDB's own databases, whose arrays and sums come from the scanned relation."""

    def _read_arrays(
        self, path: Path, columns: list[str], where: Predicate | None
    ) -> dict[str, np.ndarray]:
        with self._scanned(path) as table:
            return arrays_of_relation(table, columns, where)

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        with self._scanned(path) as table:
            return sums_of_relation(table, columns, where)


class DuckDBText(DuckDBScan):
    """A text format that DuckDB reads as a relation."""

    local_only = NO_EXTENSION

    @abstractmethod
    def _relation(
        self, path: Path, connection: duckdb.DuckDBPyConnection | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Return the whole table, lazily, on the default connection unless another one is given."""

    @contextmanager
    def _scanned(self, path: Path) -> Iterator[duckdb.DuckDBPyRelation]:
        import duckdb

        with duckdb.cursor() as cursor:
            yield self._relation(path, cursor)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return frame_of(projected(self._relation(path), columns).to_arrow_table())


def sums_of_relation(
    relation: duckdb.DuckDBPyRelation, columns: list[str], where: Predicate | None
) -> ColumnSums:
    """Return the sums of some columns over the rows that pass a predicate, by DuckDB's own plan."""
    _check_numbers(relation, columns)
    totals = ", ".join(f"sum({quoted(name)})" for name in columns)
    ((rows, *sums),) = filtered(relation, where).aggregate(f"count(*), {totals}").fetchall()
    # A sum of integers has 128 bits, and the sum of no values is null.
    return ColumnSums(rows, {name: float(each or 0) for name, each in zip(columns, sums, strict=True)})


def arrays_of_relation(
    relation: duckdb.DuckDBPyRelation, columns: list[str], where: Predicate | None
) -> dict[str, np.ndarray]:
    """Return some columns of the rows that pass a predicate, each of shape (rows,)."""
    import numpy as np

    _check_numbers(relation, columns)
    arrays = filtered(relation, where).select(*map(quoted, columns)).fetchnumpy()
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
    kind = _type(relation, column)
    return _CONTENTS.get(kind, kind)


def _type(relation: duckdb.DuckDBPyRelation, column: str) -> str:
    if column not in relation.columns:
        raise UnknownNameError("column", column, relation.columns)
    return str(relation.types[relation.columns.index(column)])


def projected(
    relation: duckdb.DuckDBPyRelation, columns: Sequence[str] | None
) -> duckdb.DuckDBPyRelation:
    """Return some columns of a relation, or all if None."""
    return relation if columns is None else relation.select(*map(_column, columns))


def filtered(relation: duckdb.DuckDBPyRelation, where: Predicate | None) -> duckdb.DuckDBPyRelation:
    """Return the rows of a relation that pass a predicate, or all if None.

    Raises
    ------
    UnknownNameError
        If a compared column does not exist.
    InvalidSelectionError
        If a column cannot be compared with its constant.
    """
    if where is None:
        return relation
    return relation.filter(reduce(and_, (_expression(relation, each) for each in where.comparisons)))


def _expression(relation: duckdb.DuckDBPyRelation, each: Comparison) -> duckdb.Expression:
    import duckdb

    kind = _type(relation, each.column)
    value = each.fitted(_contents(relation, each.column), is_single=kind == "FLOAT").value
    column = _column(each.column)
    compare = OPERATORS[each.operator]
    is_true: duckdb.Expression = compare(column, duckdb.ConstantExpression(value))
    # NaN is the largest number of DuckDB.
    may_pass_nan = kind in _FLOATS and each.operator in ("!=", ">", ">=")
    return is_true & ~duckdb.FunctionExpression("isnan", column) if may_pass_nan else is_true


def _column(name: str) -> duckdb.Expression:
    import duckdb

    # ColumnExpression of DuckDB 1 parses names.
    return duckdb.SQLExpression(quoted(name))


def sliced(relation: duckdb.DuckDBPyRelation, start: int, stop: int | None) -> duckdb.DuckDBPyRelation:
    """Return the rows of a relation from `start` to before `stop`, or to the end if None."""
    return relation.limit(_ALL_ROWS if stop is None else stop - start, start)


def nullable_columns(relation: duckdb.DuckDBPyRelation) -> list[str]:
    """Return the columns of integers or booleans that contain nulls."""
    types = zip(relation.columns, map(str, relation.types), strict=True)
    names = [name for name, kind in types if _CONTENTS.get(kind) == BOOLEANS or kind in _INTEGERS]
    if not names:
        return []
    has_nulls = ", ".join(f"count({quoted(name)}) < count(*)" for name in names)
    (found,) = relation.aggregate(has_nulls).fetchall()
    return [name for name, has in zip(names, found, strict=True) if has]


def batches_of(relation: duckdb.DuckDBPyRelation, batch_rows: int) -> Iterator[pa.Table]:
    """Yield the rows of a relation, executed meanwhile, in batches of at most that many rows."""
    import pyarrow as pa

    for batch in relation.to_arrow_reader(batch_rows):
        yield pa.Table.from_batches([batch])


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> Iterator[None]:
    """Register an Arrow table under the name "given"."""
    connection.register("given", table)
    try:
        yield
    finally:
        connection.unregister("given")


def create_table(connection: duckdb.DuckDBPyConnection, name: str, tables: Iterable[pa.Table]) -> None:
    """Create a table of Arrow tables of one schema, which are inserted in turn."""
    for number, table in enumerate(tables):
        with registered(connection, table):
            into = f"INSERT INTO {name}" if number else f"CREATE TABLE {name} AS"
            connection.execute(f"{into} FROM given")


@cache
def extension_file(package: ModuleType) -> str:
    """Return the path of the extension of DuckDB in a package of the index."""
    return str(next(Path(str(package.__file__)).parent.rglob("*.duckdb_extension")))
