"""The report as a page: one file that needs no other, no network, and can be read without scripts."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench.report import facts, gaps, losses, marks, remarks
from format_bench.report.family_section import section
from format_bench.report.heat_map import COLOURS
from format_bench.report.outline import Outline, outline_of
from format_bench.report.scale import LOGARITHMIC_RANGE
from format_bench.report.templating import environment
from format_bench.report.verdict import findings_on

if TYPE_CHECKING:
    from format_bench.report.groups import Family
    from format_bench.results.load import Results


def page(results: Results) -> str:
    """Return the report as HTML.

    Its Content Security Policy allows nothing but its own style and script, so that text of the results
    could do nothing even if it were not escaped.
    """
    outline = outline_of(results)
    by_section = groupby(facts.facts(results), key=lambda fact: fact.section)
    templates = environment()
    return templates.get_template("page.html").render(
        name=outline.name,
        lead=outline.lead,
        machine=facts.in_short(results),
        families=[_family(f"family-{n}", each, outline) for n, each in enumerate(outline.families)],
        legend=marks.legend(results.floors),
        logarithmic_range=LOGARITHMIC_RANGE,
        words=marks.WORDS,
        facts=[(section, list(rows)) for section, rows in by_section],
        runs=len(results.circumstances),
        style=templates.get_template("report.css").render(colours=COLOURS),
        script=templates.get_template("report.js").render(),
    )


def _family(anchor: str, family: Family, outline: Outline) -> dict[str, Any]:
    return {
        **section(family, outline, anchor=anchor, title=family.title),
        "findings": findings_on(family, outline.floors),
        "losses": losses.losses(family),
        "no_loss": losses.in_short(family),
        "gaps": gaps.gaps(family),
        "remarks": remarks.remarks(family),
    }


def write(results: Results, path: Path) -> None:
    """Write the report as HTML."""
    path.write_text(page(results), encoding="utf-8")
