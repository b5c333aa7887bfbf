"""TileDB's conditions."""

from __future__ import annotations

import json
import math
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
    from adapter_core.predicate import Value
    from adapter_core.query import Condition


class Adapter(FrameScan):
    """TileDB-Py: a condition on numbers finds the rows, whose range is read; pyarrow does the rest.

    Of a dense array a condition returns all cells, those that fail it as fill values.
    """

    label = "tiledb"
    requires = ("tiledb", "pyarrow>=15")
    reads = ("TileDB",)
    compares_times: ClassVar = frozenset(reads)
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
        if rows is None:
            return super()._scan(table, columns, where)
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


def _selected(path: Path, where: Sequence[Condition]) -> np.ndarray | None:
    """Return the numbers of the rows that fulfil comparisons of one column with numbers.

    None if these do not show: nulls are in another attribute, where their values are 0; categories are
    codes; or the fill value, which marks the other rows, fulfils the comparisons itself.
    """
    import numpy as np
    import tiledb

    comparisons = [each for each in where if isinstance(each, Comparison)]
    with tiledb.open(_address(path)) as array:
        columns = json.loads(array.meta[DESCRIPTION])["columns"]
        (described,) = (each for each in columns if each["name"] == where[0].column)
        if {"valid", "categories"} & described.keys():
            return None
        name = described["values"]
        attribute = array.attr(name)
        is_float = attribute.dtype.kind == "f"
        constants = [each.number if is_float else each.value for each in comparisons]
        fill = np.asarray(attribute.fill).ravel()[:1]
        if all(each.mask(fill)[0] for each in comparisons) or any(map(_is_infinite, constants)):
            return None
        pairs = zip(comparisons, constants, strict=True)
        condition = " and ".join(f"{name} {each.operator} {value!r}" for each, value in pairs)
        values = array.query(attrs=[name], cond=condition)[:][name]
        is_filled = np.isnan(values) if is_float else values == attribute.fill
    return np.flatnonzero(~is_filled)


def _is_infinite(value: Value) -> bool:
    return isinstance(value, float) and math.isinf(value)
