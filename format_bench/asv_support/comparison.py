"""Comparison of formats by asv's newest results: tables for each data set, and all cells as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from format_bench.asv_support.results import AsvCell
from format_bench.report.model import results_by_suite
from format_bench.report.queries import query_tables
from format_bench.results.noise import RunNoise
from format_bench.results.suites import suite_order
from format_bench.results.table import ResultTable, codec_table, measured_column, text_table

if TYPE_CHECKING:
    from format_bench.display.markdown import TextTable
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ComparisonGroup
    from format_bench.results.load import Results
    from format_bench.results.metrics import Measure
    from format_bench.results.noise_floor import Floors
    from format_bench.results.records import Record


# End of the names of metrics that include imports and the table to save.
PROCESS_PEAK = "peak memory"


def tables(results: Results) -> list[TextTable]:
    """Return tables for each data set of each suite, in the order of the results.

    Configurations with codecs have one table for each data set. All others have one of times, one of
    random access and one of the rest, which together would be too wide. Peak memory of whole processes
    is left out: the growth during the call is the better measure. Queries have a table for each metric
    and track.
    """
    found: list[TextTable] = []
    for suite in sorted(results_by_suite(results), key=lambda each: suite_order(each.name)):
        for group in suite.groups:
            if any(each.codec and not each.track for each in group.configurations):
                found.append(_codec_table(group, results.floors))
            else:
                found += _tables_by_kind(group, results.floors)
            for table in query_tables(group):
                found.append(text_table(table.title, table.numbers(results.floors)))
    return found


def _tables_by_kind(group: ComparisonGroup, floors: Floors | None) -> Iterator[TextTable]:
    by_kind: dict[str, list[Measure]] = {}
    for measure in group.measures:
        if not measure.metric.endswith(PROCESS_PEAK):
            by_kind.setdefault(_kind(measure), []).append(measure)
    for kind, measures in by_kind.items():
        columns = [(str(each), measured_column(group, each, floors)) for each in measures]
        yield text_table(f"{group.name}: {kind}", ResultTable.of(group.configurations, columns))


def _kind(measure: Measure) -> str:
    if measure.unit != "seconds":
        return "size, memory and losses"
    is_random = measure.metric == "open time" or " per " in measure.metric
    return "random access" if is_random else "time"


def _codec_table(group: ComparisonGroup, floors: Floors | None) -> TextTable:
    """Return the table of codecs, sorted by codec, so that formats with the same one are neighbours."""
    ordered = sorted(
        group.configurations, key=lambda each: (each.codec or "", each.level or 0, each.sort_key)
    )
    found = codec_table(group, ordered, floors)
    lead = {"format": lambda each: each.format, "codec": _codec}
    return text_table(f"{group.dataset}: compression", found, lead)


def _codec(configuration: Configuration) -> str:
    level = "" if configuration.level is None else f" {configuration.level}"
    return f"{configuration.codec or 'none'}{level}"


def cells_as_csv(cells: Iterable[AsvCell], records: Sequence[Record]) -> str:
    """Return all cells as CSV, a row each; an empty cell has no value but a status and a sentence.

    The column `noise` has the relative difference from another run that chance explains, of times.

    Parameters
    ----------
    cells : iterable of AsvCell
        The cells of a run.
    records : sequence of Record
        Their records, in the same order.
    """
    text = io.StringIO()
    names = [
        field.name
        for field in fields(AsvCell)
        if field.name not in ("axes", "samples", "round_sizes", "track")
    ]
    writer = csv.DictWriter(text, [*names, "noise"], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    of_run = RunNoise(records)
    for cell, record in zip(cells, records, strict=True):
        noise = of_run.of_cell(record)
        writer.writerow({**asdict(cell), "noise": "" if noise is None else f"{noise:.3g}"})
    return text.getvalue()
