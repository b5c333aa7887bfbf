"""The frame that all pages of the site share: heading, menu, style, and what scripts may run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from format_bench.changes.site_files import FEED
from format_bench.dashboard.asv_page import ASV_PAGE, INDEX
from format_bench.dashboard.templating import render, style

if TYPE_CHECKING:
    from format_bench.dashboard.page import Page
    from format_bench.dashboard.source import Source


def framed(page: Page, pages: Sequence[Page], source: Source) -> str:
    """Return a page as HTML. It loads nothing, and its policy allows no script but its own.

    Parameters
    ----------
    page : Page
        The page.
    pages : sequence of Page
        All pages, in the order of the menu.
    source : Source
        What the site is about.
    """
    up = "../" * page.file_name.count("/")
    return render(
        "frame.html",
        page=page,
        menu=[
            (up + each.file_name, each.title, each.file_name == page.file_name)
            for each in pages
            if each.in_menu
        ],
        asv_page=up + ASV_PAGE,
        feed=up + FEED,
        project=source.project,
        project_url=source.project_url,
        style=style(),
        redirect=render("redirect.js", asv_page=ASV_PAGE) if page.file_name == INDEX else "",
        script=render("report.js") + render("frame.js"),
    )
