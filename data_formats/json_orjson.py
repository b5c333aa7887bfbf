"""JSON Lines through orjson."""

from __future__ import annotations

from functools import partial
from itertools import islice, repeat
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import Kind
from adapter_core.kinds import kinds_of
from adapter_core.tables.arrow import frame_of
from adapter_core.tables.arrow_text import JSONLines
from adapter_core.tables.rows import BLOCK_ROWS, row_blocks

if TYPE_CHECKING:
    import pandas as pd

_TIMES = {Kind.DATE, Kind.DATETIME, Kind.ZONED_DATETIME}


class Adapter(JSONLines):
    """One JSON object a line through `orjson.dumps` and `orjson.loads`.

    orjson's interface is one dictionary a row; columns cross the border between Python and Arrow in
    bulk. Lines are parsed in blocks, each as one array.
    """

    label = "JSON[orjson]"
    requires = ("pandas", "orjson", "pyarrow>=15")
    suite = "engines"

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import orjson

        dumps = partial(orjson.dumps, option=orjson.OPT_APPEND_NEWLINE)
        with path.open("wb") as file:
            for rows in row_blocks(_times_as_text(df)):
                file.writelines(map(dumps, map(dict, map(zip, repeat(list(df.columns)), rows))))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import orjson
        import pyarrow as pa

        values: dict[str, list[Any]] = {}
        with path.open("rb") as file:
            while lines := list(islice(file, BLOCK_ROWS)):
                rows = orjson.loads(b"[" + b",".join(lines) + b"]")
                for name in rows[0]:
                    values.setdefault(name, []).extend(map(itemgetter(name), rows))
        return frame_of(pa.table({name: pa.array(each) for name, each in values.items()}))


def _times_as_text(df: pd.DataFrame) -> pd.DataFrame:
    """Return the table with dates and datetimes as ISO 8601 text, in the time zone of the column."""
    import pandas as pd
    import pyarrow as pa

    df = df.copy(deep=False)
    for position, kind in enumerate(kinds_of(df)):
        if kind in _TIMES:
            times = pa.array(df.iloc[:, position], from_pandas=True)
            df.isetitem(position, pd.array(times.cast(pa.large_string()), "str"))
    return df
