"""Pages on the choice of an engine for each format that several libraries save and read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidResultsError
from format_bench.dashboard.layout import Page, render
from format_bench.dashboard.machine_links import machine_links
from format_bench.dashboard.pages._markdown import as_html
from format_bench.studies.declared import study

if TYPE_CHECKING:
    from format_bench.dashboard.site_data import LatestRun, SiteData

MENU_ORDER = 40
TITLE, FILE_NAME = "Which engine", "which-engine.html"


def pages(site: SiteData) -> Iterator[Page]:
    """Yield a page for each machine that has measured a format with several engines.

    The menu has the first machine's.
    """
    texts = {latest.run.machine: text for latest in site.runs if (text := _text(latest))}
    summary = "The best library for each format that several libraries save and read."
    for latest in site.runs:
        if latest.run.machine not in texts:
            continue
        links = machine_links(site, latest, FILE_NAME, texts)
        is_first = latest is site.latest
        yield Page(
            TITLE if is_first else f"{TITLE} on {latest.run.machine}",
            latest.folder + FILE_NAME,
            render("machine_menu.html", machines=links) + as_html(texts[latest.run.machine]),
            summary,
            in_menu=is_first,
        )


def _text(latest: LatestRun) -> str:
    """Return the page in Markdown; empty if no format was measured with several engines."""
    try:
        return study.read("engines").page(latest.results).markdown()
    except InvalidResultsError:
        return ""
