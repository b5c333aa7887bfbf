"""Daft."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.database import SQLEngine
from adapter_core.query import TABLE

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.query import Query


class Adapter(SQLEngine):
    """Daft by SQL on lazy frames of files, with its native runner.

    Version 0.7 needs tqdm below 4.68 and pyarrow below 26. It takes no marker of nulls in CSV: numbers
    among them would be text.
    """

    label = "daft"
    requires = ("daft>=0.7", "pyarrow>=15")
    environment = "daft"
    reads = ("JSON", "Parquet")
    compares_times: ClassVar = frozenset({"Parquet"})

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002
        return "it gives no numbers to rows" if query.positions else ""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> dict[str, Any]:
        import daft

        scans = {"JSON": daft.read_json, "Parquet": daft.read_parquet}
        # Brackets in a path are no pattern.
        places = {name: glob.escape(str(path)) for name, path in tables.items()}
        return {name: scans[format_label](place) for name, place in places.items()}

    def _execute(self, handle: dict[str, Any], statement: str) -> pa.Table:
        import daft

        return daft.sql(statement, **handle).to_arrow()

    def _width(self, handle: dict[str, Any]) -> int:
        return len(handle[TABLE].column_names)
