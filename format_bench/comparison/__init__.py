"""Whether two results agree: of two machines, two sets of libraries, or with published tables.

docs/comparison.md tells the method.
"""

from format_bench.comparison.compare import Comparison, compare

__all__ = ["Comparison", "compare"]
