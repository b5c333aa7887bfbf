"""All cells of a report as CSV, for whatever else one wants to do with them."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from adapter_core.text import visible
from format_bench.results import export
from format_bench.results.display.text import guarded
from format_bench.results.load import Results
from format_bench.results.records import Record


def write(results: Results, path: Path) -> None:
    """Write all records, one a row, into a file that ends in .csv.

    Text that a spreadsheet would take for a formula has an apostrophe before it; characters that a
    terminal would obey become U+FFFD.
    """
    export.export(map(_guarded, results.records), path)


def _guarded(record: Record) -> Record:
    texts: dict[str, Any] = {
        name: guarded(visible(text)) for name, text in asdict(record).items() if type(text) is str
    }
    # An axis is a column, so that its name is the text of a cell, too.
    conditions = {
        guarded(visible(name)): guarded(visible(text)) for name, text in record.conditions.items()
    }
    return replace(record, **texts, conditions=conditions)
