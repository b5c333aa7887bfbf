"""The charts and numbers of a suite, as templates take them.

The report as a page: one file that needs no other, no network, and can be read without scripts.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.text import visible
from format_bench.recommendation import cost, formulas, output
from format_bench.recommendation.card import text_of
from format_bench.recommendation.chooser import chooser_of
from format_bench.recommendation.code import code_of
from format_bench.report import losses_and_gaps, metadata_table, turns
from format_bench.report.charts.axes import LOGARITHMIC_RANGE
from format_bench.report.charts.build import charts_of
from format_bench.report.charts.figures import WIDTH
from format_bench.report.charts.heat_map import heat_maps, query_map
from format_bench.report.model import SuiteResults, outline_of
from format_bench.report.queries import query_tables
from format_bench.report.ranking import findings_on, headline_of
from format_bench.report.theme import SHADES, THEME
from format_bench.results import cells
from format_bench.results.display.text import format_ratio, joined
from format_bench.results.marks import LEGEND, WORDS
from format_bench.results.table import result_table

if TYPE_CHECKING:
    from jinja2 import Environment

    from format_bench.recommendation.recommend import Recommendation
    from format_bench.results.groups import ComparisonGroup
    from format_bench.results.load import Results


@functools.cache
def environment() -> Environment:
    """Return the environment of the report's templates, which escapes all values."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    found = Environment(
        loader=PackageLoader("format_bench.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        # Markup is the page's own; the name of a column may turn around what follows it.
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    found.globals |= {
        "formulas": Markup(formulas.as_script()),  # noqa: S704 (the project's own code)
        "logarithmic_range": LOGARITHMIC_RANGE,
        "usual_width": WIDTH,
        "words": WORDS,
    }
    found.filters |= {
        "card": text_of,
        "code": code_of,
        "integrity": _integrity,
        "pixels": lambda length: f"{length:.1f}".removesuffix(".0"),
        "sortable": lambda value: f"{value:.6g}",
        "times": format_ratio,
    }
    return found


def _integrity(source: str) -> str:
    """Return the hash that allows a script or style of the page itself in a Content Security Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


# Up to so many data sets of a suite are all open; of more, the first.
_UNFOLDED = 3

# Of more charts of a data set these are shown: size and speed, the others folded.
_MOST_CHARTS, _FIRST_CHARTS = 6, 4

# From so many configurations on, heat maps are folded, except the first.
_MANY_ENTRIES = 20


def section(suite: SuiteResults, *, anchor: str, title: str, source: str = "") -> dict[str, Any]:
    """Return the heat maps, charts and numbers of a suite as the template takes them.

    Parameters
    ----------
    suite : SuiteResults
        The suite.
    anchor, title : str
        Of the section.
    source : str
        The results on a command line, for commands that reproduce their cells; empty for none.
    """
    unfolded = len(suite.groups) <= _UNFOLDED
    return {
        "anchor": anchor,
        "title": title,
        # On one data set a map would be a column that the charts and the table show, too.
        "heat_maps": list(heat_maps(suite)) if len(suite.groups) > 1 else [],
        "folds_maps": len(suite.configurations) >= _MANY_ENTRIES,
        "groups": [
            {**_group(group, suite, source), "open": unfolded or group is suite.groups[0]}
            for group in suite.groups
        ],
    }


def _group(group: ComparisonGroup, suite: SuiteResults, source: str) -> dict[str, Any]:
    tables, charts = list(query_tables(group)), charts_of(group)
    shown = len(charts) if len(charts) <= _MOST_CHARTS else _FIRST_CHARTS
    return {
        "name": group.name,
        "extent": suite.extent(group),
        "not_run": joined(losses_and_gaps.not_run(group, suite), most=8),
        "charts": charts[:shown],
        "more_charts": charts[shown:],
        "query_maps": [{"table": table, "map": query_map(table)} for table in tables],
        "numbers": result_table(group),
        "cells": _cells(group, suite, source) if source and group.measures else None,
    }


def _cells(group: ComparisonGroup, suite: SuiteResults, source: str) -> dict[str, Any]:
    """Return the parts of the names of a group's cells, and the command that reproduces the first."""
    sizes = {each.rows for each in suite.groups if each.dataset == group.dataset}
    start = f"{suite.name}/{cells.data_name(group.dataset, group.rows, sizes)}"
    names = {each: str(replace(each, threads=group.threads)) for each in group.configurations}
    measures = [each.comparable.option for each in group.measures]
    first = "/".join([start, next(iter(names.values())), *measures[:1]])
    command = cells.command(source, first)
    before, _, after = command.partition(shlex.quote(first))
    return {
        "start": start,
        "names": names,
        "measures": measures,
        "command": command,
        "before": before,
        "after": after,
    }


def page(results: Results) -> str:
    """Return the report as HTML.

    Its Content Security Policy allows nothing but its own style and script, so that text of the results
    could do nothing even if it were not escaped.
    """
    outline = outline_of(results)
    templates = environment()
    chooser = chooser_of(results)
    return templates.get_template("page.html").render(
        name=outline.name,
        lead=outline.lead,
        mixture=outline.mixture,
        machine=metadata_table.summary(results),
        suites=[_suite(f"family-{n}", each, results.source) for n, each in enumerate(outline.suites)],
        self_check=outline.self_check,
        legend=LEGEND,
        facts=metadata_table.by_section(results),
        runs=len(results.metadata),
        top=headline_of(results),
        chooser=chooser,
        costs=_costs(results, chooser.first if chooser else None),
        style=style(),
        script="".join(templates.get_template(each).render() for each in SCRIPTS),
    )


def _costs(results: Results, answer: Recommendation | None) -> dict[str, Any] | None:
    """Return the costs of the ranked formats; None without a file of prices beside the results."""
    if results.prices is None or answer is None:
        return None
    bill = cost.bill(answer, results.records, cost.read_cloud(results.prices))
    sentences = [*bill.break_evens, *(f"Without costs: {each}." for each in bill.missing.values())]
    return {
        "title": output.bill_title(bill),
        "header": output.BILL_HEADER,
        "rows": output.bill_rows(bill),
        "sentences": sentences,
        "notes": [*bill.sources, f"prices by {bill.cloud.source}"],
    }


# Templates of styles and scripts, in their order.
STYLES, SCRIPTS = ("report.css", "chooser.css"), ("report.js", "chooser.js", "code.js")


@functools.cache
def style() -> str:
    """Return the style sheet of a report."""
    colours = {"theme": THEME, "shades": SHADES}
    return "".join(environment().get_template(each).render(colours) for each in STYLES)


def _suite(anchor: str, suite: SuiteResults, source: str) -> dict[str, Any]:
    shown = section(suite, anchor=anchor, title=suite.title, source=source)
    return shown | lists_of(suite) | {"findings": findings_on(suite)}


def lists_of(suite: SuiteResults) -> dict[str, Any]:
    """Return the lists of a suite as the template takes them: turns, losses, empty cells, remarks."""
    lost = losses_and_gaps.losses(suite)
    changed, kept = (
        [
            [str(each.configuration), ", ".join(each.groups), each.words]
            for each in lost
            if of is each.is_of_values
        ]
        for of in (True, False)
    )
    return {
        "title": suite.title,
        "turns": [[measure, data, *rest] for data, measure, *rest in turns.rows_of_turns([suite])],
        "changed": changed,
        "losses": kept,
        "no_loss": losses_and_gaps.no_loss(suite),
        "gaps": [row for _, *row in losses_and_gaps.rows_of_gaps([suite])],
        "remarks": losses_and_gaps.remarks(suite),
    }


def write(results: Results, path: Path) -> None:
    """Write the report as HTML."""
    path.write_text(page(results), encoding="utf-8")
