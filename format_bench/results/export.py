"""Records as a file for other tools: JSON Lines, CSV or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from adapter_core import UnknownNameError
from adapter_core.files import write_atomically
from format_bench.results.candidates import LOSSY, Configuration
from format_bench.results.records import Record, line


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
    schema = pa.schema([(name, types.get(name, pa.string())) for name in names])
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)
