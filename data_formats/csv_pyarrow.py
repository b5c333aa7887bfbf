"""CSV through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.tables.arrow import array_batches, frame_of
from adapter_core.tables.arrow_text import (
    BLOCK_BYTES,
    DECIMAL,
    InferredCSV,
    infer_schema,
    minus_zero_among_whole,
    plain_of,
    read_times_as_text,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core.column_batches import Batch


class Adapter(InferredCSV):
    """Comma-separated values through `pyarrow.csv.write_csv` and `pyarrow.csv.read_csv`.

    Text is quoted, and nulls are empty. pyarrow infers types from all rows. Columns that it takes for
    dates or times of day are read again as text, whose form could differ from that in the file. A column
    of whole floats, written without a point, comes back as integers. pyarrow's batches have the types of
    the first one, and end with an error where others do not fit; hence all rows are read at once.
    """

    label = "CSV[pyarrow]"
    requires = ("pandas", "pyarrow>=15")
    suite = "engines"
    quotes_names = True
    numbers: ClassVar = rf"{DECIMAL}|[+-]?0[xX][0-9a-fA-F]+"
    booleans: ClassVar = "true|false"

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        name = minus_zero_among_whole(df)
        self._refuse_column(name, "-0.0 and whole floats, which read as integers")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        from pyarrow import csv

        csv.write_csv(plain_of(df), path)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return frame_of(read_times_as_text(_schema(path), partial(_table, path, columns)))

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        # Without a look at the schema: dates, which it would reveal, are not numbers.
        yield from array_batches(_table(path, columns, []).to_batches())

    def _column_names(self, path: Path) -> list[str]:
        return _schema(path).names


def _schema(path: Path) -> pa.Schema:
    return infer_schema(partial(_schema_of_block, path))


def _schema_of_block(path: Path, block_bytes: int) -> pa.Schema:
    from pyarrow import csv

    with csv.open_csv(path, **_options(block_bytes, None, [])) as reader:
        return reader.schema


def _table(path: Path, columns: list[str] | None, as_text: list[str]) -> pa.Table:
    from pyarrow import csv

    return csv.read_csv(path, **_options(BLOCK_BYTES, columns, as_text))


def _options(block_bytes: int, columns: list[str] | None, as_text: list[str]) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow import csv

    return {
        "read_options": csv.ReadOptions(block_size=block_bytes),
        "parse_options": csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        "convert_options": csv.ConvertOptions(
            include_columns=columns,
            column_types=dict.fromkeys(as_text, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["true"],
            false_values=["false"],
        ),
    }
