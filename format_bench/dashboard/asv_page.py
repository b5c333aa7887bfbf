"""asv's own page: moved aside for the overview, and linked with it."""

from __future__ import annotations

from pathlib import Path

from adapter_core.errors import FormatBenchError

INDEX = "index.html"
ASV_PAGE = "asv.html"
"""What asv's page is called once the overview has its name."""

_MENU = '<li id="nav-li-"'
"""The first entry of the page's menu, in asv 0.6."""

LINK = f'<li id="nav-li-report"><a href="{INDEX}">Report</a></li>\n\t'
"""What leads from there to the overview."""


class UnknownAsvPage(FormatBenchError):
    """asv's page is not what it was in the versions that are known."""


def with_link(page: str) -> str:
    """Return asv's page with a link to the overview in its menu.

    Raises
    ------
    UnknownAsvPage
        If there is no place for it.
    """
    if page.count(_MENU) != 1:
        raise UnknownAsvPage(f"asv's {INDEX} has no menu that begins with {_MENU}...>; is asv newer?")
    return page.replace(_MENU, LINK + _MENU)


def read(html_dir: Path) -> str:
    """Return asv's page, as asv has just written it."""
    return (html_dir / INDEX).read_text(encoding="utf-8")
