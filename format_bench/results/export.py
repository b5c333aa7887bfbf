"""Records as a file for other tools: JSON Lines, CSV or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from adapter_core import UnknownNameError
from adapter_core.files import write_atomically
from format_bench.results.candidates import LOSSY, Configuration
from format_bench.results.records import Record, line

ABOUT = "formatbench"
"""Key of the facts on the whole in the metadata of a Parquet file."""

DICTIONARY = {
    "suite": "Suite of the cell, the set of measurements; of asv with its class",
    "format": "Label of the format, with its engine in brackets where it is not the usual one",
    "engine": "Engine that the label names; empty if it names none",
    "dataset": "Name of the data set",
    "rows": "Rows of the table, images of the set, chunks of the array, or records",
    "columns": "Columns of the table, or their like; 0 if there were no data",
    "codec": "Codec that the file was saved with; null for none",
    "level": "Level of the codec; null for its own default, or without one",
    LOSSY: "Loss of values that format or codec declare, in words; empty if lossless",
    "cache": "State of the page cache: warm or cold; null where it has no bearing",
    "threads": "Thread policy: 1 or all",
    "track": "Declared way to write the file; null in suites without",
    "medium": "Medium of the file, where media were compared; else null",
    "metric": "Measured quantity; smaller is better",
    "unit": "Unit of value, repeats and interval: seconds, bytes, or the things that are counted",
    "value": "Median of the repeats; null if status is not value",
    "repeats": "All samples in the order taken",
    "interval": "Lower and upper end of an interval of the median; null for a single sample",
    "status": "value, unsupported, unavailable, failed or timed out",
    "sentence": "Reason of a missing value, or a remark",
    "run_id": "Id of the run: when it began, and random digits",
    "rounds": "Rounds of the run, each in a process of its own, in which repeats were taken",
    "round_sizes": "Number of the repeats of each round; empty if it is not known",
    "query": "Query that the value is of; empty if of none",
    "machine": "Fingerprint of the machine of a cluster; empty outside of clusters",
    "cpu_repeats": "CPU seconds of each repeat, if it is a time of calls in one process",
    "loop_repeats": "CPU seconds of a reference loop beside each repeat, by the state of the CPU",
    "environment": "Python, version of the measurement, and libraries; empty if not known",
    "schema": "Number of the form of the record",
}
"""Descriptions of the columns of tables of records."""


def export(records: Iterable[Record], path: str | os.PathLike[str]) -> None:
    """Write records to a file, which is replaced if it exists.

    Parameters
    ----------
    records : iterable of Record
        The rows.
    path : path-like
        A file that ends in .jsonl, as `append` would make it; or in .csv or .parquet, a table with a
        column for each field and each axis, where lists are JSON text in CSV and lists in Parquet, and
        a column `lossy`: the loss of values that format or codec declare, in words; empty if lossless.
        `DICTIONARY` describes the columns, and Parquet files contain these descriptions.

    Raises
    ------
    InvalidRecordError
        If a field is wrong, for a file that ends in .jsonl.
    UnknownNameError
        If the file ends in anything else.
    """
    path = Path(path)
    writers = {".jsonl": _write_lines, ".csv": _write_csv, ".parquet": _write_parquet}
    if path.suffix not in writers:
        raise UnknownNameError("table of results with the ending", path.suffix, writers)
    with write_atomically(path) as temporary:
        writers[path.suffix]([*records], temporary)


def _write_lines(records: list[Record], path: Path) -> None:
    path.write_bytes(b"".join(map(line, records)))


# Axes that have a column in each table; others only where a record has a value.
_AXES = ("cache", "threads", "track", "medium")


_SAMPLES = ("repeats", "cpu_repeats", "loop_repeats")


def flat_rows(records: list[Record]) -> tuple[list[str], list[dict[str, Any]]]:
    """Return columns, where each axis has one of its own, and the records as rows of them."""
    axes = dict.fromkeys([*_AXES, *sorted({name for each in records for name in each.conditions})])
    rows = [
        asdict(each)
        | {axis: each.conditions.get(axis) for axis in axes}
        | {LOSSY: Configuration.of(each).loss}
        for each in records
    ]
    names = [field.name for field in fields(Record)]
    place = names.index("conditions")
    return [*names[:place], LOSSY, *axes, *names[place + 1 :]], rows


def _write_csv(records: list[Record], path: Path) -> None:
    names, rows = flat_rows(records)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        for row in rows:
            # CSV has no lists, and JSON can be parsed back.
            lists = {name: json.dumps(row[name]) for name in (*_SAMPLES, "round_sizes")}
            interval = row["interval"] and json.dumps(row["interval"])
            writer.writerow({**row, **lists, "interval": interval})


def _write_parquet(records: list[Record], path: Path) -> None:
    write_parquet(records, path)


def write_parquet(records: list[Record], path: Path, about: Mapping[str, Any] | None = None) -> None:
    """Write records as a Parquet file that explains itself.

    Each column has its description in the metadata of its field (``description``).

    Parameters
    ----------
    records : list of Record
        The rows.
    path : Path
        The file.
    about : mapping, optional
        Facts on the whole, JSON text in the metadata of the file under `ABOUT`.
    """
    import pyarrow as pa
    from pyarrow import parquet

    # Without them, a column that is empty in all records would have no type.
    types = {
        **dict.fromkeys(["rows", "columns", "level", "rounds", "schema"], pa.int64()),
        "value": pa.float64(),
        **dict.fromkeys([*_SAMPLES, "interval"], pa.list_(pa.float64())),
        "round_sizes": pa.list_(pa.int64()),
    }
    names, rows = flat_rows(records)
    columns = [
        pa.field(name, types.get(name, pa.string()), metadata={"description": description_of(name)})
        for name in names
    ]
    facts = None if about is None else {ABOUT: json.dumps(about)}
    parquet.write_table(pa.Table.from_pylist(rows, schema=pa.schema(columns, metadata=facts)), path)


def description_of(column: str) -> str:
    """Return the description of a column; of those without an entry, each an axis, a common one."""
    return DICTIONARY.get(column, f"Value of the condition {column!r}; null where there is none")
