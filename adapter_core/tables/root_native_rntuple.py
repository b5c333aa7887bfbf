"""RNTuples of ROOT's own library: base class of its adapters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter_core.tables import root_native
from adapter_core.tables.root_uproot import TABLE

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

TYPES = {
    "b1": "bool",
    **{
        f"{sign}{size}": f"std::{word}{size * 8}_t"
        for sign, word in (("i", "int"), ("u", "uint"))
        for size in (1, 2, 4, 8)
    },
    "f4": "float",
    "f8": "double",
}
"""Type of a field by NumPy's code, see BinaryFormatSpecification.md of ROOT's sources."""


class NativeRNTuple(root_native.NativeRoot):
    """An RNTuple, whose rows are filled one by one, since ROOT cannot write whole columns."""

    def _write_table(self, file: Any, arrays: Mapping[str, np.ndarray], setting: int) -> None:
        root_native.root().format_bench.WriteRNTuple(
            file, TABLE, *root_native.columns_of(arrays, _type_of), setting
        )

    def _table(self, file: Any, name: str) -> root_native.StoredTable:
        return _StoredRNTuple(root_native.root().format_bench.RNTupleTable(str(file.GetName()), name))

    def _codec_used(self, path: Path) -> str | None:
        with root_native.opened(path) as file:
            setting = (
                root_native.root().format_bench.RNTupleTable(str(file.GetName()), TABLE).Compression()
            )
        return root_native.CODEC_NAMES.get(setting // 100)


def _type_of(_name: str, array: np.ndarray, is_list: bool) -> str:  # noqa: FBT001 (as `columns_of` calls it)
    value = TYPES[array.dtype.str[1:]]
    if is_list:
        return f"std::vector<{value}>"
    return f"std::array<{value},{array.shape[1]}>" if array.ndim > 1 else value


class _StoredRNTuple(root_native.StoredTable):
    def __init__(self, table: Any) -> None:
        self._table = table
        self._types = {str(name): str(value) for name, value in table.Types()}

    def columns(self) -> list[str]:
        return list(self._types)

    def is_list(self, column: str) -> bool:
        return self._types[column].startswith("std::vector")

    def values(self, column: str, rows: slice | None = None) -> np.ndarray:
        import numpy as np

        inner = re.fullmatch(r"std::array<([\w:]+),(\d+)>", self._types[column])
        name, shape = (inner[1], (int(inner[2]),)) if inner else (self._types[column], ())
        dtype = np.dtype(next(code for code, each in TYPES.items() if each == name))
        first, last = (rows.start, rows.stop) if rows else (0, self._table.Rows())
        values = np.empty((last - first, *shape), dtype)
        self._table.ReadValues(column, root_native.width_bytes(values), values.ctypes.data, first, last)
        return values

    def lists(self, column: str, rows: slice | None = None) -> tuple[np.ndarray, np.ndarray]:
        import numpy as np

        first, last = (rows.start, rows.stop) if rows else (0, self._table.Rows())
        found = self._table.ReadLists(column, first, last)
        offsets, values = found.offsets, found.bytes
        return (
            np.frombuffer(offsets.data(), np.int64, offsets.size()).copy(),
            np.frombuffer(values.data(), np.uint8, values.size()).copy(),
        )
