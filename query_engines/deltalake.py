"""deltalake's own queries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.database import TypedSQLEngine
from adapter_core.query import TABLE
from adapter_core.query_sql import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.query import Query


class Adapter(TypedSQLEngine):
    """deltalake's `QueryBuilder`, a DataFusion inside of the library."""

    label = "deltalake"
    dialect = Dialect.DATAFUSION
    requires = ("deltalake", "pyarrow>=15")
    reads = ("Delta",)
    compares_times: ClassVar = frozenset(reads)
    compares_decimals: ClassVar = frozenset(reads)

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002 (one format)
        if query.has_long_decimals:
            return "it leaves out files by the log's statistics, which have floats for decimals"
        return "it gives no numbers to rows" if query.positions else ""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> Any:  # noqa: ARG002 (one format)
        import deltalake

        opened = {name: deltalake.DeltaTable(path) for name, path in tables.items()}
        builder = deltalake.QueryBuilder()
        for name, table in opened.items():
            builder = builder.register(name, table)
        return builder, opened

    def _schema(self, handle: Any) -> pa.Schema:
        import pyarrow as pa

        return pa.schema(handle[1][TABLE].schema())

    def _execute(self, handle: Any, statement: str) -> pa.Table:
        import pyarrow as pa

        return pa.table(handle[0].execute(statement))
