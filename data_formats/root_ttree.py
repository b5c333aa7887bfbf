"""ROOT's TTree through uproot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter_core.tables.root_uproot import Root

if TYPE_CHECKING:
    import awkward as ak


class Adapter(Root):
    """A TTree through uproot, which does not need ROOT.

    Trees lack nulls, which are marked by a branch of booleans. Text is bytes, since ROOT's type for
    text, ``char*``, takes uproot five times as long. A truncated file is noticed, flipped bits are not.
    """

    label = "ROOT.TTree"
    requires = ("pandas", "pyarrow", "uproot>=5.7", "awkward")
    suite = "engines"
    _maker = "mktree"

    def _write_table(self, file: Any, name: str, columns: dict[str, ak.Array]) -> None:
        types = {column: array.type.content for column, array in columns.items()}
        file.mktree(name, types, counter_name=lambda column: f"{column}__size").extend(columns)

    def _http_options(self) -> dict[str, Any]:
        import uproot

        # All baskets in one request with several ranges; the default makes one request for each.
        return {"handler": uproot.source.http.HTTPSource}
