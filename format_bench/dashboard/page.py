"""A page of the site, before it is put into the frame that all share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """What is particular to one page."""

    title: str
    file_name: str
    """Relative to the site, as in "tables.html" or "docs/methodology.html"."""
    body_html: str
    summary: str
    """What can be found on it, as one sentence for the overview."""
    in_menu: bool = True
    """Whether the menu of all pages names it."""
