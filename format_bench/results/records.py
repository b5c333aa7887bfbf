"""Records: one for each cell of each suite, as JSON Lines, readable after any kill.

A line counts once its newline is on disk. A last line without one was left by a killed writer: it is not
read, and the next writer cuts it off. `format_bench.results.record_form` has the rules of the fields.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import shlex
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO

from adapter_core.adapter import engine_of
from adapter_core.errors import InvalidRecordError, InvalidResultsError, NewerRecordError
from format_bench.results.conditions import Conditioned, Conditions
from format_bench.results.record_form import SCHEMA, decode, validate
from format_bench.results.status import CellStatus
from format_bench.results.suites import SUITES

HEAD = b'{"suite": '
"""Beginning of the line of each record."""


@dataclass(frozen=True)
class Record(Conditioned):
    """One cell of a suite: a value, or the reason why it is missing."""

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
    conditions: dict[str, str]
    """Values of axes by name, e.g. {"cache": "cold", "threads": "all"}; those that apply."""
    metric: str
    """One of `METRICS`."""
    unit: str
    """"seconds", "bytes", "columns", "fields", "files", "images", "properties", "ratio", "units of the
    data" or "values"."""
    value: float | None
    repeats: list[float]
    """All samples in the order taken, in `unit`; possibly none."""
    interval: list[float] | None
    """The lower and the upper end, in `unit`."""
    status: CellStatus
    sentence: str
    """Reason of a missing value, or an optional remark."""
    run_id: str
    rounds: int = 1
    """In how many rounds of the run, each with a process of its own, the repeats were taken."""
    round_sizes: list[int] = field(default_factory=list)
    """How many of the repeats each round took, in order; empty if that is not known."""
    query: str = ""
    """The query that the value is of, e.g. "Q7"; empty if of none."""
    machine: str = ""
    """Fingerprint of the machine of a cluster; empty outside of clusters."""
    cpu_repeats: list[float] = field(default_factory=list)
    """CPU seconds of each of the repeats, if it is a time of calls in one process; possibly none."""
    loop_repeats: list[float] = field(default_factory=list)
    """CPU seconds of the clock's reference loop beside each of them."""
    environment: str = ""
    """Python, libraries and measurement, e.g. "CPython 3.11.7, measurement 4, pandas 3.1.1"; empty if
    it is not known, or if asv has it."""
    schema: int = SCHEMA
    """Number of the form of records; records of an older one are read as of this one."""

    @property
    def repeats_by_round(self) -> list[list[float]]:
        """The repeats of each round; empty if it is not known which are whose."""
        ends = list(itertools.accumulate(self.round_sizes, initial=0))
        return [self.repeats[start:end] for start, end in itertools.pairwise(ends)]


def line(record: Record) -> bytes:
    """Return a record as a line of a file, UTF-8.

    Raises
    ------
    InvalidRecordError
        If a field is wrong.
    """
    facts = asdict(record)
    try:
        encoded = json.dumps(facts, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        validate(facts)  # names the field
        raise InvalidRecordError(str(error)) from error
    # What no reader would take is not written.
    decode(encoded)
    return encoded + b"\n"


def append(path: str | os.PathLike[str], *added: Record) -> None:
    """Add records to a file, which is made if missing; they are on disk when this returns.

    Parameters
    ----------
    path : path-like
        The file, in a folder that exists. Several processes may append to it.
    *added : Record
        The records. Together they cost one sync, which takes milliseconds on a disk.

    Raises
    ------
    InvalidRecordError
        If a field is wrong. Nothing is written then.
    InvalidResultsError
        If the file ends in something that is not a torn record. It is left as it is.
    """
    encoded = b"".join(map(line, added))
    path = Path(path)
    with _open_locked(path) as file:
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
        If the file is missing.
    InvalidResultsError
        If a line is not a record.
    """
    path = Path(path)
    *lines, rest = path.read_bytes().split(b"\n")
    records = [_parsed(line, path, number) for number, line in enumerate(lines, start=1)]
    _check_torn(rest, path, len(lines) + 1)
    return records


def _open_locked(path: Path) -> IO[bytes]:
    """Open a file for appending, which no other process does until it is closed."""
    while True:
        file = path.open("a+b")
        # Else another process' line, half written, would be taken for a torn one.
        fcntl.flock(file, fcntl.LOCK_EX)
        # A repair may have put another file in its place before the lock was released.
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
        file.close()


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
    if torn[: len(HEAD)] != HEAD[: len(torn)]:
        problem = f"{path}, line {number}: the last line is not the beginning of a record"
        raise InvalidResultsError(_with_advice(problem, path))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def parsed(line: bytes) -> Record:
    """Return the record of a line, with or without its newline.

    Raises
    ------
    InvalidRecordError
        If it is not a record; a `NewerRecordError` if it is of a newer form.
    """
    return renewed(Record(*decode(line)))


QUERY_SETS = "query-sets"
"""Suite of the records of a study that is the suite `query_sets` now."""

TUNING = "tuning"
"""Suite of the records of a study that is runs of the suite `query` now; its labels name writers."""

# Earlier versions recorded the scale of a query set, and not the rows of its largest table.
_ROWS_AT_SCALE_1 = {"tpch": 6_000_000, "visits": 1_000_000}


def renewed(record: Record) -> Record:
    """Return a record of an earlier version as this one would have written it."""
    if record.suite == QUERY_SETS:
        scale = float(record.conditions.get("scale", 0)) * _ROWS_AT_SCALE_1.get(record.dataset, 0)
        record = replace(under(record, scale=None), suite="query_sets", rows=round(scale))
    if record.suite == TUNING:
        label, _, writer = record.format.partition(" by ")
        engine = engine_of(label)
        record = replace(under(record, writer=writer), suite="query", format=label, engine=engine)
    if not record.track:
        suite = SUITES.get(record.suite.partition(".")[0])
        if suite and suite.recorded_track(""):
            return under(record, track=suite.recorded_track(""))
    return record


def _parsed(line: bytes, path: Path, number: int) -> Record:
    try:
        return parsed(line)
    except NewerRecordError as error:
        raise InvalidResultsError(f"{path}, line {number}: {error}") from error
    except InvalidRecordError as error:
        raise InvalidResultsError(_with_advice(f"{path}, line {number}: {error}", path)) from error


def _with_advice(problem: str, path: Path) -> str:
    return f"{problem}; `format-bench repair {shlex.quote(str(path))}` keeps the good lines"


def under(record: Record, **values: str | None) -> Record:
    """Return a record with other values of axes; None or an empty text for none."""
    return replace(record, conditions=dict(Conditions(record.conditions) | values))


Key = tuple[object, ...]


def key(record: Record) -> Key:
    """Return the key of the cell of a record."""
    what = (record.suite, record.format, record.dataset, record.rows, record.codec, record.level)
    values = tuple(sorted(record.conditions.items()))
    return (*what, values, record.query, record.metric, record.machine)
