"""Pages of studies with a title for the menu, of the newest results of each machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from adapter_core.errors import InvalidResultsError
from format_bench.dashboard.layout import Page, page_of_run
from format_bench.dashboard.pages._markdown import as_html
from format_bench.dashboard.site_data import LatestRun, SiteData
from format_bench.studies.declared import study
from format_bench.studies.declared.study import Study

MENU_ORDER = 40


def pages(site: SiteData) -> Iterator[Page]:
    """Yield a page for each study and each machine that has results for it.

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
        machine = latest.run.machine
        if machine in texts:
            page = Page(declared.menu, file_name, as_html(texts[machine]), declared.summary)
            found = page_of_run(site, latest, page, texts)
            yield replace(found, in_menu=machine == next(iter(texts)))


def _text(declared: Study, latest: LatestRun) -> str:
    """Return the page in Markdown; empty if the results lack its numbers."""
    try:
        return declared.page(latest.results).markdown(folds=False)
    except InvalidResultsError:
        return ""
