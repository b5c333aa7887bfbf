"""Drawings as SVG elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.report.styles import STYLES
from format_bench.report.templating import environment

if TYPE_CHECKING:
    from format_bench.report.drawing import Drawing

FONTS = "'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def svg(drawing: Drawing, title: str, alt: str) -> str:
    """Return a drawing as an element that stands in a page, or alone in a file.

    Parameters
    ----------
    drawing : Drawing
        What to show.
    title, alt : str
        Its name and its description, for those who do not see it.
    """
    template = environment().get_template("drawing.svg")
    return template.render(drawing=drawing, title=title, alt=alt, styles=STYLES, fonts=FONTS)
