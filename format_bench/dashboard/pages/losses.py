"""Pages of losses: data that came back changed, and cells without a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from format_bench.dashboard.layout import Page, render
from format_bench.dashboard.machine_links import machine_links
from format_bench.report import losses_and_gaps, turns

if TYPE_CHECKING:
    from format_bench.dashboard.site_data import LatestRun, SiteData

MENU_ORDER = 50
TITLE, FILE_NAME = "Losses and gaps", "losses.html"


def pages(site: SiteData) -> Iterator[Page]:
    """Yield a page for each machine; the menu has the first one's."""
    for latest in site.runs:
        yield _page(site, latest)


def _page(site: SiteData, latest: LatestRun) -> Page:
    suites = [
        {
            "title": suite.title,
            "losses": losses_and_gaps.losses(suite),
            "no_loss": losses_and_gaps.no_loss(suite),
            "gaps": losses_and_gaps.gaps(suite),
            "remarks": losses_and_gaps.remarks(suite),
            "turns": turns.turns(suite),
        }
        for suite in latest.outline.suites
    ]
    summary = "Losses of each format, cells without a value, and the reasons."
    menu = render("machine_menu.html", machines=machine_links(site, latest, FILE_NAME))
    is_first = latest is site.latest
    return Page(
        TITLE if is_first else f"{TITLE} on {latest.run.machine}",
        latest.folder + FILE_NAME,
        menu + render("lists.html", suites=suites, self_check=latest.outline.self_check),
        summary,
        in_menu=is_first,
    )
