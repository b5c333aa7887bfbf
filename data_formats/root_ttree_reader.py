"""ROOT's TTree through TTreeReader."""

from __future__ import annotations

from adapter_core.tables.root_event_loops import EventLoop
from adapter_core.tables.root_native_ttree import LEAVES, NativeTTree
from adapter_core.tables.root_uproot import TABLE


class Adapter(EventLoop, NativeTTree):
    """A TTree analysed row by row through TTreeReader.

    Whole tables are saved and read as by ``ROOT.TTree[ROOT]``.
    """

    label = "ROOT.TTree[TTreeReader]"
    requires = (
        "pandas",
        "pyarrow",
        "root>=0.1a12; sys_platform == 'linux' and platform_machine == 'x86_64'",
    )
    suite = "analysis"
    excluded_from_all = "wheels of ROOT are alphas, for Linux on x86-64 alone, and take 591 MB"

    def _opening(self, fields: tuple[tuple[str, str], ...]) -> str:
        values = "\n".join(
            f'TTreeReaderValue<{LEAVES[code][1]}> column{i}(reader, "{name}");'
            for i, (name, code) in enumerate(fields)
        )
        return f'TTreeReader reader("{TABLE}", &file);\n{values}\nwhile (reader.Next())'

    def _value(self, position: int) -> str:
        return f"*column{position}"
