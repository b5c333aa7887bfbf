"""Imports and listings common to the steps of all families, made once by the server of fresh processes.

Importing this module has them made. No library of a single format is among them: its first import
belongs to the process that measures the format.
"""

from __future__ import annotations

import contextlib
from importlib import import_module

from format_bench.families.operations import operations_of, registry_of
from format_bench.results.suites import FAMILIES

_COMMON = ("numpy", "packaging.requirements", "pandas", "pyarrow.pandas_compat", "threadpoolctl")

for _name in _COMMON:
    # Without one of them, adapters are unavailable with the reason.
    with contextlib.suppress(ImportError):
        import_module(_name)
for _family in FAMILIES.values():
    operations_of(_family).datasets()  # imports the files of all data sets
    registry_of(_family).names()  # reads the declarations of all adapters
