"""JSON Lines through DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.data_format import Feature
from adapter_core.tables.arrow import frame_of
from adapter_core.tables.arrow_text import JSONLines, plain_of

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

TYPES = {"BOOLEAN": "BOOLEAN", "BIGINT": "BIGINT", "HUGEINT": "BIGINT", "DOUBLE": "DOUBLE"}
"""What to read the guessed types as, and all others as text: that of dates and UUIDs could be another
than in the file. Integers of both signs are taken for such of 128 bits, though none needs them."""


class Adapter(JSONLines):
    """One JSON object a line through DuckDB's ``COPY`` and `duckdb.read_json`.

    Types are guessed from all rows, which takes most of the time of a read: where they are guessed from
    a sample, later floats are rounded to integers, and a column that begins with nulls stays null, both
    without a word.
    """

    label = "JSON[duckdb]"
    requires = ("pandas", "duckdb>=1.2", "pyarrow>=15")
    suite = "engines"
    supports: ClassVar = frozenset({Feature.COLUMNS})

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        if "" in df.columns or len({name.lower() for name in df.columns}) < len(df.columns):
            raise self.refusal("DuckDB takes names that are empty, or differ in case alone, for others")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import duckdb

        with duckdb.cursor() as cursor:
            cursor.register("saved", plain_of(df))
            cursor.execute("COPY saved TO $path (FORMAT json)", {"path": str(path)})

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import duckdb

        guessed = _open(path, sample_size=-1)
        types = {
            name: TYPES.get(str(kind), "VARCHAR")
            for name, kind in zip(guessed.columns, guessed.types, strict=True)
        }
        table = _open(path, columns=types)
        if columns is not None:
            table = table.select(*map(duckdb.ColumnExpression, columns))
        return frame_of(table.to_arrow_table())


def _open(path: Path, **options: Any) -> duckdb.DuckDBPyRelation:
    import duckdb

    return duckdb.read_json(
        str(path),
        format="newline_delimited",
        records="true",
        # Columns alike in name and type are no map.
        map_inference_threshold=-1,
        hive_partitioning=False,
        **options,
    )
