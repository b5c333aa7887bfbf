"""Groups of results whose values compare: one data set, one size, one thread policy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from adapter_core.text import printable
from format_bench.results.candidates import Configuration
from format_bench.results.conditions import Conditions
from format_bench.results.display.text import joined
from format_bench.results.marks import BEST, TIE
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.noise import RunNoise
from format_bench.results.records import Record
from format_bench.results.suites import SUITES, family_of_suite


@dataclass(frozen=True)
class ResultCell:
    """A value with its interval, or the reason why it is missing."""

    unit: str
    value: float | None
    interval: tuple[float, float] | None
    """The lower and the upper end, in `unit`."""
    samples: list[float]
    """All samples in the order taken, in `unit`; possibly none."""
    status: str
    """"value", or one of the others of `format_bench.results.status.CellStatus`, or "not run"."""
    sentence: str
    """The reason or a remark, on one line; may be empty if there is a value."""
    noise: float | None = None
    """Relative difference from another run that chance explains, if it is known."""

    @classmethod
    def of(cls, record: Record, noise: float | None = None) -> ResultCell:
        """Return the cell of a record."""
        interval = (record.interval[0], record.interval[1]) if record.interval else None
        # Sentences quote libraries and files, which may contain control characters.
        sentence = printable(record.sentence)
        status = record.status.value
        return cls(record.unit, record.value, interval, record.repeats, status, sentence, noise)


NOT_RUN = ResultCell("", None, None, [], "not run", "the results hold no record of it")


@dataclass(frozen=True)
class ComparisonGroup:
    """The cells of one data set, one size and one thread policy."""

    name: str
    """The data set, and the group's difference from others of that data set."""
    dataset: str = ""
    """With its conditions, such as the medium, if there are some."""
    data: str = ""
    """The data set without its conditions."""
    conditions: Conditions = field(default_factory=Conditions)
    """Those that all its cells share: neither page cache nor settings nor track."""
    rows: int = 0
    columns: int = 0
    suite: str = ""
    """The suite that measured it; empty if it is not known."""
    is_of_asv: bool = False
    """Whether asv measured it, which takes a part of the metrics of settings beside the usual ones."""
    cells: dict[tuple[Configuration, Measure], ResultCell] = field(default_factory=dict)
    """The thread policy is not repeated in the configurations."""
    not_run: ResultCell = NOT_RUN
    """The cells without a record."""
    is_sample: bool = False
    """Whether only some rows were measured, to sort out or to estimate: no verdict counts it."""

    @classmethod
    def of(
        cls,
        name: str,
        records: Iterable[Record],
        noise: RunNoise | None = None,
    ) -> ComparisonGroup:
        """Return the group of some records, at least one, which must belong together.

        Parameters
        ----------
        name : str
            The group's name.
        records : iterable of Record
            Its records.
        noise : RunNoise, optional
            The noise of all results that they are part of.
        """
        records = list(records)
        first = records[0]
        return cls(
            name=name,
            dataset=printable(first.place),
            data=printable(first.dataset),
            conditions=Conditions(
                {axis: printable(value) for axis, value in first.conditions.items()}
                | dict.fromkeys(("cache", "error bound", "settings", "track"))
            ),
            rows=first.rows,
            # 0 in the records of a case that failed before its data set was loaded.
            columns=max(record.columns for record in records),
            suite=first.suite.partition(".")[0],
            is_of_asv="." in first.suite,
            cells={
                (
                    replace(Configuration.of(record), threads="all"),
                    Measure.of(record),
                ): ResultCell.of(record, noise.of_cell(record) if noise else None)
                for record in records
            },
        )

    @property
    def threads(self) -> str:
        """The thread policy."""
        return self.conditions.get("threads", "all")

    @cached_property
    def configurations(self) -> list[Configuration]:
        """The configurations with at least one record, sorted."""
        found = {configuration for configuration, _ in self.cells}
        return sorted(found, key=lambda each: each.sort_key)

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures with at least one record, in the order of `METRICS`, warm before cold.

        Single queries are in `query_measures`: a column each would make a table of hundreds.
        """
        return sorted_measures(measure for _, measure in self.cells if not measure.query)

    @cached_property
    def query_measures(self) -> list[Measure]:
        """The measures of single queries with at least one record; Q2 is before Q10."""
        return sorted_measures(measure for _, measure in self.cells if measure.query)

    @cached_property
    def losses(self) -> dict[Configuration, str]:
        """The losses of values in words, as verified or else as declared; of lossy configurations."""
        counted = Measure(family_of_suite(self.suite).loss)
        cells = {each: self.cell(each, counted) for each in self.configurations if each.loss}
        return {each: cell.sentence if cell.value else each.loss for each, cell in cells.items()}

    def cell(self, configuration: Configuration, measure: Measure) -> ResultCell:
        """Return a cell; one with the reason if it has no record."""
        found = self.cells.get((configuration, measure))
        if found is None and (reason := self._left_out(configuration.settings, measure)):
            return replace(NOT_RUN, sentence=reason)
        return found or self.not_run

    def _left_out(self, settings: str, measure: Measure) -> str:
        """Return the reason if asv's suite leaves a measure of some settings out; else an empty text."""
        suite = SUITES.get(self.suite)
        if not (settings and suite and self.is_of_asv):
            return ""
        taken = {
            Measure.at(metric, cache)
            for each in suite.benchmarks
            if each.settings == settings
            for metric in each.metrics
            for cache in each.caches or (None,)
        }
        if measure in taken:
            return ""
        phrases = [each.phrase for each in sorted_measures(taken)]
        return f"of files with these settings, asv takes {joined(phrases, most=None)} alone"

    def values(self, measure: Measure) -> dict[Configuration, float]:
        """Return the values of a measure, in the order of the configurations."""
        found = {each: self.cell(each, measure).value for each in self.configurations}
        return {each: value for each, value in found.items() if value is not None}

    def marks(
        self, measure: Measure, among: Iterable[Configuration] | None = None
    ) -> dict[Configuration, str]:
        """Return the mark of each value of a measure: `BEST`, `TIE` or none, an empty text.

        Parameters
        ----------
        measure : Measure
            Metric and cache state.
        among : iterable of Configuration, optional
            The configurations that are compared; by default all.
        """
        rows = self.configurations if among is None else among
        cells = {each: cell for each in rows if (cell := self.cell(each, measure)).value is not None}
        best = min(cells.values(), key=lambda cell: cell.value or 0.0, default=NOT_RUN)
        if measure.unit == "ratio" or len({cell.value for cell in cells.values()}) < 2:  # noqa: PLR2004 (a comparison needs two)
            return dict.fromkeys(cells, "")
        return {each: self._mark(cell, best, measure) for each, cell in cells.items()}

    def _mark(self, cell: ResultCell, best: ResultCell, measure: Measure) -> str:
        if cell.value == best.value:
            return BEST
        if measure.is_exact or cell.value is None or best.value is None:
            return ""
        if cell.noise is None or best.noise is None:
            overlaps = cell.interval and best.interval and cell.interval[0] <= best.interval[1]
            return TIE if overlaps else ""
        # Noise is relative to the smaller of two values, which is the best.
        return TIE if cell.value <= best.value * (1 + max(cell.noise, best.noise)) else ""


def sorted_measures(measures: Iterable[Measure]) -> list[Measure]:
    """Return measures without repetition: in the order of `METRICS`, warm before cold, by query."""
    names = list(METRICS)
    return sorted(
        dict.fromkeys(measures),
        key=lambda each: (names.index(each.metric), each.cache == "cold", query_order(each.query)),
    )


def query_order(query: str) -> list[tuple[int, str]]:
    """Return a sort key of the name of a query, whose numbers count as numbers."""
    parts = re.findall(r"\d+|\D+", query)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
