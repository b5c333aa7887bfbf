"""Published figures: tables as CSV files beside this one, and their values as records."""

from __future__ import annotations

import csv
from importlib import resources

from adapter_core.adapter import engine_of
from format_bench.results.metrics import METRICS
from format_bench.results.records import Record
from format_bench.results.status import CellStatus


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a table by the name of its file without the ending."""
    text = resources.files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def figure(  # noqa: PLR0913, PLR0917 (the fields that differ between figures)
    suite: str,
    label: str,
    dataset: str,
    shape: tuple[int, int],
    metric: str,
    value: float,
    *,
    rounding: float,
    codec: str | None = None,
) -> Record:
    """Return a published value, one number without repeats, as a record without source.

    Parameters
    ----------
    suite, label, dataset, metric, value, codec
        As a record has them.
    shape : tuple of int
        Rows and columns.
    rounding : float
        Largest difference of a size from the published one, by its last digit.
    """
    return Record(
        suite=suite,
        format=label,
        engine=engine_of(label),
        dataset=dataset,
        rows=shape[0],
        columns=shape[1],
        codec=codec,
        level=None,
        conditions={"threads": "all"},
        metric=metric,
        unit=METRICS[metric].unit,
        value=value,
        repeats=[value],
        # Noise of a time is far larger than its last digit.
        interval=[value - rounding, value + rounding] if metric == "size" else None,
        status=CellStatus.VALUE,
        sentence="",
        run_id="",
    )
