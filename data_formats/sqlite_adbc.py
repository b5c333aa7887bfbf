"""SQLite through ADBC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Given, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.tables import sql
from adapter_core.tables.arrow import arrow_of, frame_of
from adapter_core.tables.sql import query
from adapter_core.values import datetimes_beyond_python

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core import ColumnSums, Predicate


class Adapter(sql.SQLiteTable):
    """An SQLite database of one table, to and from Arrow through the ADBC driver.

    The driver infers the type of a column from the first batch, and refuses other types in later ones.
    Hence all rows are one batch here. The declared types restore booleans, which SQLite stores as
    integers, and columns without any value. Small integers and floats come back as 64-bit ones; dates,
    datetimes and categories as text.
    """

    label = "SQLite[adbc]"
    requires = ("pandas", "adbc-driver-sqlite", "pyarrow>=15")
    modules: ClassVar = {"adbc-driver-sqlite": "adbc_driver_sqlite"}
    suite = "engines"
    file_facts = FileFacts(
        version="3", parts={"page": "4096 bytes", "journal": "rollback"}, threads="one"
    )
    snippet = Snippet(
        imports="from adbc_driver_sqlite import dbapi",
        write="""
            with dbapi.connect({path}) as connection, connection.cursor() as cursor:
                cursor.adbc_ingest("data", table, mode="create")
                connection.commit()
        """,
        read="""
            with dbapi.connect({path}) as connection, connection.cursor() as cursor:
                cursor.execute("SELECT * FROM data")
                table = cursor.fetch_arrow_table()
        """,
        given=Given.TABLE,
        changes={
            "bool": "int64",
            "int8": "int64",
            "float32": "float64",
            "datetime64[us]": "str",
            "category": "str",
        },
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        self._refuse_column(datetimes_beyond_python(df), "datetimes beyond the years 1 to 9999")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        with _cursor(path, "rwc") as cursor:
            cursor.execute(sql.creation(df))
            cursor.adbc_ingest(sql.TABLE, arrow_of(df), mode="append")
            cursor.connection.commit()

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        sql.check_whole(path)
        with _cursor(path, "ro") as cursor:
            cursor.execute(sql.NAMES_AND_TYPES)
            declared = dict(cursor.fetchall())
            number = sql.row_number(declared)
            last = f"max({number})" if number else "count(*)"
            cursor.execute(f"SELECT {last} FROM {sql.TABLE}")  # noqa: S608 (no input)
            (rows,) = cursor.fetchone()
            return frame_of(_as_declared(_fetched(cursor, rows, query(columns, sql.TABLE)), declared))

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        sql.check_whole(path)
        with _cursor(path, "ro") as cursor:
            cursor.execute(sql.NAMES_AND_TYPES)
            return sql.sums_in_sql(cursor, columns, where, dict(cursor.fetchall()))

    def _column_names(self, path: Path) -> list[str]:
        with _cursor(path, "ro") as cursor:
            cursor.execute(sql.NAMES_AND_TYPES)
            return [name for name, _ in cursor.fetchall()]

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with _checked(path, columns) as parts:
            return parts.fetched(start, stop)

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        with _checked(path, columns) as parts:
            where = sql.fitted_to_declared(predicate, parts.declared)
            constants = [each.value for each in where.comparisons]
            return parts.selected(f"WHERE {sql.condition(where)}", constants)

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with _checked(path, columns) as parts:
            for start in range(0, parts.rows, batch_rows):
                yield parts.fetched(start, start + batch_rows)


@contextmanager
def _cursor(path: Path, mode: str) -> Iterator[Any]:
    from adbc_driver_sqlite import dbapi

    address = f"{path.absolute().as_uri()}?mode={mode}"
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        yield cursor


@dataclass
class _Parts:
    """Some columns of a table, for queries of some of its rows."""

    cursor: Any
    columns: list[str] | None
    declared: dict[str, str]
    rows: int
    """Number of all rows."""
    nullable: list[str]
    """Columns with nulls."""

    def fetched(self, start: int, stop: int | None) -> pd.DataFrame:
        return self.selected(sql.row_range(self.declared, start, stop))

    def selected(self, clause: str, constants: Sequence[Any] = ()) -> pd.DataFrame:
        statement = f"{query(self.columns, sql.TABLE)} {clause}"
        table = _fetched(self.cursor, self.rows, statement, constants)
        return frame_of(_as_declared(table, self.declared), nullable=self.nullable)


@contextmanager
def _checked(path: Path, columns: list[str] | None) -> Iterator[_Parts]:
    sql.check_whole(path)
    with _cursor(path, "ro") as cursor:
        cursor.execute(sql.NAMES_AND_TYPES)
        declared = dict(cursor.fetchall())
        rows, values = sql.counts(cursor, columns or list(declared))
        nullable = [name for name, found in values.items() if found < rows]
        yield _Parts(cursor, columns, declared, rows, nullable)


def _fetched(cursor: Any, batch_rows: int, statement: str, constants: Sequence[Any] = ()) -> pa.Table:
    """Return the result of a query of at most that many rows, in one batch."""
    cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(batch_rows or 1)})
    cursor.execute(statement, constants)
    return cursor.fetch_arrow_table()


def _as_declared(table: pa.Table, declared: dict[str, str]) -> pa.Table:
    """Return the table with booleans, and with the declared types of columns without any value."""
    import pyarrow as pa

    types = {
        "BOOLEAN": pa.bool_(),
        "INTEGER": pa.int64(),
        "REAL": pa.float64(),
        "BLOB": pa.binary(),
    }
    for position, field in enumerate(table.schema):
        name, column = field.name, table.column(position)
        # Dates and datetimes are text.
        dtype = types.get(declared[name], pa.large_string())
        if column.null_count == len(column):
            # As integers, which have no cast to bytes.
            table = table.set_column(position, name, pa.nulls(len(column), dtype))
        elif dtype == pa.bool_():
            table = table.set_column(position, name, column.cast(dtype))
    return table
