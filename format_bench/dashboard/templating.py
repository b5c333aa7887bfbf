"""The templates of the site, and those of the report, which it shares."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from format_bench.report.charts import svg
from format_bench.report.charts.heat_map import COLOURS

if TYPE_CHECKING:
    from jinja2 import Environment


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
