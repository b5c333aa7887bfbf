"""A page of the site, before it is put into the frame that all share.

What the site is made from, and where it goes.

The templates of the site, and those of the report, which it shares.

The frame that all pages of the site share: heading, menu, style, and what scripts may run.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench.dashboard.asv_page import ASV_PAGE, INDEX
from format_bench.report.charts import svg
from format_bench.report.charts.heat_map import COLOURS
from format_bench.results import noise_floor

if TYPE_CHECKING:
    from jinja2 import Environment

    from format_bench.results.noise_floor import Floors


FEED, JSON, BADGE = "changes.xml", "changes.json", "badge.svg"


@dataclass(frozen=True)
class Page:
    """What is particular to one page."""

    title: str
    file_name: str
    """Relative to the site, as in "tables.html" or "docs/methodology.html"."""
    body_html: str
    summary: str
    """What can be found on it, as one sentence for the overview."""
    in_menu: bool = True
    """Whether the menu of all pages names it."""


@dataclass(frozen=True)
class Source:
    """What asv's configuration says, and where the project is."""

    project: str
    project_url: str
    commit_url: str
    """What a commit's hash is appended to."""
    site_url: str
    """Where the site will stand, with a slash at its end; empty if there is no `site_url`."""
    results_dir: Path
    html_dir: Path
    root: Path
    """The checkout: its git history has the library sets, its folder `docs` the documents."""

    @cached_property
    def floors(self) -> Floors | None:
        """By how much two equal measurements differ on this machine, if that was measured."""
        path = self.results_dir.parent / "noise.json"
        return noise_floor.read(path) if path.exists() else None


def source_of(configuration: Any, root: Path) -> Source:
    """Return the source of a site.

    Parameters
    ----------
    configuration : asv.config.Config
        asv's; relative paths in it are relative to the working directory.
    root : Path
        The folder of the checkout.
    """
    site_url = getattr(configuration, "site_url", "")
    return Source(
        project=configuration.project,
        project_url=configuration.project_url,
        commit_url=configuration.show_commit_url,
        site_url=f"{site_url.rstrip('/')}/" if site_url else "",
        results_dir=Path(configuration.results_dir),
        html_dir=Path(configuration.html_dir),
        root=root,
    )


@functools.cache
def environment() -> Environment:
    """Return the report's environment with a second folder of templates, which is looked into first."""
    from jinja2 import ChoiceLoader, PackageLoader

    report = svg.environment()
    own = PackageLoader("format_bench.dashboard")
    return report.overlay(loader=ChoiceLoader([own, report.loader] if report.loader else [own]))


def render(template: str, **values: Any) -> str:
    """Return a template, filled in; values are escaped unless they are markup."""
    return environment().get_template(template).render(**values)


@functools.cache
def style() -> str:
    """Return the style of all pages: the report's, and what only the site has."""
    return render("report.css", colours=COLOURS) + render("dashboard.css")


def framed(page: Page, pages: Sequence[Page], source: Source) -> str:
    """Return a page as HTML. It loads nothing, and its policy allows no script but its own.

    Parameters
    ----------
    page : Page
        The page.
    pages : sequence of Page
        All pages, in the order of the menu.
    source : Source
        What the site is about.
    """
    up = "../" * page.file_name.count("/")
    return render(
        "frame.html",
        page=page,
        menu=[
            (up + each.file_name, each.title, each.file_name == page.file_name)
            for each in pages
            if each.in_menu
        ],
        asv_page=up + ASV_PAGE,
        feed=up + FEED,
        project=source.project,
        project_url=source.project_url,
        style=style(),
        redirect=render("redirect.js", asv_page=ASV_PAGE) if page.file_name == INDEX else "",
        script=render("report.js") + render("frame.js"),
    )
