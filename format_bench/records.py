"""Results: a record for every cell of every suite, kept as JSON Lines, readable after any kill.

A line counts once its newline is on disk. A last line without one is what a killed writer left: it is
not read, and the next writer cuts it off.
"""

from __future__ import annotations

import csv
import fcntl
import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

from adapter_core.errors import FormatBenchError, UnknownName
from format_bench.journal import Status
from format_bench.validation import validate

METRICS = {
    "save time": "seconds",
    "durable save time": "seconds",
    "read time": "seconds",
    "save CPU time": "seconds",
    "read CPU time": "seconds",
    "size": "bytes",
    "save memory": "bytes",
    "read memory": "bytes",
    "held memory": "bytes",
    "save peak memory": "bytes",
    "read peak memory": "bytes",
    "lost columns": "columns",
    "open time": "seconds",
    "random read time per image": "seconds",
    "batch read time per image": "seconds",
    "files": "files",
    "changed images": "images",
    "read amplification": "ratio",
}
"""What is measured, and its unit."""

_HEAD = b'{"suite": '


class BadResults(FormatBenchError, ValueError):
    """A file that does not hold records; the message names the file and the line."""


@dataclass(frozen=True)
class Record:
    """One cell of a suite: a value, or a sentence that says why there is none."""

    suite: str
    format: str
    """The label, as in "Parquet[polars]"."""
    engine: str
    """The engine that the label names, as `engine_of` gives it; empty if it names none."""
    dataset: str
    rows: int
    columns: int
    codec: str | None
    level: int | None
    cache: str | None
    """"warm" or "cold"; None where it does not apply."""
    threads: str
    """"1" or "all"."""
    metric: str
    """One of `METRICS`."""
    unit: str
    """"seconds", "bytes", "columns", "files", "images" or "ratio"."""
    value: float | None
    repeats: list[float]
    """All samples in the order taken, in `unit`; possibly none."""
    interval: list[float] | None
    """The lower and the upper end, in `unit`."""
    status: Status
    sentence: str
    """Why there is no value; may be empty if there is one."""
    run_id: str
    rounds: int = 1
    """In how many rounds of the run, each with a process of its own, the repeats were taken."""


def engine_of(label: str) -> str:
    """Return the engine that a label names, "polars" for "Parquet[polars]"; empty if it names none."""
    return label.partition("[")[2].removesuffix("]")


def append(path: str | os.PathLike[str], record: Record) -> None:
    """Add a record to a file, which is made if missing; it is on disk when this returns.

    Parameters
    ----------
    path : path-like
        The file, in a folder that exists. Several processes may append to it.
    record : Record
        What to add.

    Raises
    ------
    BadRecord
        If a field is wrong. Nothing is written then.
    BadResults
        If the file ends in something that is not a torn record. It is left as it is.
    """
    line = _line(asdict(record))
    path = Path(path)
    with path.open("a+b") as file:
        # Else another process' line, half written, would be taken for a torn one.
        fcntl.flock(file, fcntl.LOCK_EX)
        if _cut_torn_line(file, path) == 0:
            _sync_folder(path.parent)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def read(path: str | os.PathLike[str]) -> list[Record]:
    """Return the records of a file in the order written; a torn last line is not one.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    BadResults
        If a line is not a record.
    """
    path = Path(path)
    *lines, rest = path.read_bytes().split(b"\n")
    records = [_parsed(line, path, number) for number, line in enumerate(lines, start=1)]
    _check_torn(rest, path, len(lines) + 1)
    return records


def export(records: Iterable[Record], path: str | os.PathLike[str]) -> None:
    """Write records, replacing what is at `path`.

    Parameters
    ----------
    records : iterable of Record
        The rows.
    path : path-like
        A file that ends in .jsonl, as `append` would make it; or in .csv or .parquet, a table with a
        column for each field, where lists are JSON text in CSV and lists in Parquet.

    Raises
    ------
    BadRecord
        If a field is wrong, for a file that ends in .jsonl.
    UnknownName
        If the file ends in anything else.
    """
    path = Path(path)
    writers = {".jsonl": _write_lines, ".csv": _write_csv, ".parquet": _write_parquet}
    if path.suffix not in writers:
        raise UnknownName("table of results with the ending", path.suffix, writers)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        writers[path.suffix]([asdict(record) for record in records], temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _cut_torn_line(file: IO[bytes], path: Path) -> int:
    """Cut off a last line that has no newline; return the size that is left, in bytes."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return 0
    file.seek(-1, os.SEEK_END)
    if file.read(1) == b"\n":
        return size
    file.seek(0)
    *lines, torn = file.read().split(b"\n")
    _check_torn(torn, path, len(lines) + 1)
    return file.truncate(size - len(torn))


def _check_torn(torn: bytes, path: Path, number: int) -> None:
    if torn[: len(_HEAD)] != _HEAD[: len(torn)]:
        raise BadResults(f"{path}, line {number}: the last line is not the beginning of a record")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _parsed(line: bytes, path: Path, number: int) -> Record:
    try:
        facts = json.loads(line.decode())
        validate(facts)
    except (ValueError, RecursionError) as error:
        raise BadResults(f"{path}, line {number}: {error}") from error
    return Record(**{**facts, "status": Status(facts["status"])})


def _line(facts: dict[str, Any]) -> bytes:
    validate(facts)
    return json.dumps(facts, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _write_lines(rows: list[dict[str, Any]], path: Path) -> None:
    path.write_bytes(b"".join(_line(row) for row in rows))


def _write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        names = [field.name for field in fields(Record)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            interval = row["interval"] and json.dumps(row["interval"])
            writer.writerow({**row, "repeats": json.dumps(row["repeats"]), "interval": interval})


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    # Without them, a column that is empty in all records would have no type.
    types = {
        **dict.fromkeys(["rows", "columns", "level", "rounds"], pa.int64()),
        "value": pa.float64(),
        **dict.fromkeys(["repeats", "interval"], pa.list_(pa.float64())),
    }
    schema = pa.schema([(field.name, types.get(field.name, pa.string())) for field in fields(Record)])
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)
