"""SQLite through pandas and Python's own library."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Changeable, Kind, Snippet, Streams
from adapter_core.file_facts import FileFacts
from adapter_core.kinds import NESTED, nested_array
from adapter_core.tables import sql, vectors
from adapter_core.tables.sql import query
from adapter_core.values import UNLIKE_ISO_8601, datetimes_unlike_iso_8601, with_nanoseconds

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core import ColumnSums, Predicate

# Declared types of vectors, whose bytes are 32-bit floats, as libSQL names them; SQLite's extensions
# for vectors take these bytes from any column: https://docs.turso.tech/features/ai-and-embeddings
_VECTORS = re.compile(r"F32_BLOB\((\d+)\)")
_NUMBER = "<f4"

# Number in the file's header that is the user's own: rows have been removed.
# https://www.sqlite.org/pragma.html#pragma_user_version
_HAS_GAPS = 1


class Adapter(sql.SQLiteTable, Streams, Changeable):
    """An SQLite database of one table through `DataFrame.to_sql` and `pandas.read_sql_query`.

    SQLite stores booleans as integers, which become booleans again by the declared type. Small integers
    and floats come back as 64-bit ones; dates and datetimes, which pandas writes with microseconds, and
    categories as text; columns without any value as objects. Vectors of 32-bit floats are their bytes.
    """

    label = "SQLite"
    requires = ("pandas",)
    suite = "engines"
    refuses: ClassVar = {
        **{kind: why for kind, why in sql.REFUSES.items() if kind is not Kind.NESTED},
        **dict.fromkeys(NESTED - {Kind.VECTOR}, sql.REFUSES[Kind.NESTED]),
    }
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
        self._refuse_column(datetimes_unlike_iso_8601(df), UNLIKE_ISO_8601)
        self._refuse_column(with_nanoseconds(df), "nanoseconds, which pandas leaves out")

    def _check_inside(self, name: str, kind: Kind, array: pa.Array) -> None:
        import pyarrow as pa

        # Bytes have all numbers, also those that a column of numbers lacks.
        if array.type != pa.list_(pa.float32(), array.type.list_size) or not array.type.list_size:
            self._refuse_column(name, f"{kind} of other values than 32-bit floats")
        if problem := vectors.problem(array):
            self._refuse_column(name, f"{kind} with {problem}")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        declared = _declared_types(df)
        with closing(sqlite3.connect(path)) as database, database:
            _with_bytes(df).to_sql(sql.TABLE, database, index=False, dtype=declared)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            for number, df in enumerate(batches):
                with database:
                    exists = "append" if number else "fail"
                    declared = _declared_types(df)
                    rows = _with_bytes(df)
                    rows.to_sql(sql.TABLE, database, index=False, dtype=declared, if_exists=exists)

    def _append(self, path: Path, df: pd.DataFrame) -> None:
        with closing(sqlite3.connect(path)) as database, database:
            _with_bytes(df).to_sql(sql.TABLE, database, if_exists="append", index=False)

    def _update(self, path: Path, key: str, df: pd.DataFrame) -> None:
        names = [sql.quoted(name) for name in df.columns if name != key]
        values = ", ".join(f"{name} = given.{name}" for name in names)
        same = f"{sql.TABLE}.{sql.quoted(key)} = given.{sql.quoted(key)}"
        with closing(sqlite3.connect(path)) as database:
            try:
                # pandas knows no temporary tables.
                declared = _declared_types(df)
                _with_bytes(df).to_sql("given", database, index=False, dtype=declared)
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
            database.execute(f"PRAGMA user_version = {_HAS_GAPS}")

    def _add_column(self, path: Path, name: str) -> None:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(f"ALTER TABLE {sql.TABLE} ADD COLUMN {sql.quoted(name)} REAL")

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        sql.check_whole(path)
        with closing(_opened(path)) as database:
            declared = dict(database.execute(sql.NAMES_AND_TYPES))
            df = _with_vectors(pd.read_sql_query(query(columns, sql.TABLE), database), declared)
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
            declared, dtypes = _types(path, database, columns)
            ((version,),) = database.execute("PRAGMA user_version")
            part = sql.row_range(list(declared), start, stop, has_gaps=version == _HAS_GAPS)
            return _with_vectors(_selected(database, columns, part).astype(dtypes), declared)

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        with closing(_opened(path)) as database:
            declared, dtypes = _types(path, database, columns)
            where = sql.fitted_to_declared(predicate, declared)
            constants = [each.value for each in where.comparisons]
            part = _selected(database, columns, f"WHERE {sql.condition(where)}", params=constants)
            return _with_vectors(part.astype(dtypes), declared)

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with closing(_opened(path)) as database:
            declared, dtypes = _types(path, database, columns)
            for batch in _selected(database, columns, chunksize=batch_rows):
                yield _with_vectors(batch.astype(dtypes), declared)


def _declared_types(df: pd.DataFrame) -> dict[str, str]:
    """Return the type to declare for each column, by name."""
    found = sql.declared_types(df)
    for name, array in _vectors_of(df):
        found[name] = f"F32_BLOB({array.type.list_size})"
    return found


def _vectors_of(df: pd.DataFrame) -> Iterator[tuple[str, pa.Array]]:
    """Yield the names of the columns of vectors, and their values."""
    import pandas as pd
    import pyarrow as pa

    for name, dtype in df.dtypes.items():
        # Lists among Python's objects have no common length to Arrow, and are refused.
        if isinstance(dtype, pd.ArrowDtype) and pa.types.is_fixed_size_list(dtype.pyarrow_dtype):
            yield str(name), nested_array(df[name])


def _with_bytes(df: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the bytes of vectors in place of these."""
    import numpy as np
    import pandas as pd

    found = df.copy(deep=False)
    for name, array in _vectors_of(df):
        numbers = vectors.numbers_of(array).astype(_NUMBER, copy=False)
        whole, width = numbers.tobytes(), numbers.shape[1] * numbers.itemsize
        values = np.empty(len(df), object)
        values[:] = [whole[start : start + width] for start in range(0, len(whole), width)]
        values[array.is_null().to_numpy(zero_copy_only=False)] = None
        found[name] = pd.Series(values, df.index)
    return found


def _with_vectors(df: pd.DataFrame, declared: Mapping[str, str]) -> pd.DataFrame:
    """Put vectors in place of their bytes, and return the table."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    for name in df.columns:
        if not (length := _VECTORS.fullmatch(declared[name])):
            continue
        size, valid = int(length[1]), df[name].notna().to_numpy()
        numbers = np.zeros((len(df), size), np.float32)
        numbers[valid] = np.frombuffer(b"".join(df[name][valid]), _NUMBER).reshape(-1, size)
        dtype = pa.list_(pa.float32(), size)
        array = vectors.vectors_of(numbers, dtype, None if valid.all() else valid)
        df[name] = pd.Series(pd.arrays.ArrowExtensionArray(array), df.index)
    return df


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _selected(
    database: sqlite3.Connection, columns: list[str] | None, clause: str = "", **options: Any
) -> Any:
    import pandas as pd

    return pd.read_sql_query(f"{query(columns, sql.TABLE)} {clause}", database, **options)


def _types(
    path: Path, database: sqlite3.Connection, columns: list[str] | None
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the declared types, and the dtypes that depend on nulls in all rows, by column."""
    sql.check_whole(path)
    declared = dict(database.execute(sql.NAMES_AND_TYPES))
    rows, values = sql.counts(database.cursor(), columns or list(declared))
    return declared, {name: _dtype(declared[name], values[name], rows) for name in values}


def _dtype(declared: str, values: int, rows: int) -> Any:
    if declared == "BOOLEAN":
        return bool if values == rows else "boolean"
    if not values or declared == "BLOB" or _VECTORS.fullmatch(declared):
        return object
    numbers = {"REAL": "float64", "INTEGER": "int64" if values == rows else "float64"}
    return numbers.get(declared, str)
