"""What charts say, in words.

All charts of a report.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.text import joined
from format_bench.report.charts import bars, scatter
from format_bench.report.charts.svg import svg
from format_bench.report.model import CHARTED, Series, outline_of
from format_bench.report.ranking import Points, points_of
from format_bench.results.codec_costs import CODEC_COSTS, codec_costs
from format_bench.results.marks import BEST, TIE, marks_of
from format_bench.results.pareto import pareto_front

if TYPE_CHECKING:
    from format_bench.report.charts.drawing import Drawing
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ComparisonGroup
    from format_bench.results.load import Results
    from format_bench.results.noise_floor import Floors


def bars_in_words(series: dict[str, Series]) -> str:
    """Return what a bar chart says of each of its series."""
    return " ".join(f"{name[:1].upper()}{name[1:]}: {_bars(each)}." for name, each in series.items())


def _bars(series: Series) -> str:
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


def _named(series: Series, entry: Configuration) -> str:
    cell = series.cells[entry]
    return f"{entry}, {series.show(cell.value or 0, cell.unit)}"


def scatter_in_words(points: Points) -> str:
    """Return what a scatter chart says."""
    front = pareto_front(points)
    ahead = joined(front, most=10)
    return f"{len(points)} points. On the Pareto front, which nothing beats in both: {ahead}."


BOTH = "filled: warm; outlined: cold, nothing in the page cache"


@dataclass(frozen=True)
class Chart:
    """A picture with its words."""

    title: str
    """What it shows, and of which data set."""
    alt: str
    """What it says, for those who do not see it."""
    drawing: Drawing

    @property
    def svg(self) -> str:
        """The picture as an element for a page: it needs no other file, and its text is text."""
        return svg(self.drawing, self.title, self.alt)


def charts(results: Results) -> list[Chart]:
    """Return the charts of all groups, in the order of the report."""
    outline = outline_of(results)
    return [
        chart
        for family in outline.families
        for group in family.groups
        for chart in charts_of(group, outline.colours, outline.floors)
    ]


def charts_of(
    group: ComparisonGroup, colours: dict[Configuration, str], floors: Floors | None
) -> list[Chart]:
    """Return the charts of one group; none of what has no value, or 0 everywhere.

    Parameters
    ----------
    group : ComparisonGroup
        The cells.
    colours : dict
        A colour for each entry, in the order of the report.
    floors : Floors, optional
        What is noise.
    """
    return [
        *_measured(group, colours, floors),
        *_compared(group, colours),
        *_scattered(group, colours),
    ]


def _measured(
    group: ComparisonGroup, colours: dict[Configuration, str], floors: Floors | None
) -> Iterator[Chart]:
    for metric, title in CHARTED.items():
        of_metric = (each for each in group.measures if each.metric == metric)
        measures = [each for each in of_metric if any(group.values(each).values())]
        series = {
            str(each): Series(
                {entry: group.cell(entry, each) for entry in group.configurations},
                marks_of(group, each, floors),
                "cold" if each.cache == "cold" else "bar",
            )
            for each in measures
        }
        if series:
            yield _all_charts_bars(
                f"{title}: {group.name}", series, colours, BOTH if len(series) > 1 else ""
            )


def _compared(group: ComparisonGroup, colours: dict[Configuration, str]) -> Iterator[Chart]:
    for cost in CODEC_COSTS:
        cells = codec_costs(cost, group)
        if cells:
            series = Series(cells, {}, show=cost.show)
            yield _all_charts_bars(
                f"{cost.title}: {group.name}", {cost.title: series}, colours, cost.note
            )


def _all_charts_bars(
    title: str, series: dict[str, Series], colours: dict[Configuration, str], note: str
) -> Chart:
    drawing = bars.draw(title, list(series.values()), colours, note=note)
    return Chart(title, bars_in_words(series), drawing)


def _scattered(group: ComparisonGroup, colours: dict[Configuration, str]) -> Iterator[Chart]:
    reads = [each for each in group.measures if each.metric == "read time" and each.cache != "cold"]
    for read in reads:
        points = points_of(group, read)
        if len(points) > 1:
            title = f"Size against read time: {group.name}"
            axes = scatter.Axis("size", "bytes"), scatter.Axis(str(read), "seconds")
            drawing = scatter.draw(title, points, *axes, colours)
            yield Chart(title, scatter_in_words(points), drawing)
