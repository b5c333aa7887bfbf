"""Records of asv's newest results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from format_bench.asv_support.cell import level_of
from format_bench.instruments.intervals import median_interval
from format_bench.results.metrics import BY_BENCHMARK
from format_bench.results.records import Record, engine_of
from format_bench.results.status import CellStatus

if TYPE_CHECKING:
    from format_bench.asv_support.results import AsvCell, Run


def records_of(run: Run, metadata: dict[str, Any]) -> list[Record]:
    """Return a record for each cell.

    Parameters
    ----------
    run : Run
        One run of asv.
    metadata : dict
        The result of `AsvMetadataFile.newest`, with the shape of each data set.
    """
    return [_record(cell, run, metadata.get("shapes", {})) for cell in run.cells]


def _record(cell: AsvCell, run: Run, shapes: dict[str, list[int]]) -> Record:
    suite, _, method = cell.benchmark.rpartition(".")
    choice = cell.axes.get("codec", "")
    rows, columns = shapes.get(f"{suite.partition('.')[0]}.{cell.dataset}", (0, 0))
    interval = median_interval(cell.samples) if len(cell.samples) > 1 else None
    return Record(
        suite=suite,
        format=cell.format,
        engine=engine_of(cell.format),
        dataset=cell.dataset,
        rows=rows,
        columns=columns,
        # "own default" is a name, "zstd level 1" a codec and its level.
        codec=None if choice in ("", "none") else level_of(choice)[0],
        level=level_of(choice)[1],
        cache=cell.axes.get("cache"),
        threads="all",
        metric=BY_BENCHMARK[method].name,
        unit=cell.unit,
        value=cell.value,
        repeats=cell.samples,
        interval=[interval.low, interval.high] if interval else None,
        status=CellStatus(cell.status),
        sentence=cell.sentence,
        run_id=f"asv-{run.machine}-{run.environment}-{run.commit[:8]}",
    )
