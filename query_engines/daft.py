"""Daft."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.arrow import text_dataset
from adapter_core.queries.database import TypedSQLEngine
from adapter_core.query import TABLE
from adapter_core.query_sql import Dialect, order_of

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.query import Query


_DISTINCT = re.compile(r"\s*select\s+distinct\b", re.IGNORECASE)


class Adapter(TypedSQLEngine):
    """Daft by SQL on lazy frames of files, with its native runner.

    Version 0.7 needs tqdm below 4.68 and pyarrow below 26. It takes no marker of nulls in CSV: numbers
    among them would be text.
    """

    label = "daft"
    dialect = Dialect.DAFT
    requires = ("daft>=0.7", "pyarrow>=15")
    environment = "daft"
    reads = ("JSON", "Parquet")
    compares_times: ClassVar = frozenset({"Parquet"})
    compares_decimals: ClassVar = frozenset({"Parquet"})
    notes: ClassVar = {
        "JSON": "integers beyond 2**63 are floats, and a column of nulls alone has no sum",
        "Parquet": "beside a constant with a time zone, nanoseconds of a column are cut off",
    }

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002
        if query.positions:
            return "it gives no numbers to rows"
        if _DISTINCT.match(query.statement) and order_of(query.statement):
            return "it orders rows before it leaves out equal ones, so SELECT DISTINCT loses the order"
        return ""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> dict[str, Any]:
        return {name: _scan(format_label, path) for name, path in tables.items()}

    def _schema(self, handle: dict[str, Any]) -> pa.Schema:
        return handle[TABLE].schema().to_pyarrow_schema()

    def _execute(self, handle: dict[str, Any], statement: str) -> pa.Table:
        import daft

        return daft.sql(statement, **handle).to_arrow()


def _scan(format_label: str, path: Path) -> Any:
    import daft

    # Brackets in a path are no pattern.
    pattern = glob.escape(str(path))
    if format_label == "Parquet":
        return daft.read_parquet(pattern)
    # Daft infers types from the first rows, and has none for a condition on later values of others.
    schema = daft.Schema.from_pyarrow_schema(text_dataset("JSON", path).schema)
    types = {each.name: each.dtype for each in schema}
    return daft.read_json(pattern, infer_schema=False, schema=types)
