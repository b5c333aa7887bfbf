"""ROOT's RNTuple through RDataFrame."""

from __future__ import annotations

from adapter_core.tables.root_data_frame import RDataFrameQueries
from adapter_core.tables.root_native_rntuple import NativeRNTuple


class Adapter(RDataFrameQueries, NativeRNTuple):
    """An RNTuple analysed by RDataFrame, one event loop with ROOT's own threads.

    Whole tables are saved and read as by ``ROOT.RNTuple[ROOT]``.
    """

    label = "ROOT.RNTuple[RDataFrame]"
    requires = (
        "pandas",
        "pyarrow",
        "root>=0.1a12; sys_platform == 'linux' and platform_machine == 'x86_64'",
    )
    suite = "analysis"
    excluded_from_all = "wheels of ROOT are alphas, for Linux on x86-64 alone, and take 591 MB"
