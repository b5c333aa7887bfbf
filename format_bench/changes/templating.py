"""The templates of the changes, and those of the report, which they share."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from format_bench.changes.words import libraries, sentence
from format_bench.display.text import quantity, times
from format_bench.report.charts import svg

if TYPE_CHECKING:
    from jinja2 import Environment


@functools.cache
def environment() -> Environment:
    """Return the report's environment with the templates of this folder."""
    from jinja2 import PackageLoader

    found = svg.environment().overlay(loader=PackageLoader("format_bench.changes"))
    # An overlay has the filters of its original, and would add to them.
    found.filters = {
        **found.filters,
        "anchor": lambda change: f"change-{change.identity.removeprefix('urn:uuid:')}",
        "libraries": libraries,
        "quantity": lambda value, unit: "-" if value is None else quantity(value, unit),
        "sentence": sentence,
        "times": times,
    }
    return found


def render(template: str, **values: Any) -> str:
    """Return a template, filled in; values are escaped unless they are markup."""
    return environment().get_template(template).render(**values)
