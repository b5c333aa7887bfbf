"""Report as a workbook, whose numbers are numbers and whose text is never a formula."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from adapter_core.text import printable
from format_bench.report import losses_and_gaps, metadata_table, turns
from format_bench.report.model import Outline, SuiteResults, outline_of
from format_bench.report.queries import query_tables
from format_bench.report.ranking import headline_of, verdict
from format_bench.results.export import flat_rows
from format_bench.results.load import Results
from format_bench.results.marks import BEST, SYMBOLS
from format_bench.results.metrics import Measure
from format_bench.results.table import FormattedCell, ResultTable, measured_column

# Characters that Excel allows in the name of a sheet.
_MOST_NAME = 31
# Characters that Excel allows in a cell.
_MOST_TEXT = 32_767
# Least and greatest width of a column, in characters.
_WIDTHS = (8, 48)

Row = Sequence[Any]


def write(results: Results, path: Path) -> None:
    """Write a workbook: the verdict, all cells, each measure, losses, empty cells, circumstances."""
    from openpyxl import Workbook

    outline = outline_of(results)
    book = Workbook()
    book.remove(book.worksheets[0])
    notes = (str(outline.self_check), SYMBOLS)
    verdicts = (*headline_of(results).sentences, *verdict(outline.suites))
    said = [[each] for each in (outline.mixture, *verdicts, *notes) if each]
    _add(book, "verdict", ["finding"], said)
    header, rows = flat_rows(results.records)
    _add(book, "all cells", header, ([_plain(row[name]) for name in header] for row in rows))
    for suite in outline.suites:
        for measure in suite.measures:
            kind = f" ({suite.name})" if len(outline.suites) > 1 else ""
            found, units = _table(suite, measure)
            _add_table(book, f"{measure}{kind}", f"format, {units}", found)
        for table in (each for group in suite.groups for each in query_tables(group)):
            corner = f"{table.group.name}, {table.measure.unit}"
            _add_table(book, f"{table.measure}, {table.track}", corner, table.numbers())
    _add_lists(book, outline)
    runs = [f"run {number}" for number in range(1, len(results.metadata) + 1)]
    known = [[fact.section, fact.name, *fact.values] for fact in metadata_table.facts(results)]
    _add(book, "circumstances", ["section", "fact", *runs], known)
    book.save(path)


def _table(suite: SuiteResults, measure: Measure) -> tuple[ResultTable, str]:
    """Return a measure of a suite as a table, formats by data sets, and its units."""
    groups = [group for group in suite.groups if measure in group.measures]
    units = {cell.unit for g in groups for (_, each), cell in g.cells.items() if each == measure}
    entries = suite.configurations
    columns = [(each.name, measured_column(each, measure, entries)) for each in groups]
    return ResultTable.of(entries, columns), "/".join(units)


def _add_table(book: Any, name: str, corner: str, table: ResultTable) -> None:
    rows = (
        [str(each), *(cell.text if cell.value is None else cell for cell in cells)]
        for each, cells in table.rows
    )
    _add(book, name, [corner, *table.header], rows)


def _add_lists(book: Any, outline: Outline) -> None:
    if turned := turns.rows_of_turns(outline.suites):
        _add(book, "turned by conditions", turns.HEADER, turned)
    lost = losses_and_gaps.rows_of_losses(outline.suites)
    _add(book, "losses", ["family", "format", "data sets", "what was lost"], lost)
    header = ["family", "format", "data sets", "what", "status", "why"]
    _add(book, "empty cells", header, losses_and_gaps.rows_of_gaps(outline.suites))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return "; ".join(map(repr, value))
    return value


def _add(book: Any, name: str, header: Row, rows: Iterable[Row]) -> None:
    from openpyxl.styles import Font

    sheet = book.create_sheet(_sheet_name(name, book.sheetnames))
    widths: dict[str, int] = {}
    for row_number, row in enumerate([header, *rows], start=1):
        for column, value in enumerate(row, start=1):
            cell = sheet.cell(row_number, column)
            if isinstance(value, str):
                value = printable(value)[:_MOST_TEXT]  # noqa: PLW2901 (Excel has no other text)
                # Without both, openpyxl or Excel would take text that starts with "=" for a formula.
                cell.value, cell.data_type, cell.quotePrefix = value, "s", True
            elif isinstance(value, FormattedCell):
                cell.value = value.value
                if value.mark:
                    # The number remains a number: the mark is part of its format only.
                    cell.number_format = f'General"{value.mark}"'
                    cell.font = Font(bold=value.mark == BEST)
                value = f"{value.value}{value.mark}"  # noqa: PLW2901 (what is shown)
            else:
                cell.value = value
            least, most = _WIDTHS
            width = min(max(len(str(value or "")) + 2, least), most)
            widths[cell.column_letter] = max(widths.get(cell.column_letter, 0), width)
    for letter, width in widths.items():
        sheet.column_dimensions[letter].width = width
    sheet.freeze_panes = "B2"


def _sheet_name(name: str, taken: Sequence[str]) -> str:
    """Return a name that Excel takes, and that no sheet has yet."""
    allowed = "".join("_" if character in r"[]:*?/\'" else character for character in printable(name))
    short = allowed[:_MOST_NAME]
    for number in range(2, len(taken) + 3):
        if short.lower() not in {each.lower() for each in taken}:
            break
        short = f"{allowed[: _MOST_NAME - 4]} {number}"
    return short
