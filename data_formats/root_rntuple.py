"""ROOT's RNTuple through uproot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter_core.tables.root_uproot import Root

if TYPE_CHECKING:
    import awkward as ak


class Adapter(Root):
    """An RNTuple through uproot, which does not need ROOT.

    Nulls are marked by a field of booleans. The format has nulls of its own, but uproot misplaces
    values among nulls that come from Arrow. Checksums of header and footer are compared, pages' are not
    are not: flipped bits of values are not noticed.
    """

    label = "ROOT.RNTuple"
    requires = ("pandas", "pyarrow", "uproot>=5.7", "awkward")
    suite = "engines"
    _maker = "mkrntuple"

    def _write_table(self, file: Any, name: str, columns: dict[str, ak.Array]) -> None:
        table = file.mkrntuple(name, {column: each.type.content for column, each in columns.items()})
        if any(map(len, columns.values())):  # ROOT refuses the empty cluster that uproot would add
            table.extend(columns)
