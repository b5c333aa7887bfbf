"""All charts of a report, each with its content in words."""

from __future__ import annotations

from collections.abc import Iterator

from format_bench.report.charts import heat_map
from format_bench.report.charts.bars import BarChart, BarSeries
from format_bench.report.charts.figures import Chart
from format_bench.report.charts.lines import LINES_WIDTH, NOTE, LineChart, lines_in_words
from format_bench.report.charts.scatter import ScatterChart
from format_bench.report.model import CHARTED, Outline, SuiteResults
from format_bench.report.queries import query_tables
from format_bench.report.ranking import Points, points_of
from format_bench.results.candidates import Configuration
from format_bench.results.codec_costs import CODEC_COSTS, codec_costs
from format_bench.results.display.text import joined
from format_bench.results.groups import ComparisonGroup
from format_bench.results.marks import BEST, TIE, pareto_front
from format_bench.results.metrics import Measure

WARM_AND_COLD = "filled: warm; outlined: cold, nothing in the page cache"
PARETO_NOTE = "dashed: Pareto front, unbeaten in both"
LOSSY_NOTE = "; hollow: lossy"


def pictures(
    outline: Outline,
) -> Iterator[tuple[SuiteResults, ComparisonGroup | None, list[Chart], list[Chart]]]:
    """Yield charts and heat maps of each suite, as a whole (None) and then of each group."""
    for suite in outline.suites:
        yield (
            suite,
            None,
            [],
            [heat_map.chart_of(each) for each in heat_map.heat_maps(suite)],
        )
        for group in suite.groups:
            drawn = charts_of(group)
            yield suite, group, drawn, list(heat_map.query_charts(group))


def charts_of(group: ComparisonGroup) -> list[Chart]:
    """Return the charts of one group, without those that would have no value other than 0."""
    return [*lines_of(group), *scatters_of(group), *_measured(group), *_compared(group)]


def lines_of(group: ComparisonGroup) -> Iterator[Chart]:
    """Yield a chart of lines over queries for each time of them, by track."""
    for table in query_tables(group):
        if table.measure.unit == "seconds" and table.means:
            lines = LineChart(table)
            words = lines_in_words(table)
            yield Chart(table.title, words, lines.height, lines.draw, NOTE, LINES_WIDTH)


def _measured(group: ComparisonGroup) -> Iterator[Chart]:
    for metric, title in CHARTED.items():
        of_metric = (each for each in group.measures if each.metric == metric)
        measures = [each for each in of_metric if any(group.values(each).values())]
        series = {
            str(each): BarSeries(
                {entry: group.cell(entry, each) for entry in group.configurations},
                group.marks(each),
                outlined=each.cache == "cold",
            )
            for each in measures
        }
        if series:
            note = WARM_AND_COLD if len(series) > 1 else ""
            yield _bar_chart(f"{title}: {group.name}", series, note)


def _compared(group: ComparisonGroup) -> Iterator[Chart]:
    for cost in CODEC_COSTS:
        cells = codec_costs(cost, group)
        if cells:
            series = {cost.title: BarSeries(cells, {}, show=cost.show)}
            yield _bar_chart(f"{cost.title}: {group.name}", series, cost.note)


def _bar_chart(title: str, series: dict[str, BarSeries], note: str) -> Chart:
    bars = BarChart(list(series.values()))
    return Chart(title, bars_in_words(series), bars.height, bars.draw, note)


def scatters_of(group: ComparisonGroup) -> Iterator[Chart]:
    """Yield a chart of size against each read time that is not cold, with the Pareto front."""
    reads = [each for each in group.measures if each.metric == "read time" and each.cache != "cold"]
    for read in reads:
        points = points_of(group, read)
        if len(points) > 1:
            scatter = ScatterChart(points, Measure("size"), read)
            title = f"Size against read time: {group.name}"
            note = PARETO_NOTE + (LOSSY_NOTE if any(each.loss for each in points) else "")
            words = scatter_in_words(points)
            yield Chart(title, words, scatter.height, scatter.draw, note, explored=True)


def bars_in_words(series: dict[str, BarSeries]) -> str:
    """Return the content of a bar chart, a sentence for each of its series."""
    return " ".join(f"{name[:1].upper()}{name[1:]}: {_bars(each)}." for name, each in series.items())


def _bars(series: BarSeries) -> str:
    values = {entry: cell.value for entry, cell in series.cells.items() if cell.value is not None}
    if not values:
        return "no value"
    ordered = sorted(values, key=lambda entry: values[entry])
    phrases = [f"{len(values)} bars, from {_named(series, ordered[0])}"]
    if len(values) > 1:
        phrases[0] += f" to {_named(series, ordered[-1])}"
    for word, mark in (("best", BEST), ("tie with it", TIE)):
        marked = [entry for entry in ordered if series.marks.get(entry) == mark]
        if marked:
            phrases.append(f"{word}: {joined(marked)}")
    empty = [f"{entry} ({cell.status})" for entry, cell in series.cells.items() if cell.value is None]
    if empty:
        phrases.append(f"without a value: {joined(empty)}")
    return "; ".join(phrases)


def _named(series: BarSeries, entry: Configuration) -> str:
    cell = series.cells[entry]
    return f"{entry}, {series.show(cell.value or 0, cell.unit)}"


def scatter_in_words(points: Points) -> str:
    """Return the content of a scatter chart."""
    front = pareto_front(points)
    ahead = joined(front, most=10)
    return f"{len(points)} points. On the Pareto front, which nothing beats in both: {ahead}."
