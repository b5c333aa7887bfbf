"""TileDB's conditions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import data_formats
from adapter_core.predicate import NUMBERS, Comparison
from adapter_core.queries.frames import FrameScan
from adapter_core.query_engine import Part
from adapter_core.tables.array_format import DESCRIPTION
from adapter_core.tables.arrow import arrow_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa

    from adapter_core import DataFormat
    from adapter_core.query import Condition


class Adapter(FrameScan):
    """TileDB-Py: a condition on numbers finds the rows, whose range is read; pyarrow does the rest.

    Of a dense array a condition returns all cells, those that fail it as fill values.
    """

    label = "tiledb"
    requires = ("tiledb", "pyarrow>=15")
    reads = ("TileDB",)
    does: ClassVar = frozenset({Part.COLUMNS, Part.ROWS, Part.POSITIONS})
    finished_by = "pyarrow"

    def _format(self, format_label: str) -> DataFormat:
        return data_formats.find(format_label)

    def _shape(self, table: Any) -> tuple[int, int]:
        import tiledb

        with tiledb.open(_address(table[1])) as array:
            description = json.loads(array.meta[DESCRIPTION])
        return description["rows"], len(description["columns"])

    def _scan(self, table: Any, columns: list[str], where: Sequence[Condition]) -> pa.Table:
        compared = {each.column for each in where}
        numeric = all(isinstance(each, Comparison) and each.type == NUMBERS for each in where)
        if not where or not numeric or len(compared) > 1:
            return super()._scan(table, columns, where)
        rows = _selected(table[1], where)
        if len(rows) == 0:
            return super()._scan(table, columns or [*compared], where).slice(0, 0)
        return self._take(table, rows, columns or [*compared])

    def _take(self, table: Any, positions: Any, columns: list[str]) -> pa.Table:
        data_format, path = table
        first, last = int(positions[0]), int(positions[-1])
        found = arrow_of(data_format.read(path, columns, slice(first, last + 1)))
        if len(positions) == found.num_rows:
            return found
        import numpy as np

        return found.take(np.asarray(positions) - first)


def _address(path: Path) -> str:
    return str(path.absolute())


def _selected(path: Path, where: Sequence[Condition]) -> np.ndarray:
    """Return the numbers of the rows that fulfil conditions on one column of numbers."""
    import numpy as np
    import tiledb

    name = where[0].column
    with tiledb.open(_address(path)) as array:
        attribute = array.attr(name)
        condition = " and ".join(_condition(each, attribute.dtype.kind) for each in where)
        values = array.query(attrs=[name], cond=condition)[:][name]
        is_filled = np.isnan(values) if values.dtype.kind == "f" else values == attribute.fill
    return np.flatnonzero(~is_filled)


def _condition(found: Condition, kind: str) -> str:
    if not isinstance(found, Comparison):
        raise TypeError(f"{found} is no comparison")
    value = float(found.value) if kind == "f" else found.value
    return f"{found.column} {found.operator} {value!r}"
