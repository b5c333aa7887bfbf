"""The report as drawings: an SVG for each chart and each heat map."""

from __future__ import annotations

from pathlib import Path

from adapter_core.files import write_atomically
from format_bench.report.writers.png import named_charts
from format_bench.results.load import Results


def write(results: Results, folder: Path) -> None:
    """Write drawings into a folder, which is made if missing; others of the same names are replaced."""
    for chart, name in named_charts(results, folder):
        with write_atomically(name.with_suffix(".svg")) as temporary:
            temporary.write_text(chart.svg + "\n", encoding="utf-8")
