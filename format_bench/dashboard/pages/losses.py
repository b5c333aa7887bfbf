"""Pages of losses: data that came back changed, and cells without a value."""

from __future__ import annotations

from collections.abc import Iterator

from format_bench.dashboard.layout import Page, page_of_run, render
from format_bench.dashboard.site_data import SiteData
from format_bench.report.writers.html import lists_of

MENU_ORDER = 50
TITLE, FILE_NAME = "Losses and gaps", "losses.html"
SUMMARY = "Losses of each format, cells without a value, and the reasons."


def pages(site: SiteData) -> Iterator[Page]:
    """Yield a page for each machine; the menu has the first one's."""
    for latest in site.runs:
        suites = [lists_of(suite) for suite in latest.outline.suites]
        body = render("lists.html", suites=suites, unfolded=True, self_check=latest.outline.self_check)
        yield page_of_run(site, latest, Page(TITLE, FILE_NAME, body, SUMMARY))
