"""NumPy's archives of arrays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import data_formats
from adapter_core.queries.frames import FrameScan
from adapter_core.tables.array_format import DESCRIPTION

if TYPE_CHECKING:
    from adapter_core import DataFormat


class Adapter(FrameScan):
    """NumPy: the arrays of the columns are read whole, and pyarrow does the rest."""

    label = "numpy"
    requires = ("numpy", "pandas", "pyarrow>=15")
    reads = ("NPZ",)
    compares_times: ClassVar = frozenset(reads)
    finished_by = "pyarrow"

    def _format(self, format_label: str) -> DataFormat:
        return data_formats.find(format_label)

    def _shape(self, table: tuple[DataFormat, Path]) -> tuple[int, int]:
        import numpy as np

        with np.load(table[1], allow_pickle=False) as members:
            description: dict[str, Any] = json.loads(str(members[DESCRIPTION]))
        return description["rows"], len(description["columns"])
