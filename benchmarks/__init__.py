"""asv suites, one module each.

A family of data may bring the modules of its suites in its own package, in a folder of this name.
"""

from pathlib import Path

_FAMILIES = Path(__file__).resolve().parent.parent / "format_bench" / "families"
__path__ += [str(folder) for folder in sorted(_FAMILIES.glob("*/benchmarks"))]
