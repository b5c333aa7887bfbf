"""Results: a record for every cell of every suite, kept as JSON Lines, readable after any kill.

A line counts once its newline is on disk. A last line without one is what a killed writer left: it is
not read, and the next writer cuts it off.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from adapter_core.errors import FormatBenchError
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


def line(record: Record) -> bytes:
    """Return a record as a line of a file, UTF-8.

    Raises
    ------
    BadRecord
        If a field is wrong.
    """
    facts = asdict(record)
    validate(facts)
    return json.dumps(facts, ensure_ascii=False, allow_nan=False).encode() + b"\n"


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
    encoded = line(record)
    path = Path(path)
    with path.open("a+b") as file:
        # Else another process' line, half written, would be taken for a torn one.
        fcntl.flock(file, fcntl.LOCK_EX)
        if _cut_torn_line(file, path) == 0:
            _sync_folder(path.parent)
        file.write(encoded)
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
