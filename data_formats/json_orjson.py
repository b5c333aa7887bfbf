"""JSON Lines through orjson."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice, repeat
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import AS_BYTES, BatchedReads, FilteredReads, Given, Kind, RowReads, Snippet, kinds_of
from adapter_core.file_facts import FileFacts
from adapter_core.tables.arrow import frame_of, with_types
from adapter_core.tables.arrow_parts import common_schema
from adapter_core.tables.arrow_text import JSONLines
from adapter_core.tables.rows import BLOCK_ROWS, row_blocks

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_TIMES = {Kind.DATE, Kind.DATETIME, Kind.ZONED_DATETIME}


class Adapter(JSONLines, RowReads, FilteredReads, BatchedReads):
    """One JSON object a line through `orjson.dumps` and `orjson.loads`.

    orjson's interface is one dictionary a row; columns cross the border between Python and Arrow in
    bulk. Lines are parsed in blocks, each as one array; for parts of a table twice, since the types of
    the columns depend on all rows.
    """

    label = "JSON[orjson]"
    local_only = AS_BYTES
    requires = ("pandas", "orjson", "pyarrow>=15")
    suite = "engines"
    file_facts = FileFacts(silent="text names no settings of its writer", threads="one")
    snippet = Snippet(
        imports="import orjson\nimport pyarrow as pa",
        write="""
            with open({path}, "wb") as file:
                for row in table.to_pylist():
                    file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        """,
        read="""
            with open({path}, "rb") as file:
                table = pa.Table.from_pylist(list(map(orjson.loads, file)))
        """,
        given=Given.TABLE,
        changes={"int8": "int64", "float32": "float64", "datetime64[us]": "str", "category": "str"},
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import orjson

        dumps = partial(orjson.dumps, option=orjson.OPT_APPEND_NEWLINE)
        with path.open("wb") as file:
            for rows in row_blocks(_times_as_text(df)):
                file.writelines(map(dumps, map(dict, map(zip, repeat(list(df.columns)), rows))))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pyarrow as pa

        values: dict[str, list[Any]] = {}
        for rows in _blocks(path, BLOCK_ROWS):
            for name in rows[0]:
                values.setdefault(name, []).extend(map(itemgetter(name), rows))
        return frame_of(pa.table({name: pa.array(each) for name, each in values.items()}))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        # The types of the columns depend on all rows.
        schema, nullable = common_schema(_tables(path, BLOCK_ROWS))
        for table in _tables(path, min(batch_rows, BLOCK_ROWS)):
            yield frame_of(with_types(table, schema.types), nullable=nullable)


def _blocks(path: Path, rows: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of a file in blocks of that many, parsed as one array."""
    import orjson

    with path.open("rb") as file:
        while lines := list(islice(file, rows)):
            yield orjson.loads(b"[" + b",".join(lines) + b"]")


def _tables(path: Path, block_rows: int) -> Iterator[pa.Table]:
    """Yield the blocks of a file as tables, each with the types of its own values."""
    import pyarrow as pa

    for rows in _blocks(path, block_rows):
        yield pa.table({name: pa.array(map(itemgetter(name), rows)) for name in rows[0]})


def _times_as_text(df: pd.DataFrame) -> pd.DataFrame:
    """Return the table with dates and datetimes as ISO 8601 text, in the time zone of the column."""
    import pyarrow as pa

    df = df.copy(deep=False)
    for position, kind in enumerate(kinds_of(df)):
        if kind in _TIMES:
            times = pa.array(df.iloc[:, position], from_pandas=True)
            df.isetitem(position, times.cast(pa.large_string()).to_pandas().array)
    return df
