"""Page on the choice of an engine for each format that several libraries save and read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidResultsError
from format_bench.dashboard.layout import Page
from format_bench.dashboard.pages._markdown import as_html
from format_bench.studies import engines

if TYPE_CHECKING:
    from format_bench.dashboard.site_data import SiteData

MENU_ORDER = 40


def pages(site: SiteData) -> Iterator[Page]:
    """Yield the page, unless no format was measured with several engines."""
    try:
        text = engines.page(site.latest.results)
    except InvalidResultsError:
        return
    summary = "The best library for each format that several libraries save and read."
    yield Page("Which engine", "which-engine.html", as_html(text), summary)
