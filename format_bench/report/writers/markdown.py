"""Report as Markdown: the verdict and the tables, without charts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from adapter_core.text import visible
from format_bench.report import losses_and_gaps, metadata_table, turns
from format_bench.report.model import Outline, outline_of
from format_bench.report.queries import query_tables
from format_bench.report.ranking import headline_of, verdict
from format_bench.results.display.markdown import TextTable, markdown
from format_bench.results.load import Results
from format_bench.results.marks import SYMBOLS
from format_bench.results.table import result_table, text_table


def write(results: Results, path: Path) -> None:
    """Write the report as Markdown."""
    path.write_text(markdown_page(results), encoding="utf-8")


def markdown_page(results: Results) -> str:
    """Return the report as Markdown; text of the results is escaped."""
    outline = outline_of(results)
    lines = [f"# {_escaped(outline.name)}", "", f"{_escaped(outline.lead)}.", ""]
    machine = metadata_table.summary(results)
    if machine:
        lines += [f"{_escaped(machine)}.", ""]
    if outline.mixture:
        lines += [_escaped(outline.mixture), ""]
    said = [*headline_of(results).sentences, *verdict(outline.suites)]
    lines += ["## Verdict", "", *(f"- {_escaped(each)}" for each in said), ""]
    if check := str(outline.self_check):
        lines += [_escaped(check), ""]
    lines += [SYMBOLS.replace("*", "\\*"), ""]
    return "\n".join([*lines, *map(markdown, _tables(outline, results))])


def _tables(outline: Outline, results: Results) -> Iterator[TextTable]:
    for suite in outline.suites:
        for group in suite.groups:
            title = ", ".join(filter(None, (f"{suite.title}: {group.name}", suite.extent(group))))
            yield text_table(title, result_table(group), escape=_escaped)
            for table in query_tables(group):
                numbers = table.numbers()
                yield text_table(f"{suite.title}: {table.title}", numbers, escape=_escaped)
    turned = turns.rows_of_turns(outline.suites)
    yield from _list("Rankings that turn around between conditions", turns.HEADER, turned)
    lost = losses_and_gaps.rows_of_losses(outline.suites)
    yield from _list("Losses", ["kind of data", "format", "data sets", "what was lost"], lost)
    header = ["kind of data", "format", "data sets", "what", "status", "why"]
    yield from _list("Empty cells", header, losses_and_gaps.rows_of_gaps(outline.suites))
    known = ([f"{each.section}: {each.name}", *each.values] for each in metadata_table.facts(results))
    runs = [f"run {number}" for number in range(1, len(results.metadata) + 1)]
    yield from _list("Circumstances", ["fact", *runs], known)


def _list(title: str, header: list[str], rows: Iterable[list[str]]) -> Iterator[TextTable]:
    """Yield a table, unless it would be empty."""
    escaped = [[_escaped(text) for text in row] for row in rows]
    if escaped:
        yield TextTable(title, header, escaped)


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is; bars are left to `table_lines`."""
    return re.sub(r"([\\`*_\[\]<>&#~$])", r"\\\1", visible(text))
