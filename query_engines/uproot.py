"""uproot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import data_formats
from adapter_core.queries.frames import FrameScan

if TYPE_CHECKING:
    from adapter_core import DataFormat


class Adapter(FrameScan):
    """uproot: columns of a TTree or an RNTuple as arrays; pyarrow does the rest."""

    label = "uproot"
    requires = ("uproot>=5.7", "awkward", "pyarrow>=15")
    reads = ("ROOT.RNTuple", "ROOT.TTree")
    compares_times: ClassVar = frozenset(reads)
    finished_by = "pyarrow"

    def _format(self, format_label: str) -> DataFormat:
        return data_formats.find(format_label)

    def _shape(self, table: Any) -> tuple[int, int]:
        import json

        import uproot

        from adapter_core.tables.array_format import DESCRIPTION

        with uproot.open(table[1], handler=uproot.MultithreadedFileSource) as file:
            description = json.loads(str(file[DESCRIPTION]))
        return description["rows"], len(description["columns"])
