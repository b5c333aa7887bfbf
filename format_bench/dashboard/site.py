"""Assembly of the site: the pages that are found in their folder, the overview, and the exports."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from format_bench.dashboard import pages as pages_package
from format_bench.dashboard.changes.exports import export_files
from format_bench.dashboard.layout import Page, framed
from format_bench.dashboard.overview import overview
from format_bench.dashboard.site_data import SiteData

if TYPE_CHECKING:
    from format_bench.dashboard.site_data import SiteConfig


class PageModule(Protocol):
    """Contract of the modules in `format_bench.dashboard.pages`."""

    MENU_ORDER: int
    """Place in the menu: smaller numbers come first."""

    def pages(self, site: SiteData) -> Iterable[Page]:
        """Return the pages of this module."""


def site_files(config: SiteConfig) -> dict[str, str]:
    """Return the text of each file by its name, relative to the site; the overview last.

    Raises
    ------
    ResultsNotFoundError
        If asv has no results.
    """
    site = SiteData.read(config)
    pages = [page for module in page_modules() for page in module.pages(site)]
    exports = export_files(site.changes, config.site_url)
    first = overview(site, pages, list(exports))
    menu = [first, *pages]
    return exports | {page.file_name: framed(page, menu, config) for page in (*pages, first)}


def page_modules() -> list[PageModule]:
    """Return the modules of pages in the order of the menu."""
    return sorted(_listed(), key=lambda module: module.MENU_ORDER)


def _listed() -> Iterator[PageModule]:
    for found in pkgutil.iter_modules(pages_package.__path__):
        if not found.name.startswith("_"):
            yield cast("PageModule", import_module(f"{pages_package.__name__}.{found.name}"))
