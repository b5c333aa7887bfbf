"""ROOT's RNTuple through uproot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter_core.tables.root_uproot import Root

if TYPE_CHECKING:
    import awkward as ak


class Adapter(Root):
    """An RNTuple through uproot, which needs no ROOT.

    A field of booleans tells which values are null. The format has nulls of its own, but with nulls that
    come from Arrow uproot gives values the places of others. Checksums of the head and the foot of an
    RNTuple are compared, those of its pages are not: changed bits of values are not noticed.
    """

    label = "ROOT.RNTuple"
    requires = ("pandas", "pyarrow", "uproot>=5.7", "awkward")
    suite = "engines"

    def _write_table(self, file: Any, name: str, columns: dict[str, ak.Array]) -> None:
        table = file.mkrntuple(name, {column: each.type.content for column, each in columns.items()})
        if any(map(len, columns.values())):  # else uproot adds an empty cluster, which ROOT refuses
            table.extend(columns)
