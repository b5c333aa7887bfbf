"""Reports on results: charts, tables and sentences, for pages, print and spreadsheets.

Everything is computed from a `Results` alone, so that a page made of the same results is the same.
"""

from format_bench.report.ranking import findings, headline_of
from format_bench.report.writers import write
from format_bench.report.writers.html import page

__all__ = ["findings", "headline_of", "page", "write"]
