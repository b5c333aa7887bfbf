"""The library set under test: constraints.txt, which pins the version of every package.

A set is resolved from what setup.py declares, as of today or of an earlier day, and compared with the
one before it.
"""

from adapter_core.errors import ResolutionError
from format_bench.library_sets.resolution import declared, resolve
from format_bench.library_sets.sets import HEAD, Step, message, parse, steps

__all__ = ["HEAD", "ResolutionError", "Step", "declared", "message", "parse", "resolve", "steps"]
