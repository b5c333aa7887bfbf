"""Site: the pages found in their folder, the overview and the exports, added to the site of asv."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from adapter_core import FormatBenchError, UnavailableError
from adapter_core.files import write_atomically
from format_bench.dashboard import asv_page
from format_bench.dashboard import pages as pages_package
from format_bench.dashboard.exports import export_files
from format_bench.dashboard.layout import Page, framed
from format_bench.dashboard.overview import overview
from format_bench.dashboard.site_data import SiteConfig, SiteData, site_config


class PageModule(Protocol):
    """Contract of the modules in `format_bench.dashboard.pages`."""

    MENU_ORDER: int
    """Place in the menu: smaller numbers come first."""

    def pages(self, site: SiteData) -> Iterable[Page]:
        """Return the pages of this module."""


def page_modules() -> list[PageModule]:
    """Return the modules of pages in the order of the menu."""
    return sorted(_listed(), key=lambda module: module.MENU_ORDER)


def _listed() -> Iterator[PageModule]:
    for found in pkgutil.iter_modules(pages_package.__path__):
        if not found.name.startswith("_"):
            yield cast("PageModule", import_module(f"{pages_package.__name__}.{found.name}"))


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
    # Not among the listed pages: it links to all of them, with their summaries.
    first, *others = (overview(site, each, pages, list(exports)) for each in site.runs)
    menu = [first, *pages]
    return exports | {page.file_name: framed(page, menu, config) for page in (*pages, *others, first)}


def publish(configuration: Any, root: Path, warn: Callable[[str], None]) -> None:
    """Write the pages into asv's site, and rename asv's own page; all of it or nothing.

    If results or packages are missing, asv's site stays as it is, with one warning.

    Parameters
    ----------
    configuration : asv.config.Config
        asv's.
    root : Path
        The folder of the checkout.
    warn : callable
        Takes a warning of one line.
    """
    html_dir = Path(configuration.html_dir)
    page = asv_page.read(html_dir, asv_page.INDEX)
    files: dict[str, bytes] = {}
    try:
        page, files = asv_page.with_local_scripts(page)
    except FormatBenchError as error:
        warn(f"asv's page needs a network for its scripts: {error}")
    try:
        error_page = asv_page.read(html_dir, asv_page.ERROR_PAGE)
        texts = asv_page.with_links(page, error_page) | _report(configuration, root)
    except FormatBenchError as error:
        warn(f"the site has no report: {error}")
        texts = {asv_page.INDEX: page}
    files |= {name: text.encode() for name, text in texts.items()}
    # The overview replaces asv's index.html, and comes last: until then the site is asv's.
    for name, content in files.items():
        path = html_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as temporary:
            temporary.write_bytes(content)


def _report(configuration: Any, root: Path) -> dict[str, str]:
    try:
        return site_files(site_config(configuration, root))
    except ModuleNotFoundError as error:
        # Templates and Markdown are extras, and imported where they are needed.
        reason, hint = f"{error.name} is not installed", "pip install 'formatbench[site]'"
        raise UnavailableError("the report", reason, hint) from error
