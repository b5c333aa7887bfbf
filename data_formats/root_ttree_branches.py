"""ROOT's TTree through branches bound by SetBranchAddress."""

from __future__ import annotations

from adapter_core.tables.root_event_loops import EventLoop
from adapter_core.tables.root_native_ttree import LEAVES, NativeTTree
from adapter_core.tables.root_uproot import TABLE


class Adapter(EventLoop, NativeTTree):
    """A TTree analysed row by row through branches that are bound to variables by SetBranchAddress.

    Each branch is read on its own, where the analysis needs its value: manual branching. Whole tables
    are saved and read as by ``ROOT.TTree[ROOT]``.
    """

    label = "ROOT.TTree[branches]"
    requires = (
        "pandas",
        "pyarrow",
        "root>=0.1a12; sys_platform == 'linux' and platform_machine == 'x86_64'",
    )
    suite = "analysis"
    excluded_from_all = "wheels of ROOT are alphas, for Linux on x86-64 alone, and take 591 MB"

    def _opening(self, fields: tuple[tuple[str, str], ...]) -> str:
        branches = "\n".join(
            f'format_bench::BoundBranch<{LEAVES[code][1]}> column{i}(*tree, "{name}");'
            for i, (name, code) in enumerate(fields)
        )
        tree = (
            f'std::unique_ptr<TTree> tree(file.Get<TTree>("{TABLE}"));\n'
            'if (!tree) throw std::runtime_error("the file has no table");'
        )
        loop = "for (Long64_t row = 0; row < tree->GetEntries() && tree->LoadTree(row) >= 0; ++row)"
        return f"{tree}\n{branches}\n{loop}"

    def _value(self, position: int) -> str:
        return f"column{position}.At(row)"
