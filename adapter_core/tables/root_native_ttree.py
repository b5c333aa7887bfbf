"""TTrees of ROOT's own library: base class of its adapters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter_core.tables import root_native
from adapter_core.tables.root_uproot import TABLE

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

LEAVES = {
    "b1": ("O", "Bool_t"),
    "i1": ("B", "Char_t"),
    "u1": ("b", "UChar_t"),
    "i2": ("S", "Short_t"),
    "u2": ("s", "UShort_t"),
    "i4": ("I", "Int_t"),
    "u4": ("i", "UInt_t"),
    "i8": ("L", "Long64_t"),
    "u8": ("l", "ULong64_t"),
    "f4": ("F", "Float_t"),
    "f8": ("D", "Double_t"),
}
"""Letter and name of a leaf's type by NumPy's code, see the documentation of the class TTree."""


class NativeTTree(root_native.NativeRoot):
    """A TTree, whose rows are filled one by one, since ROOT cannot write whole columns."""

    def _write_table(self, file: Any, arrays: Mapping[str, np.ndarray], setting: int) -> None:
        root_native.root().format_bench.WriteTTree(
            file, TABLE, *root_native.columns_of(arrays, _leaf_of)
        )

    def _table(self, file: Any, name: str) -> root_native.StoredTable:
        return _StoredTTree(file.Get(name))

    def _codec_used(self, path: Path) -> str | None:
        with root_native.opened(path) as file:
            settings = [
                branch.GetCompressionSettings() for branch in file.Get(TABLE).GetListOfBranches()
            ]
        return root_native.CODEC_NAMES.get(settings[0] // 100) if settings else None


def _leaf_of(name: str, array: np.ndarray, is_list: bool) -> str:  # noqa: FBT001 (as `columns_of` calls it)
    letter, _ = LEAVES[array.dtype.str[1:]]
    if is_list:
        return f"{name}[{name}__size]/{letter}"
    return f"{name}[{array.shape[1]}]/{letter}" if array.ndim > 1 else f"{name}/{letter}"


class _StoredTTree(root_native.StoredTable):
    def __init__(self, tree: Any) -> None:
        self._tree = tree
        self._table = root_native.root().format_bench.TTreeTable(tree)

    def columns(self) -> list[str]:
        return [str(branch.GetName()) for branch in self._tree.GetListOfBranches()]

    def is_list(self, column: str) -> bool:
        return bool(self._tree.GetLeaf(column).GetLeafCount())

    def values(self, column: str, rows: slice | None = None) -> np.ndarray:
        import numpy as np

        leaf = self._tree.GetLeaf(column)
        name, is_array = str(leaf.GetTypeName()), "[" in str(leaf.GetTitle())
        dtype = np.dtype(next(code for code, (_, each) in LEAVES.items() if each == name))
        shape = (leaf.GetLenStatic(),) if is_array else ()
        first, last = (rows.start, rows.stop) if rows else (0, self._table.Rows())
        values = np.empty((last - first, *shape), dtype)
        self._table.ReadValues(column, root_native.width_bytes(values), values.ctypes.data, first, last)
        return values.byteswap(inplace=True)  # baskets are big-endian

    def lists(self, column: str, rows: slice | None = None) -> tuple[np.ndarray, np.ndarray]:
        import numpy as np

        first, last = (rows.start, rows.stop) if rows else (0, self._table.Rows())
        # The bytes of a row are found by the sizes of those before it in the basket.
        start = self._table.BasketStart(column, first) if first < last else first
        offsets = np.zeros(last - start + 1, np.int64)
        np.cumsum(self.values(f"{column}__size", slice(start, last)), out=offsets[1:])
        values = np.empty(offsets[-1], np.uint8)
        self._table.ReadLists(column, offsets.ctypes.data, values.ctypes.data, start, last)
        if start == first:
            return offsets, values
        offsets = offsets[first - start :]
        return offsets - offsets[0], values[offsets[0] :].copy()
