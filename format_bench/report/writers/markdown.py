"""The report as Markdown: the verdict and the tables, without charts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.display.markdown import Table, markdown, reference
from format_bench.display.marks import BEST, TIE
from format_bench.report import circumstances, losses_and_gaps, ranking
from format_bench.report.model import outline_of
from format_bench.report.numbers import numbers
from format_bench.report.ranking import findings

if TYPE_CHECKING:
    from format_bench.report.model import Outline, SuiteResults
    from format_bench.results.groups import ComparisonGroup
    from format_bench.results.load import Results
    from format_bench.results.noise_floor import Floors


def write(results: Results, path: Path) -> None:
    """Write the report as Markdown."""
    path.write_text(markdown_page(results), encoding="utf-8")


def markdown_page(results: Results) -> str:
    """Return the report as Markdown; text of the results is escaped."""
    outline = outline_of(results)
    lines = [f"# {_escaped(outline.name)}", "", f"{_escaped(outline.lead)}.", ""]
    machine = circumstances.in_short(results)
    if machine:
        lines += [f"{_escaped(machine)}.", ""]
    lines += ["## Verdict", "", *(f"- {_escaped(each)}" for each in findings(results)), ""]
    lines += [
        f"{ranking.legend(outline.floors)} {BEST} is the best, {TIE} a tie.".replace("*", "\\*"),
        "",
    ]
    return "\n".join([*lines, *map(markdown, _tables(outline, results))])


def _tables(outline: Outline, results: Results) -> Iterator[Table]:
    for family in outline.families:
        for group in family.groups:
            yield _numbers(family, group, outline.floors)
    lost = (
        [family.title, str(each.entry), ", ".join(each.groups), each.words]
        for family in outline.families
        for each in losses_and_gaps.losses(family)
    )
    yield from _list("Losses", ["kind of data", "format", "data sets", "what was lost"], lost)
    empty = (
        [family.title, str(each.entry), ", ".join(each.groups), each.what, each.status, each.sentence]
        for family in outline.families
        for each in losses_and_gaps.gaps(family)
    )
    header = ["kind of data", "format", "data sets", "what", "status", "why"]
    yield from _list("Empty cells", header, empty)
    known = ([f"{each.section}: {each.name}", *each.values] for each in circumstances.facts(results))
    runs = [f"run {number}" for number in range(1, len(results.circumstances) + 1)]
    yield from _list("Circumstances", ["fact", *runs], known)


def _numbers(family: SuiteResults, group: ComparisonGroup, floors: Floors | None) -> Table:
    found = numbers(group, floors)
    notes: list[str] = []
    rows = []
    for entry, places in found.rows:
        row = [_escaped(str(entry))]
        for place in places:
            text = place.text + place.mark
            if place.value is None and place.tip:
                text += f" {reference(_escaped(f'{entry}: {place.text}: {place.tip}'), notes)}"
            row.append(text)
        rows.append(row)
    title = ", ".join(filter(None, (f"{family.title}: {group.name}", family.extent(group))))
    return Table(_escaped(title), ["format", *found.header], rows, notes)


def _list(title: str, header: list[str], rows: Iterable[list[str]]) -> Iterator[Table]:
    """Yield a table, unless it would be empty."""
    escaped = [[_escaped(text) for text in row] for row in rows]
    if escaped:
        yield Table(title, header, escaped, [])


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is; a bar is left to the table that it stands in."""
    return re.sub(r"([\\`*_\[\]<>&#~$])", r"\\\1", text)
