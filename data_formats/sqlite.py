"""SQLite through pandas and Python's own library."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import Changeable, Snippet, Streams
from adapter_core.file_facts import FileFacts
from adapter_core.tables import sql
from adapter_core.tables.sql import query
from adapter_core.values import offsets_with_seconds, with_nanoseconds

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import ColumnSums, Predicate


class Adapter(sql.SQLiteTable, Streams, Changeable):
    """An SQLite database of one table through `DataFrame.to_sql` and `pandas.read_sql_query`.

    SQLite stores booleans as integers, which become booleans again by the declared type. Small integers
    and floats come back as 64-bit ones; dates and datetimes, which pandas writes with microseconds, and
    categories as text; columns without any value as objects.
    """

    label = "SQLite"
    requires = ("pandas",)
    suite = "engines"
    reads_nullable_integers_as_floats = True
    file_facts = FileFacts(
        version="3", parts={"page": "4096 bytes", "journal": "rollback"}, threads="one"
    )
    snippet = Snippet(
        imports="import sqlite3\nfrom contextlib import closing\n\nimport pandas as pd",
        write="""
            declared = dict.fromkeys(df.select_dtypes("bool"), "BOOLEAN")
            with closing(sqlite3.connect({path})) as database, database:
                df.to_sql("data", database, index=False, dtype=declared)
        """,
        read="""
            with closing(sqlite3.connect({path})) as database:
                df = pd.read_sql_query("SELECT * FROM data", database)
        """,
        changes={
            "bool": "int64",
            "int8": "int64",
            "float32": "float64",
            "datetime64[us]": "str",
            "category": "str",
            "Int64": "float64",
        },
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        self._refuse_column(offsets_with_seconds(df), "UTC offsets with seconds, unlike ISO 8601")
        self._refuse_column(with_nanoseconds(df), "nanoseconds, which pandas leaves out")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        declared = sql.declared_types(df)
        with closing(sqlite3.connect(path)) as database, database:
            df.to_sql(sql.TABLE, database, index=False, dtype=declared)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            for number, df in enumerate(batches):
                with database:
                    exists = "append" if number else "fail"
                    declared = sql.declared_types(df)
                    df.to_sql(sql.TABLE, database, index=False, dtype=declared, if_exists=exists)

    def _append(self, path: Path, df: pd.DataFrame) -> None:
        with closing(sqlite3.connect(path)) as database, database:
            df.to_sql(sql.TABLE, database, if_exists="append", index=False)

    def _update(self, path: Path, key: str, df: pd.DataFrame) -> None:
        names = [sql.quoted(name) for name in df.columns if name != key]
        values = ", ".join(f"{name} = given.{name}" for name in names)
        same = f"{sql.TABLE}.{sql.quoted(key)} = given.{sql.quoted(key)}"
        with closing(sqlite3.connect(path)) as database:
            try:
                # pandas knows no temporary tables.
                df.to_sql("given", database, index=False, dtype=sql.declared_types(df))
                with database:
                    database.execute(f"CREATE UNIQUE INDEX given_key ON given ({sql.quoted(key)})")
                    database.execute(f"UPDATE {sql.TABLE} SET {values} FROM given WHERE {same}")  # noqa: S608
            finally:
                database.execute("DROP TABLE IF EXISTS given")

    def _delete(self, path: Path, key: str, values: list[int]) -> None:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TEMP TABLE gone (key INTEGER PRIMARY KEY)")
            database.executemany("INSERT OR IGNORE INTO gone VALUES (?)", ((each,) for each in values))
            statement = f"DELETE FROM {sql.TABLE} WHERE {sql.quoted(key)} IN (SELECT key FROM gone)"  # noqa: S608
            database.execute(statement)

    def _add_column(self, path: Path, name: str) -> None:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(f"ALTER TABLE {sql.TABLE} ADD COLUMN {sql.quoted(name)} REAL")

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        sql.check_whole(path)
        with closing(_opened(path)) as database:
            declared = dict(database.execute(sql.NAMES_AND_TYPES))
            df = pd.read_sql_query(query(columns, sql.TABLE), database)
        truths = [name for name in df.columns if declared[name] == "BOOLEAN"]
        return df.astype({name: "boolean" if df[name].hasnans else bool for name in truths})

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        sql.check_whole(path)
        with closing(_opened(path)) as database:
            declared = dict(database.execute(sql.NAMES_AND_TYPES))
            return sql.sums_in_sql(database.cursor(), columns, where, declared)

    def _column_names(self, path: Path) -> list[str]:
        with closing(_opened(path)) as database:
            return [name for name, _ in database.execute(sql.NAMES_AND_TYPES)]

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with closing(_opened(path)) as database:
            dtypes = _dtypes(path, database, columns)
            part = sql.row_range(self._column_names(path), start, stop)
            return _selected(database, columns, part).astype(dtypes)

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        with closing(_opened(path)) as database:
            declared = dict(database.execute(sql.NAMES_AND_TYPES))
            where = sql.fitted_to_declared(predicate, declared)
            dtypes = _dtypes(path, database, columns)
            constants = [each.value for each in where.comparisons]
            part = _selected(database, columns, f"WHERE {sql.condition(where)}", params=constants)
            return part.astype(dtypes)

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with closing(_opened(path)) as database:
            dtypes = _dtypes(path, database, columns)
            for batch in _selected(database, columns, chunksize=batch_rows):
                yield batch.astype(dtypes)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _selected(
    database: sqlite3.Connection, columns: list[str] | None, clause: str = "", **options: Any
) -> Any:
    import pandas as pd

    return pd.read_sql_query(f"{query(columns, sql.TABLE)} {clause}", database, **options)


def _dtypes(path: Path, database: sqlite3.Connection, columns: list[str] | None) -> dict[str, Any]:
    """Return the dtypes that depend on nulls in all rows, by column."""
    sql.check_whole(path)
    declared = dict(database.execute(sql.NAMES_AND_TYPES))
    rows, values = sql.counts(database.cursor(), columns or list(declared))
    return {name: _dtype(declared[name], values[name], rows) for name in values}


def _dtype(declared: str, values: int, rows: int) -> Any:
    if declared == "BOOLEAN":
        return bool if values == rows else "boolean"
    if not values or declared == "BLOB":
        return object
    numbers = {"REAL": "float64", "INTEGER": "int64" if values == rows else "float64"}
    return numbers.get(declared, str)
