"""ROOT's RNTuple through the views of RNTupleReader."""

from __future__ import annotations

from adapter_core.tables.root_event_loops import EventLoop
from adapter_core.tables.root_native_rntuple import TYPES, NativeRNTuple
from adapter_core.tables.root_uproot import TABLE


class Adapter(EventLoop, NativeRNTuple):
    """An RNTuple analysed row by row through the views of RNTupleReader.

    Whole tables are saved and read as by ``ROOT.RNTuple[ROOT]``.
    """

    label = "ROOT.RNTuple[views]"
    requires = (
        "pandas",
        "pyarrow",
        "root>=0.1a12; sys_platform == 'linux' and platform_machine == 'x86_64'",
    )
    suite = "analysis"
    excluded_from_all = "wheels of ROOT are alphas, for Linux on x86-64 alone, and take 591 MB"

    def _opening(self, fields: tuple[tuple[str, str], ...]) -> str:
        views = "\n".join(
            f'auto column{i} = reader->GetView<{TYPES[code]}>("{name}");'
            for i, (name, code) in enumerate(fields)
        )
        reader = f'auto reader = ROOT::RNTupleReader::Open("{TABLE}", file.GetName());'
        return f"{reader}\n{views}\nfor (auto row : *reader)"

    def _value(self, position: int) -> str:
        return f"column{position}(row)"
