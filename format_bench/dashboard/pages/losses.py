"""Page of losses: data that came back changed, and cells without a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from format_bench.dashboard.layout import Page, render
from format_bench.report import losses_and_gaps

if TYPE_CHECKING:
    from format_bench.dashboard.site_data import SiteData

MENU_ORDER = 50


def pages(site: SiteData) -> Iterator[Page]:
    """Yield the page."""
    suites = [
        {
            "title": suite.title,
            "losses": losses_and_gaps.losses(suite),
            "no_loss": losses_and_gaps.no_loss(suite),
            "gaps": losses_and_gaps.gaps(suite),
            "remarks": losses_and_gaps.remarks(suite),
        }
        for suite in site.latest.outline.suites
    ]
    summary = "Losses of each format, cells without a value, and the reasons."
    yield Page(
        "Losses and gaps",
        "losses.html",
        render("lists.html", suites=suites, self_check=site.latest.outline.self_check),
        summary,
    )
