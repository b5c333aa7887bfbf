"""The report as PDF: the verdict, heat maps, charts, losses, empty cells, circumstances."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.report import facts, figures, gaps, heat_drawing, losses, marks
from format_bench.report.all_charts import charts_of
from format_bench.report.heat_map import heat_maps
from format_bench.report.outline import outline_of
from format_bench.report.sheet_flow import Flow
from format_bench.report.verdict import findings

if TYPE_CHECKING:
    from format_bench.report.groups import Family
    from format_bench.report.outline import Outline
    from format_bench.results.load import Results


def write(results: Results, path: Path) -> None:
    """Write a PDF of A4 pages; its text is text."""
    from matplotlib.backends.backend_pdf import PdfPages

    outline = outline_of(results)
    about = {"Title": f"{outline.name} - FormatBench report", "Creator": "FormatBench"}
    with figures.settings(), PdfPages(path, metadata=about) as pages:
        flow = Flow(pages.savefig)
        flow.heading(outline.name)
        flow.paragraphs([f"{outline.lead}.", facts.in_short(results)])
        flow.heading("Verdict", "subheading")
        flow.paragraphs(findings(results))
        flow.paragraphs([marks.legend(outline.floors)], "small")
        for family in outline.families:
            _add_family(flow, family, outline)
        for title, lines in _lists(outline):
            flow.heading(title)
            flow.paragraphs(lines)
        flow.heading("Circumstances")
        flow.paragraphs(_circumstances(results), "small")
        flow.end()


def _add_family(flow: Flow, family: Family, outline: Outline) -> None:
    maps = (heat_drawing.draw(each) for each in heat_maps(family, outline.floors))
    flow.drawings(family.title, "heading", maps)
    for group in family.groups:
        title = ", ".join(filter(None, (group.name, family.extent(group))))
        charts = charts_of(group, outline.colours, outline.floors)
        flow.drawings(title, "subheading", (chart.drawing for chart in charts))


def _lists(outline: Outline) -> Iterator[tuple[str, list[str]]]:
    for family in outline.families:
        kind = f", {family.title.lower()}" if len(outline.families) > 1 else ""
        lost = [
            f"{each.entry} ({', '.join(each.groups)}): {each.words}" for each in losses.losses(family)
        ]
        yield f"Losses{kind}", lost or [losses.in_short(family)]
        empty = [
            f"{each.entry} ({', '.join(each.groups)}), {each.what}: {each.status}: {each.sentence}"
            for each in gaps.gaps(family)
        ]
        yield f"Empty cells{kind}", empty or ["Every cell has a value."]


def _circumstances(results: Results) -> Iterator[str]:
    """Yield a paragraph for each section; where runs differ, the values of all, oldest first."""
    for section, rows in groupby(facts.facts(results), key=lambda fact: fact.section):
        known = (
            f"{row.name} {' / '.join(row.values[:1] if row.agreed else row.values)}" for row in rows
        )
        yield f"{section}: {', '.join(known)}"
    if not results.circumstances:
        yield "Nothing is known of the machine and the libraries: no file beside the results tells."
