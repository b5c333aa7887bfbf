"""pyarrow: data sets and Acero."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.arrow import expression, field, text_dataset
from adapter_core.queries.scan import ScanEngine
from adapter_core.query import has_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from adapter_core.query import Condition, Query

_FORMATS = {"Feather": "ipc", "ORC": "orc", "Parquet": "parquet"}


class Adapter(ScanEngine):
    """pyarrow: a data set scans columns and rows, and Acero groups, joins and sorts."""

    label = "pyarrow"
    requires = ("pyarrow>=15",)
    reads = ("CSV", "Feather", "IPC.stream", "JSON", "ORC", "Parquet")
    finished_by = "pyarrow"
    compares_times: ClassVar = frozenset({"CSV", "Feather", "IPC.stream", "ORC", "Parquet"})
    compares_decimals: ClassVar = frozenset({"Feather", "IPC.stream", "ORC", "Parquet"})
    notes: ClassVar = {
        **dict.fromkeys(("CSV", "JSON"), "integers beyond 2**63 are read as floats"),
        "IPC.stream": "opened within the measured time, mapped into memory",
    }

    def _open(self, format_label: str, path: Path) -> Any:
        import pyarrow.dataset as ds

        if format_label == "IPC.stream":
            return path
        if format_label in {"CSV", "JSON"}:
            return text_dataset(format_label, path)
        return ds.dataset(path, format=_FORMATS[format_label])

    def answer(self, handle: dict[str, Any], query: Query) -> pa.Table:
        if handle["format"] != "IPC.stream":
            return super().answer(handle, query)
        # A stream has no index: to open it is to go through all batches.
        read = {name: _stream(path) for name, path in handle["paths"].items()}
        return super().answer({**handle, "opened": read}, query)

    def _shape(self, table: Any) -> tuple[int, int]:
        return table.count_rows(), len(table.schema)

    def _scan(self, table: Any, columns: list[str], where: Sequence[Condition]) -> pa.Table:
        wanted = {name: field(name) for name in columns} if has_fields(columns) else columns
        return table.to_table(wanted, filter=expression(where, table.schema))

    def _take(self, table: Any, positions: list[int], columns: list[str]) -> pa.Table:
        return table.take(positions, columns=columns)


def _stream(path: Path) -> Any:
    """Return all batches of a stream as a data set."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    with pa.memory_map(str(path)) as file:
        return ds.dataset(pa.ipc.open_stream(file).read_all())
