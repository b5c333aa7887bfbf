"""Python's own compiling of the libraries, done before anything is measured."""

from __future__ import annotations

import contextlib
import subprocess
import sys

LIMIT_SECONDS = 300

_IMPORT_ALL = """
import data_formats, image_storages
for family in (data_formats, image_storages):
    for label in family.names():
        family.find(label).availability()
"""


def compile_libraries() -> None:
    """Import the libraries of all adapters once, in a process of its own.

    What was installed without compiling, Python compiles and keeps when it is imported first, which no
    measured process shall do. A library that raises, hangs or crashes is left to its own cells to tell.
    """
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(  # noqa: S603 (our own words)
            [sys.executable, "-c", _IMPORT_ALL], check=False, capture_output=True, timeout=LIMIT_SECONDS
        )
