"""DataFusion."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.arrow import text_dataset
from adapter_core.queries.database import TypedSQLEngine
from adapter_core.query import TABLE
from adapter_core.query_sql import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.query import Query

# By default, types are those of 1,000 records.
_ALL_RECORDS = 2**63 - 1


class Adapter(TypedSQLEngine):
    """Apache DataFusion by SQL, with its default options.

    Pages of Parquet are pruned by their index; conditions are not evaluated while a page is decoded,
    since `pushdown_filters` is off by default.
    """

    label = "datafusion"
    dialect = Dialect.DATAFUSION
    requires = ("datafusion", "pyarrow>=15")
    reads = ("Avro", "CSV", "Feather", "JSON", "ORC", "Parquet")
    compares_times: ClassVar = frozenset(reads) - {"CSV"}
    compares_decimals: ClassVar = frozenset(reads) - {"CSV", "JSON"}
    notes: ClassVar = {
        # Version 55 uses the option `null_regex` to infer types, and then fails at the markers.
        "CSV": "as a data set of Arrow: its own reader takes no marker of nulls among numbers; "
        "integers beyond 2**63 are floats, and a column of nulls alone has no sum",
        "JSON": "integers beyond 2**63 are floats, and a column of nulls alone has no sum; beside a "
        "constant with a time zone, nanoseconds of a column are cut off",
        "ORC": "as a data set of Arrow",
    }

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002
        return "it gives no numbers to rows" if query.positions else ""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> Any:
        from datafusion import SessionContext

        context = SessionContext()
        for name, path in tables.items():
            _register(context, format_label, name, path)
        return context

    def _schema(self, handle: Any) -> pa.Schema:
        return handle.table(TABLE).schema()

    def _execute(self, handle: Any, statement: str) -> pa.Table:
        found = handle.sql(statement)
        return found.to_arrow_table()


def _register(context: Any, format_label: str, name: str, file: Path) -> None:
    # In an address, brackets are no pattern.
    path = file.absolute().as_uri()
    if format_label == "Parquet":
        context.register_parquet(name, path)
    elif format_label == "JSON":
        context.register_json(name, path, None, _ALL_RECORDS, ".jsonl")
    elif format_label == "Avro":
        context.register_avro(name, path)
    elif format_label == "Feather":
        context.register_arrow(name, path, file_extension=".feather")
    else:
        context.register_dataset(name, _dataset(format_label, file))


def _dataset(format_label: str, file: Path) -> Any:
    import pyarrow.dataset as ds

    return ds.dataset(file, format="orc") if format_label == "ORC" else text_dataset(format_label, file)
