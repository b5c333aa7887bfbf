"""All cells of a report as one Parquet file to cite, with a dictionary of its columns inside."""

from __future__ import annotations

import importlib.metadata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapter_core.text import printable
from format_bench.results import export
from format_bench.results.load import Results

# Without folders, devices and commands, which say nothing to whoever cites the file.
_CIRCUMSTANCES = (
    *("started", "seed", "scale", "commit", "system", "cpu", "memory"),
    *("python", "libraries", "c_libraries"),
)


def write(results: Results, path: Path) -> None:
    """Write every record as a row."""
    export.write_parquet(results.records, path, about(results))


def about(results: Results) -> dict[str, Any]:
    """Return title, day, program and citation of results, and the circumstances of each run."""
    program = importlib.metadata.metadata("formatbench")
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    version, name = program["Version"], printable(results.name)
    return {
        "title": f"Results of FormatBench: {name}",
        "date": day,
        "program": f"FormatBench {version}",
        "citation": f"{name}: results of FormatBench {version}, {program['Author']}, {day}.",
        "runs": [
            {name: run[name] for name in _CIRCUMSTANCES if name in run} for run in results.metadata
        ],
    }
