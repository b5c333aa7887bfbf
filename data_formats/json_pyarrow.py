"""JSON Lines, read by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.arrow_frames import frame_of
from adapter_core.json_lines import JSONLines
from adapter_core.polars_frames import polars_of
from adapter_core.text_tables import plain_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BLOCK_BYTES = 2**24
"""What pyarrow parses at once, in bytes. A row must fit; pyarrow's own choice, 1 MiB, is soon too little
for long text, and no faster."""

FIRST_BYTES = 2**16
"""What is read, in bytes, to see which columns hold text like dates."""


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
        # Most dates show in the first rows; a column that begins with nulls may hold some all the same.
        as_text = _times_in(_first_types(path))
        table = _table(path, as_text)
        late = _times_in(table.schema)
        if late:
            table = _table(path, as_text + late)
        # Columns of which a type is given come first otherwise.
        return frame_of(table.select(self._column_names(path)))


def _times_in(schema: pa.Schema) -> list[str]:
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_temporal(field.type)]


def _first_types(path: Path) -> pa.Schema:
    """Return names and types as the first rows look."""
    import pyarrow as pa

    try:
        return _types_of_block(path, FIRST_BYTES)
    except pa.ArrowInvalid:
        # A row may be longer.
        return _types_of_block(path, BLOCK_BYTES)


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
