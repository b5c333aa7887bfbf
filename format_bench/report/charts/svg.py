"""The templates of pages and pictures; whatever is put into them is escaped.

Drawings as SVG elements.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from typing import TYPE_CHECKING

from format_bench.report.charts.drawing import PAPER, STYLES, Drawing, Style

if TYPE_CHECKING:
    from jinja2 import Environment


@functools.cache
def environment() -> Environment:
    """Return what finds templates in the folder of that name, and knows the filters that they use."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("format_bench.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters |= {
        "attributes": _attributes,
        "integrity": _integrity,
        "kind": lambda shape: type(shape).__name__,
        "pixels": _pixels,
        "sortable": lambda value: f"{value:.6g}",
    }
    return found


def _pixels(length: float) -> str:
    return f"{length:.1f}".removesuffix(".0")


def _attributes(style: Style) -> dict[str, str | None]:
    """Return the attributes of SVG that make shapes look like a style; None for those not needed."""
    width = style.halo or style.stroke_width
    return {
        # Shapes that have colours of their own inherit neither fill nor stroke.
        "fill": style.fill or "none",
        "stroke": PAPER if style.halo else style.stroke,
        "stroke-width": _pixels(width) if width else None,
        "paint-order": "stroke" if style.halo else None,
        "stroke-dasharray": _pixels(style.dash) if style.dash else None,
        "font-size": _pixels(style.size) if style.size else None,
        "font-weight": "600" if style.bold else None,
        "font-style": "italic" if style.italic else None,
        "text-anchor": style.anchor if style.size else None,
    }


def _integrity(source: str) -> str:
    """Return the hash by which a Content Security Policy knows a script or style of the page itself."""
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


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
