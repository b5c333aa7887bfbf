"""Heat maps: formats by data sets, each value as a multiple of the best of its column.

In a page a map is a table; as a chart it is for outputs without such tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from format_bench.report.charts.figures import (
    ACCENT,
    LABEL,
    PAPER,
    QUIET,
    TEXT,
    WIDTH,
    Chart,
    Panel,
    fitted,
    width_of,
)
from format_bench.report.model import CHARTED, SuiteResults
from format_bench.report.queries import QueryTable, query_tables, ratios_to_best
from format_bench.report.theme import SHADES
from format_bench.results.candidates import Configuration
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.results.groups import ComparisonGroup, ResultCell
from format_bench.results.marks import BEST, TIE
from format_bench.results.metrics import Measure
from format_bench.results.table import FormattedCell, ResultTable

# Steps of two to three, up to where a configuration is out of the question.
_BOUNDS = (2, 5, 10, 30, 100)


def heat_maps(suite: SuiteResults) -> Iterator[ResultTable]:
    """Yield a map for each measure that has a chart and is a time or a number of bytes."""
    for measure in sorted(suite.measures, key=_place):
        groups = [group for group in suite.groups if group.values(measure)]
        units = {
            cell.unit for group in groups for (_, each), cell in group.cells.items() if each == measure
        }
        if measure.metric in CHARTED and units and units <= {"seconds", "bytes"}:
            columns = [(group.name, _column(group, measure, suite)) for group in groups]
            title = CHARTED[measure.metric] + (f", {measure.cache}" if measure.cache else "")
            yield ResultTable.of(suite.configurations, columns, title)


def _place(measure: Measure) -> int:
    """Return a sort key: maps are in the order of the charts."""
    return list(CHARTED).index(measure.metric) if measure.metric in CHARTED else len(CHARTED)


def _column(
    group: ComparisonGroup, measure: Measure, suite: SuiteResults
) -> dict[Configuration, FormattedCell]:
    found, marks = ratios_to_best(group.values(measure)), group.marks(measure)
    cells = {}
    for entry in suite.configurations:
        cell = group.cell(entry, measure)
        tip = cell.sentence if cell.value is None else quantity(cell.value, cell.unit)
        cells[entry] = _shaded(cell, found.get(entry), marks.get(entry, ""), tip)
    return cells


def query_map(table: QueryTable) -> ResultTable:
    """Return the map of queries: each value by the best of its query, the means in the first column."""

    def mean(row: Configuration) -> FormattedCell:
        found = table.mean_cell(row)
        return replace(found, shade=_shade(found.value, found.mark))

    def cell(row: Configuration, query: str, mark: str) -> FormattedCell:
        ratio = table.ratios.get(query, {}).get(row)
        return _shaded(table.cell(row, query), ratio, mark, table.tip(row, query))

    return table.table(mean, cell)


def _shaded(cell: ResultCell, ratio: float | None, mark: str, tip: str) -> FormattedCell:
    """Return a cell of a map: the ratio; the value if the best is 0; the status without a value."""
    if cell.value is None:
        return FormattedCell(cell.status, "", None, tip, shade="empty")
    text = quantity(cell.value, cell.unit) if ratio is None else format_ratio(ratio)
    return FormattedCell(text, mark, ratio, tip, shade=_shade(ratio, mark))


def _shade(ratio: float | None, mark: str) -> str:
    if mark:
        return {BEST: "best", TIE: "tie"}[mark]
    if ratio is None:
        return "plain"
    return next((f"under-{bound}" for bound in _BOUNDS if ratio < bound), f"over-{_BOUNDS[-1]}")


# Columns of a map of queries as a chart, for which text is readable on A4.
_MOST_COLUMNS = 15


def query_charts(group: ComparisonGroup) -> Iterator[Chart]:
    """Yield the maps of the queries of a group as charts, wide ones in several parts."""
    for table in query_tables(group):
        for part in query_map(table).parts(_MOST_COLUMNS):
            yield chart_of(part)


_ROW = 20.0
_COLUMN_NAMES, _BELOW, _GAP = 18.0, 6.0, 6.0
_WIDEST_NAME = 165.0
_LEAST_COLUMN, _MOST_COLUMN = 54.0, 130.0
# Properties of the text of a cell, by its shade.
_LOOKS: dict[str, Any] = {
    "best": {"color": ACCENT, "fontweight": "bold"},
    "empty": {"color": QUIET, "fontstyle": "italic"},
}


def chart_of(heat_map: ResultTable) -> Chart:
    """Return a map as a chart that is as wide as its columns need."""
    names = [fitted(str(entry), LABEL, _WIDEST_NAME) for entry, _ in heat_map.rows]
    left = _GAP + max(width_of(name, LABEL) for name in names)
    widest = max(width_of(name, TEXT) for name in heat_map.header) + _GAP
    column = min(max(widest, _LEAST_COLUMN), _MOST_COLUMN)
    width = max(left + column * len(heat_map.header), WIDTH)

    def draw(panel: Panel) -> None:
        from matplotlib.colors import to_rgb

        right = width - left - column * len(heat_map.header)
        axes = panel.add_axes(left, right, _COLUMN_NAMES, _BELOW)
        shades = [[to_rgb(SHADES[cell.shade][0]) for cell in cells] for _, cells in heat_map.rows]
        axes.pcolormesh(shades, edgecolors=PAPER, clip_on=False)
        axes.set_ylim(len(names), 0)
        axes.grid(visible=False)
        axes.set_yticks([number + 0.5 for number in range(len(names))], names)
        columns = [fitted(name, TEXT, column - 2) for name in heat_map.header]
        axes.set_xticks([number + 0.5 for number in range(len(columns))], columns)
        axes.tick_params("x", labeltop=True, labelbottom=False)
        for row, (_, cells) in enumerate(heat_map.rows):
            for number, cell in enumerate(cells):
                text = fitted(cell.text, TEXT, column - 2, bold=cell.shade == "best")
                look = {"ha": "center", "va": "center_baseline"} | _LOOKS.get(cell.shade, {})
                axes.text(number + 0.5, row + 0.5, text, **look)

    height = _COLUMN_NAMES + _ROW * len(names) + _BELOW
    note = "times the best of each column; smaller is better"
    return Chart(heat_map.title, _in_words(heat_map), height, draw, note, width)


def _in_words(heat_map: ResultTable) -> str:
    best = [
        f"{name}: {joined([entry for entry, cells in heat_map.rows if cells[number].shade == 'best'])}"
        for number, name in enumerate(heat_map.header)
    ]
    return f"{plural(len(heat_map.rows), 'row')}. The best of each column: {'; '.join(best)}."
