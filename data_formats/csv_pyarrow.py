"""CSV through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import OBJECT_STORES, Given, PartialReads, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.partial_reads import BATCH_ROWS
from adapter_core.tables import arrow_text
from adapter_core.tables.arrow import array_batches, frame_of
from adapter_core.tables.arrow_parts import tables_of
from adapter_core.tables.fetched import FetchedFormat

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core import Batch, RemoteFile


class Adapter(arrow_text.InferredCSV, FetchedFormat, PartialReads):
    """Comma-separated values through `pyarrow.csv.write_csv` and `pyarrow.csv.read_csv`.

    Text is quoted, and nulls are empty. pyarrow infers types from all rows. Columns that it takes for
    dates or times of day are read again as text, whose form could differ from that in the file. A column
    of whole floats, written without a point, comes back as integers. For parts of a table, the file is
    parsed twice, in batches, to which pyarrow's own inference does not apply.
    """

    label = "CSV[pyarrow]"
    requires = ("pandas", "pyarrow>=15")
    suite = "engines"
    save_schemes: ClassVar = OBJECT_STORES
    quotes_names = True
    numbers: ClassVar = rf"{arrow_text.DECIMAL}|[+-]?0[xX][0-9a-fA-F]+"
    booleans: ClassVar = "true|false"
    file_facts = FileFacts(silent="text names no settings of its writer", threads="all cores")
    snippet = Snippet(
        imports="from pyarrow import csv",
        write="csv.write_csv(table, {path})",
        read="""
            table = csv.read_csv(
                {path},
                read_options=csv.ReadOptions(block_size=2**24),
                parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
                convert_options=csv.ConvertOptions(
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    true_values=["true"],
                    false_values=["false"],
                ),
            )
        """,
        given=Given.TABLE,
        changes={
            "int8": "int64",
            "float32": "float64",
            "datetime64[us]": "datetime64[ns]",
            "category": "str",
        },
        notes=('column_types={"name": pa.string()} in ConvertOptions keeps the text of a date',),
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        name = arrow_text.minus_zero_among_whole(df)
        self._refuse_column(name, "-0.0 and whole floats, which read as integers")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        from pyarrow import csv

        csv.write_csv(arrow_text.plain_of(df), path)

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        from pyarrow import csv

        with file.arrow_stream() as stream:
            csv.write_csv(arrow_text.plain_of(df), stream)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return frame_of(arrow_text.read_times_as_text(_schema(path), partial(_table, path, columns)))

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        # Without a look at the schema: dates, which it would reveal, are not numbers.
        yield from array_batches(_table(path, columns, []).to_batches())

    def _column_names(self, path: Path) -> list[str]:
        return _schema(path).names

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        import pyarrow as pa

        texts = _tables(path, columns, _texts(self._column_names(path)), BATCH_ROWS)
        found = arrow_text.common_types(texts, [pa.int64(), pa.bool_(), pa.float64()], pa.null())
        types = {name: kind for name, (kind, _) in found.items()}
        nullable = [name for name, (_, has_nulls) in found.items() if has_nulls]
        for table in _tables(path, columns, types, batch_rows):
            yield frame_of(table, nullable=nullable)


def _schema(path: Path) -> pa.Schema:
    return arrow_text.infer_schema(partial(_schema_of_block, path))


def _schema_of_block(path: Path, block_bytes: int) -> pa.Schema:
    from pyarrow import csv

    with csv.open_csv(path, **_options(block_bytes, None, {})) as reader:
        return reader.schema


def _table(path: Path, columns: list[str] | None, as_text: list[str]) -> pa.Table:
    from pyarrow import csv

    return csv.read_csv(path, **_options(arrow_text.BLOCK_BYTES, columns, _texts(as_text)))


def _texts(columns: list[str]) -> dict[str, pa.DataType]:
    import pyarrow as pa

    return dict.fromkeys(columns, pa.string())


def _tables(
    path: Path, columns: list[str] | None, types: dict[str, pa.DataType], rows: int
) -> Iterator[pa.Table]:
    """Yield the rows of a file in batches of at most that many."""
    from pyarrow import csv

    with csv.open_csv(path, **_options(arrow_text.BLOCK_BYTES, columns, types)) as reader:
        yield from tables_of(reader, rows)


def _options(
    block_bytes: int, columns: list[str] | None, types: dict[str, pa.DataType]
) -> dict[str, Any]:
    from pyarrow import csv

    return {
        "read_options": csv.ReadOptions(block_size=block_bytes),
        "parse_options": csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        "convert_options": csv.ConvertOptions(
            include_columns=columns,
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["true"],
            false_values=["false"],
        ),
    }
