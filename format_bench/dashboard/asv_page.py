"""asv's own pages: the first is moved aside for the overview, and both lead to it."""

from __future__ import annotations

from pathlib import Path

from adapter_core.errors import UnknownAsvPageError

INDEX = "index.html"
ASV_PAGE = "asv.html"
"""What asv's page is called once the overview has its name."""

ERROR_PAGE = "error.html"
"""What asv shows where its scripts cannot be had."""

_MENU = '<li id="nav-li-"'
"""The first entry of the page's menu, in asv 0.6."""

LINK = f'<li id="nav-li-report"><a href="{INDEX}">Report</a></li>\n\t'
"""What leads from there to the overview."""

_END = "</body>"

ERROR_LINK = f'<p>The <a href="{INDEX}">report</a> needs neither.</p>\n'
"""What leads to the overview from the error page, which asks for a network and for scripts."""


def with_links(page: str, error_page: str) -> dict[str, str]:
    """Return asv's pages with links to the overview, by name.

    Raises
    ------
    UnknownAsvPageError
        If there is no place for them.
    """
    if page.count(_MENU) != 1 or error_page.count(_END) != 1:
        raise UnknownAsvPageError(
            f"asv's {INDEX} has no menu that begins with {_MENU}...>, or {ERROR_PAGE} has no end;"
            " is asv newer?"
        )
    return {
        ASV_PAGE: page.replace(_MENU, LINK + _MENU),
        ERROR_PAGE: error_page.replace(_END, ERROR_LINK + _END),
    }


def read(html_dir: Path, name: str) -> str:
    """Return one of asv's pages, as asv has just written it."""
    return (html_dir / name).read_text(encoding="utf-8")
