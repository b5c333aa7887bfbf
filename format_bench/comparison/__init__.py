"""Comparison of two results: of two machines, two library sets, or with published tables.

docs/comparison.md describes the method.
"""

from format_bench.comparison.compare import Comparison, compare

__all__ = ["Comparison", "compare"]
