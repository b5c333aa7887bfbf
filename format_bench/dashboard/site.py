"""Site: the pages found in their folder, the overview and the exports, added to the site of asv."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from adapter_core import FormatBenchError, UnavailableError
from adapter_core.files import write_atomically
from format_bench.changes.change import sentence
from format_bench.dashboard import asv_page
from format_bench.dashboard import pages as pages_package
from format_bench.dashboard.asv_page import ASV_PAGE, INDEX
from format_bench.dashboard.exports import export_files
from format_bench.dashboard.layout import Page, framed, machine_menu, render
from format_bench.dashboard.pages import changes as changes_page
from format_bench.dashboard.pages import comparisons
from format_bench.dashboard.site_data import LatestRun, SiteConfig, SiteData, site_config
from format_bench.recommendation.chooser import chooser_of
from format_bench.report import metadata_table
from format_bench.report.charts.build import scatters_of
from format_bench.report.charts.figures import Chart
from format_bench.report.model import Outline, SuiteResults
from format_bench.report.ranking import findings_on, headline_of
from format_bench.results.display.text import joined, quantity
from format_bench.results.groups import ComparisonGroup
from format_bench.results.marks import BEST, LEGEND, TIE
from format_bench.results.metrics import LEADERS, Measure
from format_bench.results.suites import SUITES

# Libraries that most formats use, whose versions the overview shows.
LIBRARIES = ("pandas", "pyarrow", "numpy")


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


def leaders(suite: SuiteResults) -> list[tuple[str, list[dict[str, str]]]]:
    """Return the best by measure and group, of the measures that findings rank if values differ."""
    rows = []
    for metric, subject in ((each.name, each.leader) for each in LEADERS):
        for measure in (each for each in suite.measures if each.metric == metric):
            found = [_leader(group, measure) for group in suite.groups]
            if any(found):
                cache = f", {measure.cache}" if measure.cache else ""
                rows.append((subject + cache, found))
    return rows


def _leader(group: ComparisonGroup, measure: Measure) -> dict[str, str]:
    """Return the best with its value, and its ties; empty if no two values differ."""
    marks = group.marks(measure)
    best, ties = ([entry for entry, mark in marks.items() if mark == kind] for kind in (BEST, TIE))
    if not best:
        return {}
    cell = group.cell(best[0], measure)
    value = quantity(cell.value or 0, cell.unit)
    return {"names": joined(best), "value": value, "ties": joined(ties)}


def pictures(outline: Outline) -> Iterator[tuple[Chart, SuiteResults]]:
    """Yield size against read time on the first data set of each family's first suite."""
    families = set()
    for suite in outline.suites:
        family = SUITES[suite.name].family if suite.name in SUITES else suite.name
        charts = (each for group in suite.groups for each in scatters_of(group))
        chart = None if family in families else next(charts, None)
        if chart:
            families.add(family)
            yield chart, suite


def overview(site: SiteData, latest: LatestRun, pages: Sequence[Page], exports: Sequence[str]) -> Page:
    """Return the overview of a machine.

    Parameters
    ----------
    site : SiteData
        The results.
    latest : LatestRun
        The run of the machine.
    pages : sequence of Page
        All other pages, in the order of the menu.
    exports : sequence of str
        Names of the files for programs.
    """
    changes, outline = latest.changes, latest.outline
    chooser = chooser_of(latest.results)
    body = render(
        "landing.html",
        up=latest.up,
        machines=machine_menu(site, latest, INDEX),
        pictures=[
            (chart, suite.title, comparisons.file_name(suite)) for chart, suite in pictures(outline)
        ],
        top=headline_of(latest.results),
        chooser=chooser,
        lead=outline.lead,
        machine=metadata_table.summary(latest.results),
        run=latest.run,
        headline=changes_page.headline(changes),
        changes=[sentence(change) for change in changes.newest],
        changes_page=changes_page.FILE_NAME,
        suites_missing=joined(latest.suites_missing),
        suites_not_asked=joined(latest.suites_not_asked),
        libraries=_libraries(latest),
        commit_url=site.config.commit_url + latest.run.commit,
        suites=[
            {
                "title": suite.title,
                "findings": findings_on(suite),
                "leaders": leaders(suite),
                "groups": suite.groups,
                "address": comparisons.file_name(suite),
            }
            for suite in outline.suites
        ],
        self_check=outline.self_check,
        legend=LEGEND,
        pages=[page for page in pages if page.in_menu],
        asv_page=ASV_PAGE,
        exports=exports,
    )
    is_first = latest is site.latest
    return Page(
        "Overview" if is_first else f"Overview of {latest.run.machine}",
        latest.folder + INDEX,
        body,
        "",
        in_menu=is_first,
        scripts=("chooser.js", "code.js") if chooser else ("code.js",),
    )


def _libraries(latest: LatestRun) -> list[tuple[str, Any]]:
    if not latest.results.metadata:
        return []
    found = latest.results.metadata[-1].get("libraries", {})
    return [(name, found[name]) for name in LIBRARIES if found.get(name)]
