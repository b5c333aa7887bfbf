"""The report as pictures: a PNG for each chart and each heat map."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from adapter_core.files import write_atomically
from format_bench.report.charts.build import pictures
from format_bench.report.charts.figures import POINTS_PER_INCH, Chart, style
from format_bench.report.model import outline_of
from format_bench.results.load import Results

# Sharp on screens with more than one dot a pixel.
_DOTS_PER_POINT = 2
_MARGIN = 12.0
_LONGEST_NAME = 80


def write(results: Results, folder: Path) -> None:
    """Write pictures into a folder, which is made if missing; others of the same names are replaced."""
    for chart, name in named_charts(results, folder):
        save(chart, name.with_suffix(".png"))


def named_charts(results: Results, folder: Path) -> Iterator[tuple[Chart, Path]]:
    """Yield all pictures of a report with their paths without ending, in a folder that is made."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 0
    for suite, _, drawn, maps in pictures(outline_of(results)):
        for kind, charts in (("", drawn), (" heat map", maps)):
            for chart in charts:
                number += 1
                yield chart, folder / f"{number:03}-{_slug(f'{suite.title} {chart.title}{kind}')}"


def save(chart: Chart, path: Path) -> None:
    """Write a chart into a file."""
    from matplotlib.transforms import Bbox

    page = Bbox.from_bounds(0, 0, chart.width, chart.height).padded(_MARGIN)
    with style(), write_atomically(path) as temporary:
        chart.figure().savefig(
            temporary,
            format="png",
            dpi=_DOTS_PER_POINT * POINTS_PER_INCH,
            bbox_inches=Bbox(page.get_points() / POINTS_PER_INCH),
            metadata={"Title": chart.title, "Description": chart.alt, "Software": "FormatBench"},
        )


def _slug(name: str) -> str:
    """Return a name that any file system takes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_NAME] or "chart"
