"""Where asv draws a cell over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from format_bench.dashboard.asv_page import ASV_PAGE
from format_bench.display.text import printable
from format_bench.report.model import Entry, Measure
from format_bench.results.load import family_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from format_bench.asv_support.results import Cell
    from format_bench.results.records import Record

Place = tuple[str, str, Entry, Measure]
"""Family, data set, entry, measure."""


@dataclass(frozen=True)
class Graphs:
    """The addresses of graphs, relative to the site."""

    by_cell: dict[Place, str]
    by_measure: dict[tuple[str, Measure], str]
    """By family and measure: a graph of some formats and data sets, where others can be chosen."""

    @classmethod
    def of(cls, cells: Sequence[Cell], records: Sequence[Record], benchmarks: dict[str, Any]) -> Graphs:
        """Return the graphs of all cells.

        Parameters
        ----------
        cells : sequence of Cell
            The cells as asv knows them.
        records : sequence of Record
            The same cells as reports know them, in the same order.
        benchmarks : dict
            asv's benchmarks.json.
        """
        by_cell, by_measure = {}, {}
        for cell, record in zip(cells, records, strict=True):
            family, measure = family_of(record), Measure(record.metric, record.cache)
            entry = Entry(record.format, record.codec, record.level)
            first_two = benchmarks[cell.benchmark]["param_names"][:2]
            chosen = dict(zip(first_two, (cell.format, cell.dataset), strict=True)) | cell.axes
            place = (family, printable(record.dataset), entry, measure)
            by_cell[place] = _address(cell.benchmark, chosen)
            of_measure = {"cache": measure.cache} if measure.cache else {}
            by_measure[family, measure] = _address(cell.benchmark, of_measure)
        return cls(by_cell, by_measure)


def _address(benchmark: str, chosen: dict[str, str]) -> str:
    """Return an address as asv's page reads it: parameters by name, values as Python writes them."""
    query = urlencode({f"p-{name}": repr(value) for name, value in chosen.items()}, quote_via=quote)
    return f"{ASV_PAGE}#{quote(benchmark)}" + (f"?{query}" if query else "")
