"""Vortex' own scan."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.predicate import OPERATORS, Comparison
from adapter_core.queries.arrow import plain_text
from adapter_core.queries.scan import ScanEngine
from adapter_core.query import OneOf, by_total_order, has_fields, path_of
from adapter_core.query_engine import Part
from data_formats.vortex import literal_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from adapter_core.query import Condition


class Adapter(ScanEngine):
    """vortex-data: conditions are evaluated on compressed values, rows are found by their numbers."""

    label = "vortex"
    requires = ("vortex-data", "pyarrow>=15")
    reads = ("Vortex",)
    compares_times: ClassVar = frozenset(reads)
    compares_decimals: ClassVar = frozenset(reads)
    modules: ClassVar = {"vortex-data": "vortex"}
    does: ClassVar = frozenset({Part.COLUMNS, Part.ROWS, Part.POSITIONS})
    finished_by = "pyarrow"

    def _open(self, format_label: str, path: Path) -> Any:  # noqa: ARG002 (one format)
        import vortex

        # A segment cache would answer later questions from memory.
        return vortex.open(str(path), without_segment_cache=True)

    def _shape(self, table: Any) -> tuple[int, int]:
        return len(table), len(table.dtype.to_arrow_schema())

    def _scan(self, table: Any, columns: list[str], where: Sequence[Condition]) -> pa.Table:
        # The columns of the conditions count the rows where no others are needed.
        wanted = columns or [where[0].column]
        if has_fields(wanted):
            return _fields(table, wanted, where)
        found = table.scan(wanted, expr=_expression(table, where)).to_arrow().read_all()
        # Acero takes no string views.
        return plain_text(found)

    def _take(self, table: Any, positions: list[int], columns: list[str]) -> pa.Table:
        import pyarrow as pa
        import vortex

        rows = vortex.array(pa.array(positions, pa.uint64()))
        return table.scan(columns, indices=rows).to_arrow().read_all()


def _fields(table: Any, names: list[str], where: Sequence[Condition]) -> pa.Table:
    """Return fields of records, without the other fields."""
    import pyarrow as pa
    import vortex.expr as ve

    columns = []
    for name in names:
        outer, *inner = path_of(name)
        field = reduce(lambda found, part: ve.get_item(part, found), inner, ve.column(outer))
        batches = table.scan(field, expr=_expression(table, where))
        columns.append(pa.chunked_array([each.to_arrow_array() for each in batches]))
    return pa.table(dict(zip(names, columns, strict=True)))


def _expression(table: Any, where: Sequence[Condition]) -> Any:
    import vortex.expr as ve

    schema = table.dtype.to_arrow_schema() if where else None
    found = [_condition(each, schema) for each in by_total_order(where)]
    return reduce(ve.and_, found) if found else None


def _condition(found: Condition, schema: pa.Schema) -> Any:
    import vortex
    import vortex.expr as ve

    column, kind = ve.column(found.column), schema.field(found.column).type
    if isinstance(found, Comparison):
        return OPERATORS[found.operator](column, literal_of(found.value, kind))
    if isinstance(found, OneOf):
        return _balanced([column == literal_of(value, kind) for value in found.values])
    return ve.like(column, ve.literal(vortex.utf8(nullable=True), f"%{found.text}%"))


def _balanced(found: list[Any]) -> Any:
    """Return the disjunction of expressions as a tree of little depth."""
    import vortex.expr as ve

    while len(found) > 1:
        pairs = [found[place : place + 2] for place in range(0, len(found), 2)]
        found = [reduce(ve.or_, each) for each in pairs]
    return found[0]
