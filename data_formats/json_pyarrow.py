"""JSON Lines, read by pyarrow."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Given, Kind, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.tables import arrow_text
from adapter_core.tables.arrow import frame_of
from adapter_core.tables.polars import polars_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Adapter(arrow_text.JSONLines):
    """One JSON object a line, written by Polars, since pyarrow cannot write JSON, and read by pyarrow.

    `pyarrow.json.read_json` turns text like dates into timestamps, and drops their time zones. These
    columns are read again as text. pyarrow's batches have the types of the first one, and end with an
    error where others do not fit; hence all rows are read at once.
    """

    label = "JSON[pyarrow]"
    local_only = "pyarrow writes no JSON, and Polars' files belong to JSON[polars]"
    requires = ("pandas", "polars", "pyarrow>=20")
    suite = "engines"
    holds_nul_in_names = False
    refuses: ClassVar = arrow_text.REFUSES | {
        Kind.NESTED: "pyarrow's reader of JSON fails at some, as at lists of nulls"
    }
    file_facts = FileFacts(silent="text names no settings of its writer", threads="all cores")
    snippet = Snippet(
        imports="import polars as pl\nfrom pyarrow import json",
        write="pl.DataFrame(table).write_ndjson({path})  # pyarrow writes no JSON",
        read="""
            table = json.read_json(
                {path},
                read_options=json.ReadOptions(block_size=2**24),
                parse_options=json.ParseOptions(newlines_in_values=False),
            )
        """,
        given=Given.TABLE,
        changes={"int8": "int64", "float32": "float64", "datetime64[us]": "str", "category": "str"},
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        polars_of(arrow_text.plain_of(df)).write_ndjson(path)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        inferred = arrow_text.infer_schema(partial(_schema_of_block, path))
        table = arrow_text.read_times_as_text(inferred, partial(_table, path))
        # pyarrow puts columns with a given type first.
        return frame_of(table.select(self._column_names(path)))


def _schema_of_block(path: Path, block_bytes: int) -> pa.Schema:
    from pyarrow import json

    with json.open_json(path, read_options=json.ReadOptions(block_size=block_bytes)) as reader:
        return reader.schema


def _table(path: Path, as_text: list[str]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import json

    # The types of all other columns are still inferred.
    types = pa.schema([(name, pa.string()) for name in as_text])
    return json.read_json(
        path,
        read_options=json.ReadOptions(block_size=arrow_text.BLOCK_BYTES),
        parse_options=json.ParseOptions(explicit_schema=types, newlines_in_values=False),
    )
