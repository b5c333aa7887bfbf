"""JSON Lines through DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import Given, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.tables.arrow_text import JSONLines, plain_of
from adapter_core.tables.duckdb import DuckDBText

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

# Types to read for the inferred ones. All others are read as text, since the inference of dates and
# UUIDs could differ from the file. DuckDB infers 128 bits for integers of both signs, which none needs
# here.
TYPES = {"BOOLEAN": "BOOLEAN", "BIGINT": "BIGINT", "HUGEINT": "BIGINT", "DOUBLE": "DOUBLE"}


class Adapter(DuckDBText, JSONLines):
    """One JSON object a line through DuckDB's ``COPY`` and `duckdb.read_json`.

    Types are inferred from all rows, which takes most of the time of a read: with types inferred from a
    sample, later floats are silently rounded to integers, and a column that starts with nulls stays
    null.
    """

    label = "JSON[duckdb]"
    requires = ("pandas", "duckdb>=1.2", "pyarrow>=15")
    suite = "engines"
    holds_nul_in_names = False
    file_facts = FileFacts(silent="text names no settings of its writer", threads="all cores")
    snippet = Snippet(
        imports="import duckdb",
        write="""
            with duckdb.cursor() as cursor:
                cursor.register("saved", table)
                cursor.execute("COPY saved TO $path (FORMAT json)", {"path": {path}})
        """,
        read="""
            options = {
                "format": "newline_delimited",
                "records": "true",
                "map_inference_threshold": -1,
                "hive_partitioning": False,
            }
            inferred = duckdb.read_json({path}, sample_size=-1, **options)
            # DuckDB infers 128 bits for integers of both signs.
            types = {"BOOLEAN": "BOOLEAN", "BIGINT": "BIGINT", "HUGEINT": "BIGINT", "DOUBLE": "DOUBLE"}
            found = zip(inferred.columns, map(str, inferred.types))
            columns = {name: types.get(kind, "VARCHAR") for name, kind in found}
            table = duckdb.read_json({path}, columns=columns, **options).to_arrow_table()
        """,
        given=Given.TABLE,
        changes={"int8": "int64", "float32": "float64", "datetime64[us]": "str", "category": "str"},
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        if "" in df.columns or len({name.lower() for name in df.columns}) < len(df.columns):
            raise self.refusal("DuckDB replaces names that are empty, or differ in case alone")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import duckdb

        with duckdb.cursor() as cursor:
            cursor.register("saved", plain_of(df))
            cursor.execute("COPY saved TO $path (FORMAT json)", {"path": str(path)})

    def _relation(
        self, path: Path, connection: duckdb.DuckDBPyConnection | None = None
    ) -> duckdb.DuckDBPyRelation:
        inferred = _open(path, connection, sample_size=-1)
        types = {
            name: str(_type_of(kind))
            for name, kind in zip(inferred.columns, inferred.types, strict=True)
        }
        return _open(path, connection, columns=types)


def _type_of(inferred: Any) -> Any:
    """Return the type to read a column in: numbers and booleans as inferred, all else as text."""
    import duckdb

    if inferred.id == "list":
        return duckdb.list_type(_type_of(inferred.child))
    if inferred.id == "struct":
        return duckdb.struct_type({name: _type_of(kind) for name, kind in inferred.children})
    return duckdb.sqltype(TYPES.get(str(inferred), "VARCHAR"))


def _open(
    path: Path, connection: duckdb.DuckDBPyConnection | None = None, **options: Any
) -> duckdb.DuckDBPyRelation:
    import duckdb

    return (connection or duckdb).read_json(
        str(path),
        format="newline_delimited",
        records="true",
        # By default, columns alike in name and type become a map.
        map_inference_threshold=-1,
        hive_partitioning=False,
        **options,
    )
