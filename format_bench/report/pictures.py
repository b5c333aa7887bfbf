"""The report as pictures: a PNG for each chart and each heat map."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.report import figures, heat_drawing
from format_bench.report.all_charts import charts_of
from format_bench.report.heat_map import heat_maps
from format_bench.report.outline import outline_of

if TYPE_CHECKING:
    from format_bench.report.drawing import Drawing
    from format_bench.results.load import Results

DOTS_PER_INCH = 1.5 * figures.PIXELS_PER_INCH
"""Sharp on screens with more than one dot a pixel."""

_MARGIN = 12.0


def write(results: Results, folder: Path) -> None:
    """Write pictures into a folder, which is made if missing; those of the same names are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    with figures.settings():
        for number, (name, drawing) in enumerate(drawings(results), start=1):
            width, height = drawing.width + 2 * _MARGIN, drawing.height + 2 * _MARGIN
            figure, axes = figures.sheet(width, height)
            figures.paint(drawing, axes, _MARGIN, _MARGIN)
            path = folder / f"{number:03}-{_slug(name)}.png"
            temporary = folder / f".{path.name}.{secrets.token_hex(4)}.partial"
            try:
                figure.savefig(temporary, format="png", dpi=DOTS_PER_INCH)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)


def drawings(results: Results) -> Iterator[tuple[str, Drawing]]:
    """Yield all drawings of a report with their names: of each family first the heat maps."""
    outline = outline_of(results)
    for family in outline.families:
        for each in heat_maps(family, outline.floors):
            yield f"{family.title} {each.title} heat map", heat_drawing.draw(each)
        for group in family.groups:
            for chart in charts_of(group, outline.colours, outline.floors):
                yield f"{family.title} {chart.title}", chart.drawing


def _slug(name: str) -> str:
    """Return a name that any file system takes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "chart"
