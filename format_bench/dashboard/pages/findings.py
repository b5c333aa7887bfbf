"""Pages of studies with a title for the menu, of the newest results of each machine."""

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
    from format_bench.studies.declared.study import Study

MENU_ORDER = 40


def pages(site: SiteData) -> Iterator[Page]:
    """Yield a page for each study and each machine that has measured what the study asks of.

    The menu has the first machine's that has one.
    """
    for name in study.places():
        declared = study.read(name)
        if declared.menu:
            yield from _pages_of(declared, site)


def _pages_of(declared: Study, site: SiteData) -> Iterator[Page]:
    texts = {latest.run.machine: text for latest in site.runs if (text := _text(declared, latest))}
    file_name = f"{declared.menu.lower().replace(' ', '-')}.html"
    for latest in site.runs:
        if latest.run.machine not in texts:
            continue
        links = machine_links(site, latest, file_name, texts)
        is_first = latest is site.latest
        yield Page(
            declared.menu if is_first else f"{declared.menu} on {latest.run.machine}",
            latest.folder + file_name,
            render("machine_menu.html", machines=links) + as_html(texts[latest.run.machine]),
            declared.summary,
            in_menu=latest.run.machine == next(iter(texts)),
        )


def _text(declared: Study, latest: LatestRun) -> str:
    """Return the page in Markdown; empty if the results lack its numbers."""
    try:
        return declared.page(latest.results).markdown(folds=False)
    except InvalidResultsError:
        return ""
