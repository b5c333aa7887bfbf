"""ROOT's TTree through ROOT's own library."""

from __future__ import annotations

from adapter_core.tables.root_native_ttree import NativeTTree


class Adapter(NativeTTree):
    """A TTree through ROOT's own library, in C++ that ROOT compiles at first use.

    Rows are filled one by one, since ROOT cannot write whole columns; baskets are read whole. Files are
    as in ``ROOT.TTree``, and flipped bits are not noticed, either.
    """

    label = "ROOT.TTree[ROOT]"
    requires = (
        "pandas",
        "pyarrow",
        "root>=0.1a12; sys_platform == 'linux' and platform_machine == 'x86_64'",
    )
    suite = "engines"
    excluded_from_all = "wheels of ROOT are alphas, for Linux on x86-64 alone, and take 591 MB"
