"""PyIceberg's own scan."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.predicate import Comparison
from adapter_core.queries.scan import ScanEngine
from adapter_core.query import Contains, OneOf
from data_formats.iceberg import comparison_of, literal_of, opened_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from adapter_core.query import Condition, Query


class Adapter(ScanEngine):
    """PyIceberg: files are chosen by the statistics in the manifests, rows by pyarrow."""

    label = "pyiceberg"
    requires = ("pyiceberg", "pyarrow>=15")
    reads = ("Iceberg",)
    compares_times: ClassVar = frozenset(reads)
    compares_decimals: ClassVar = frozenset(reads)
    finished_by = "pyarrow"
    reads_fields = False

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002 (one format)
        if any(isinstance(each, Contains) for each in query.where):
            return "its expressions find the start of a text only"
        return ""

    def _open(self, format_label: str, path: Path) -> Any:  # noqa: ARG002 (one format)
        return opened_table(path)

    def _shape(self, table: Any) -> tuple[int, int]:
        return table.scan().count(), len(table.schema().fields)

    def _scan(self, table: Any, columns: list[str], where: Sequence[Condition]) -> pa.Table:
        from pyiceberg.expressions import AlwaysTrue, And

        rows = reduce(And, map(_condition, where)) if where else AlwaysTrue()
        wanted = columns or [where[0].column]
        return table.scan(row_filter=rows, selected_fields=tuple(wanted)).to_arrow().select(wanted)


def _condition(found: Condition) -> Any:
    from pyiceberg import expressions

    if isinstance(found, OneOf):
        one = expressions.In(found.column, list(map(literal_of, found.values)))  # type: ignore[call-arg, arg-type]
        # Among some values, pyarrow looks for the bits of one of the zeros.
        zero = comparison_of(Comparison(found.column, "==", 0.0))
        return expressions.Or(one, zero) if found.has_zero else one
    if not isinstance(found, Comparison):
        raise TypeError(f"{found} is not a condition of PyIceberg")
    return comparison_of(found)
