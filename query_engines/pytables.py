"""PyTables' conditions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.predicate import NUMBERS, Comparison
from adapter_core.queries.arrow import expression
from adapter_core.queries.scan import ScanEngine
from adapter_core.query_engine import Part
from adapter_core.tables.arrow import arrow_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from adapter_core.query import Condition

_KEY = "table"


class Adapter(ScanEngine):
    """PyTables by pandas' store: conditions on columns of their own, by their indexes if they have any.

    By default pandas puts columns of a type together in blocks, which no condition can look into: then
    all rows are read, and pyarrow filters them.
    """

    label = "pytables"
    requires = ("tables", "pandas", "pyarrow>=15")
    reads = ("HDF5.table",)
    compares_times: ClassVar = frozenset(reads)
    does: ClassVar = frozenset({Part.POSITIONS})
    finished_by = "pyarrow"
    notes: ClassVar = {"HDF5.table": "conditions need columns of their own, which pandas does not make"}

    def _open(self, format_label: str, path: Path) -> Any:  # noqa: ARG002 (one format)
        import pandas as pd

        return pd.HDFStore(path, "r")

    def _close(self, table: Any) -> None:
        table.close()

    def _shape(self, table: Any) -> tuple[int, int]:
        stored = table.get_storer(_KEY)
        return stored.nrows, len(stored.non_index_axes[0][1])

    def _scan(self, table: Any, columns: list[str], where: Sequence[Condition]) -> pa.Table:
        stored = table.get_storer(_KEY).table
        usable = [each for each in where if _is_usable(each, stored.colnames)]
        if where and len(usable) == len(where):
            # By other names, since "real" and some others are functions.
            compared = {f"_{n}": getattr(stored.cols, each.column) for n, each in enumerate(usable)}
            condition = " & ".join(map(_condition, usable, compared))
            rows = stored.get_where_list(condition, compared, sort=True)
            return self._take(table, rows, columns or [where[0].column])
        needed = list(dict.fromkeys([*columns, *(each.column for each in where)]))
        found = arrow_of(table.select(_KEY, columns=needed))
        return found.filter(expression(where, found.schema)) if where else found

    def _take(self, table: Any, positions: Any, columns: list[str]) -> pa.Table:
        if not len(positions):
            # To pandas an empty list is no condition, and no rows of text have another dtype.
            return arrow_of(table.select(_KEY, stop=1, columns=columns)).slice(0, 0)
        return arrow_of(table.select(_KEY, where=list(positions), columns=columns))


def _is_usable(found: Condition, names: list[str]) -> bool:
    if not isinstance(found, Comparison) or found.type != NUMBERS or found.column not in names:
        return False
    # Expressions of PyTables have no infinity, and NaN, which is null, differs from everything.
    is_finite = not isinstance(found.value, float) or math.isfinite(found.value)
    return is_finite and found.operator != "!="


def _condition(found: Condition, column: str) -> str:
    if not isinstance(found, Comparison):
        raise TypeError(f"{found} is no comparison")
    return f"({column} {found.operator} {found.value!r})"
