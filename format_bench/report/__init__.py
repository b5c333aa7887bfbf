"""Reports on results: charts, tables and sentences, for pages, print and spreadsheets.

Everything is computed from a `Results` alone, so that a page made of the same results is the same.
"""

from format_bench.report.all_charts import Chart, charts
from format_bench.report.html_page import page
from format_bench.report.outputs import write
from format_bench.report.verdict import findings

__all__ = ["Chart", "charts", "findings", "page", "write"]
