"""Library set under test: constraints.txt, which pins the version of every package.

A set is resolved from the requirements of setup.py, as of today or of an earlier day, and compared with
the set before it.
"""

from adapter_core.errors import ResolutionError
from format_bench.library_sets.resolution import declared, resolve
from format_bench.library_sets.sets import HEAD, VersionChange, message, parse, version_changes

__all__ = [
    "HEAD",
    "ResolutionError",
    "VersionChange",
    "declared",
    "message",
    "parse",
    "resolve",
    "version_changes",
]
