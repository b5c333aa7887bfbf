"""Lance's own scanner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.predicate import Comparison
from adapter_core.queries.scan import ScanEngine
from adapter_core.query import OneOf, by_total_order
from adapter_core.query_engine import Part
from data_formats.lance import literal_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from adapter_core.query import Condition, Query


class Adapter(ScanEngine):
    """pylance: conditions as SQL text, rows by their numbers, neighbours by a scan or an index."""

    label = "lance"
    requires = ("pylance", "pyarrow>=15")
    reads = ("Lance",)
    compares_times: ClassVar = frozenset(reads)
    compares_decimals: ClassVar = frozenset(reads)
    modules: ClassVar = {"pylance": "lance"}
    does: ClassVar = frozenset({Part.COLUMNS, Part.ROWS, Part.POSITIONS, Part.NEAREST})
    finished_by = "pyarrow"
    searches_indexes: ClassVar = frozenset({"Lance"})

    def _open(self, format_label: str, path: Path) -> Any:  # noqa: ARG002 (one format)
        import lance

        return lance.dataset(path)

    def _shape(self, table: Any) -> tuple[int, int]:
        return table.count_rows(), len(table.schema)

    def _finished(self, handle: dict[str, Any], table: Any, query: Query) -> pa.Table:
        if query.nearest is None or not _has_floats(table, query.nearest.column):
            return super()._finished(handle, table, query)
        import numpy as np

        wanted, columns = query.nearest, list(query.columns)
        search = {
            "column": wanted.column,
            "q": np.array(wanted.vectors, np.float32),
            "k": wanted.count,
            "refine_factor": wanted.candidates if wanted.candidates > 1 else None,
        }
        # Of several vectors, Lance answers with the number of each, in no stated order.
        scan = table.scanner(columns, nearest=search, disable_scoring_autoprojection=True)
        found: pa.Table = scan.to_table().sort_by("query_index")
        return found.select(columns)

    def _scan(self, table: Any, columns: list[str], where: Sequence[Condition]) -> pa.Table:
        if not columns:
            return _rows(table.count_rows(_filter(where)))
        return table.to_table(columns=columns, filter=_filter(where))

    def _take(self, table: Any, positions: list[int], columns: list[str]) -> pa.Table:
        return table.take(positions, columns=columns)


def _has_floats(table: Any, name: str) -> bool:
    """Return whether Lance computes distances of vectors: of bytes it counts bits, else it fails."""
    from pyarrow import types

    return bool(types.is_floating(table.schema.field(name).type.value_type))


def _rows(count: int) -> pa.Table:
    """Return a table of so many rows, for a count of them."""
    import pyarrow as pa

    return pa.table({"": pa.nulls(count)})


def _filter(where: Sequence[Condition]) -> str | None:
    return " AND ".join(map(_condition, by_total_order(where))) or None


def _condition(found: Condition) -> str:
    column = f"`{found.column}`"
    if isinstance(found, Comparison):
        return f"{column} {found.operator.replace('==', '=')} {literal_of(found.value)}"
    if isinstance(found, OneOf):
        return f"{column} IN ({', '.join(map(literal_of, found.values))})"
    return f"contains({column}, '{found.text}')"
