"""Pages as HTML: templates, and the frame of heading, menu, style and scripts that all pages share."""

from __future__ import annotations

import functools
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from format_bench.changes.change import libraries, sentence
from format_bench.dashboard.asv_page import ASV_PAGE, INDEX
from format_bench.prediction import model
from format_bench.recommendation.formulas import as_script
from format_bench.report.writers.html import environment as report_environment
from format_bench.report.writers.html import style as report_style
from format_bench.results.display.text import quantity

if TYPE_CHECKING:
    from jinja2 import Environment

    from format_bench.dashboard.site_data import LatestRun, SiteConfig, SiteData


# File names of the exports.
FEED, JSON, BADGE = "changes.xml", "changes.json", "badge.svg"


@dataclass(frozen=True)
class Page:
    """One page of the site, without the frame."""

    title: str
    file_name: str
    """Relative to the site, e.g. "tables.html" or "docs/methodology.html"."""
    body_html: str
    summary: str
    """The content of the page as one sentence, for the overview."""
    in_menu: bool = True
    scripts: tuple[str, ...] = ()
    """Templates of scripts that only this page needs."""
    library: str = ""
    """A script that they need."""


@functools.cache
def environment() -> Environment:
    """Return the report's templates and filters, and before them the site's."""
    from jinja2 import ChoiceLoader, PackageLoader
    from markupsafe import Markup

    report = report_environment()
    own = PackageLoader("format_bench.dashboard")
    found = report.overlay(loader=ChoiceLoader([own, report.loader] if report.loader else [own]))
    # An overlay shares these dictionaries with its original, which must not get these.
    found.globals = {**found.globals, "prediction_formulas": Markup(as_script(model.FORMULAS))}  # noqa: S704 (the project's own code)
    found.filters = {
        **found.filters,
        "anchor": lambda change: f"change-{change.identity.removeprefix('urn:uuid:')}",
        "libraries": libraries,
        "quantity": lambda value, unit: "-" if value is None else quantity(value, unit),
        "sentence": sentence,
    }
    return found


def render(template: str, **values: Any) -> str:
    """Return a template, filled in; values are escaped unless they are markup."""
    return environment().get_template(template).render(**values)


def machine_menu(
    site: SiteData, here: LatestRun, name: str, among: Container[str] | None = None
) -> list[dict[str, Any]]:
    """Return the same page of each machine, or its overview; empty if there is one machine.

    Parameters
    ----------
    site : SiteData
        The results.
    here : LatestRun
        The run of the page.
    name : str
        The page's name within the folder of its run.
    among : container of str, optional
        The machines that have the page; by default all.
    """
    return [
        {
            "machine": each.run.machine,
            "point": each.point,
            "address": here.up
            + each.folder
            + (name if among is None or each.run.machine in among else INDEX),
            "is_here": each is here,
        }
        for each in (site.runs if site.other_machines else ())
    ]


def page_of_run(
    site: SiteData,
    latest: LatestRun,
    page: Page,
    among: Container[str] | None = None,
) -> Page:
    """Return a page as the one of a machine: in its folder, below the menu of machines.

    The page of the first machine alone has its title without the machine, and is in the menu of pages.
    """
    machines = machine_menu(site, latest, page.file_name, among)
    is_first = latest is site.latest
    return replace(
        page,
        title=page.title if is_first else f"{page.title} on {latest.run.machine}",
        file_name=latest.folder + page.file_name,
        body_html=render("machine_menu.html", machines=machines) + page.body_html,
        in_menu=is_first,
    )


@functools.cache
def style() -> str:
    """Return the style sheet of all pages: the report's, followed by the site's own rules."""
    return report_style() + render("dashboard.css")


def framed(page: Page, pages: Sequence[Page], config: SiteConfig) -> str:
    """Return a page as HTML that loads nothing; its policy allows no script but its own.

    Parameters
    ----------
    page : Page
        The page.
    pages : sequence of Page
        All pages, in the order of the menu.
    config : SiteConfig
        Names and addresses of the project.
    """
    # Pages may be in folders, and a site may be published below any address: links are relative.
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
        project=config.project,
        project_url=config.project_url,
        style=style(),
        redirect=render("redirect.js", asv_page=ASV_PAGE) if page.file_name == INDEX else "",
        script=page.library + "".join(map(render, ("report.js", "frame.js", *page.scripts))),
    )
