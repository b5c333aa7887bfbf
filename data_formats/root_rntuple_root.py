"""ROOT's RNTuple through ROOT's own library."""

from __future__ import annotations

from adapter_core.tables.root_native_rntuple import NativeRNTuple


class Adapter(NativeRNTuple):
    """An RNTuple through ROOT's own library, in C++ that ROOT compiles at first use.

    Rows are filled one by one, since ROOT cannot write whole columns; pages are read in bulk. Files have
    the layout of ``ROOT.RNTuple``. The checksum of each page is compared when it is read.
    """

    label = "ROOT.RNTuple[ROOT]"
    requires = (
        "pandas",
        "pyarrow",
        "root>=0.1a12; sys_platform == 'linux' and platform_machine == 'x86_64'",
    )
    suite = "engines"
    excluded_from_all = "wheels of ROOT are alphas, for Linux on x86-64 alone, and take 591 MB"
