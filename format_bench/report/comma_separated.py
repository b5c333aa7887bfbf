"""All cells of a report as CSV, for whatever else one wants to do with them."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench import record_export
from format_bench.report.texts import guarded

if TYPE_CHECKING:
    from format_bench.records import Record
    from format_bench.results import Results


def write(results: Results, path: Path) -> None:
    """Write all records, one a row, into a file that ends in .csv.

    Text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    record_export.export(map(_guarded, results.records), path)


def _guarded(record: Record) -> Record:
    texts: dict[str, Any] = {
        name: guarded(text) for name, text in asdict(record).items() if type(text) is str
    }
    return replace(record, **texts)
