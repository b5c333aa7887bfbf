"""JSON Lines, read by pyarrow."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.tables.arrow import frame_of
from adapter_core.tables.arrow_text import BLOCK_BYTES, JSONLines, first_types, plain_of, without_times
from adapter_core.tables.polars import polars_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Adapter(JSONLines):
    """One JSON object a line, written by Polars since pyarrow has no writer, read by pyarrow.

    `pyarrow.json.read_json` takes text like dates for timestamps, and those with a time zone for such
    without; these columns are read as text.
    """

    label = "JSON[pyarrow]"
    requires = ("pandas", "polars", "pyarrow>=20")
    suite = "engines"

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        polars_of(plain_of(df)).write_ndjson(path)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        first = first_types(partial(_types_of_block, path))
        table = without_times(first, partial(_table, path))
        # Columns of which a type is given come first otherwise.
        return frame_of(table.select(self._column_names(path)))


def _types_of_block(path: Path, block_bytes: int) -> pa.Schema:
    from pyarrow import json

    with json.open_json(path, read_options=json.ReadOptions(block_size=block_bytes)) as reader:
        return reader.schema


def _table(path: Path, as_text: list[str]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import json

    # The types of all other columns are guessed still.
    types = pa.schema([(name, pa.string()) for name in as_text])
    return json.read_json(
        path,
        read_options=json.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=json.ParseOptions(explicit_schema=types, newlines_in_values=False),
    )
