"""Records: one for each cell of each suite, as JSON Lines, readable after any kill.

A line counts once its newline is on disk. A last line without one was left by a killed writer: it is not
read, and the next writer cuts it off. record_schema.json and the registered metrics give the rules of
the fields; the order of an interval's ends and the sum of the sizes of rounds are checked here, since
JSON Schema cannot.
"""

from __future__ import annotations

import fcntl
import functools
import itertools
import json
import os
import re
import reprlib
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from adapter_core.errors import InvalidRecordError, InvalidResultsError
from format_bench.results.metrics import METRICS
from format_bench.results.status import CellStatus
from format_bench.results.suites import SUITES

if TYPE_CHECKING:
    import jsonschema


_FIXED_RULES = Path(__file__).with_name("record_schema.json")

_SURROGATE = re.compile("[\ud800-\udfff]")


def validate(facts: Any) -> None:
    """Check facts against the schema of records.

    Parameters
    ----------
    facts : Any
        A line of results as `json.loads` returns it, or a record as `dataclasses.asdict` does.

    Raises
    ------
    InvalidRecordError
        If anything is wrong; the message is about the first thing.
    """
    error = next(_validator().iter_errors(facts), None)
    if error is not None:
        raise InvalidRecordError(_sentence(error))
    sizes = facts.get("round_sizes")
    if sizes and sum(sizes) != len(facts["repeats"]):
        raise InvalidRecordError(
            f"round_sizes is {sizes}, but must add up to the {len(facts['repeats'])} repeats"
        )
    interval = facts["interval"]
    if interval is not None and interval[0] > interval[1]:
        raise InvalidRecordError(f"interval is {interval}, but must have its lower end first")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of records, draft 2020-12: record_schema.json and the registered metrics.

    The descriptions of its rules end the sentence "it must be ...".
    """
    found: dict[str, Any] = json.loads(_FIXED_RULES.read_text(encoding="utf-8"))
    by_unit: dict[str, list[str]] = {}
    for metric in METRICS.values():
        by_unit.setdefault(metric.unit, []).append(metric.name)
    found["properties"]["unit"] |= {"enum": list(by_unit)}
    of_units = [
        {
            "if": {"properties": {"unit": {"const": unit}}},
            "then": {
                "properties": {"metric": {"enum": names, "description": f"a metric in {unit}, one of"}}
            },
        }
        for unit, names in by_unit.items()
    ]
    found["allOf"] = of_units + found["allOf"]
    return found


@functools.cache
def _validator() -> jsonschema.Draft202012Validator:
    import jsonschema

    checker = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"number": _is_number, "integer": _is_integer, "string": _is_text}
    )
    strict = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=checker)
    return strict(schema())


# jsonschema takes NaN and infinities for numbers, which JSON does not have.
def _is_number(_: Any, value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and -sys.float_info.max <= value <= sys.float_info.max


# jsonschema takes 1.0 for an integer, which would come back as a float.
def _is_integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# A lone surrogate, as in an undecodable file name, is in no UTF-8 file.
def _is_text(_: Any, value: Any) -> bool:
    return isinstance(value, str) and not _SURROGATE.search(value)


def _sentence(error: jsonschema.ValidationError) -> str:
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"the field {missing[0]} is missing"
    if error.validator == "additionalProperties":
        unknown = [name for name in error.instance if name not in error.schema["properties"]]
        return f"{unknown[0]!r} is not a field of a record"
    field = error.json_path.removeprefix("$").removeprefix(".") or "the record"
    allowed = ""
    if error.validator == "enum":
        allowed = f" {', '.join(json.dumps(choice) for choice in error.validator_value)}"
    return (
        f"{field} is {reprlib.repr(error.instance)}, but must be {error.schema['description']}{allowed}"
    )


_HEAD = b'{"suite": '


@dataclass(frozen=True)
class Record:
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
    cache: str | None
    """"warm" or "cold"; None where it does not apply."""
    threads: str
    """"1" or "all"."""
    metric: str
    """One of `METRICS`."""
    unit: str
    """"seconds", "bytes", "columns", "fields", "files", "images", "properties" or "ratio"."""
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
    track: str = ""
    """Way to write the file that a suite declares, e.g. "paper"; empty if it declares none."""
    query: str = ""
    """The query that the value is of, e.g. "Q7"; empty if of none."""
    medium: str = ""
    """The medium of the file, e.g. "tmpfs" or "emulated hdd"; empty if no media were compared."""
    machine: str = ""
    """Fingerprint of the machine of a cluster; empty outside of clusters."""

    @property
    def place(self) -> str:
        """The data set with its medium, e.g. "core on tmpfs"; values of two media do not compare."""
        return place_of(self.dataset, self.medium)

    @property
    def repeats_by_round(self) -> list[list[float]]:
        """The repeats of each round; empty if it is not known which are whose."""
        ends = list(itertools.accumulate(self.round_sizes, initial=0))
        return [self.repeats[start:end] for start, end in itertools.pairwise(ends)]


def place_of(dataset: str, medium: str) -> str:
    """Return a data set with its medium, e.g. "core on tmpfs"; the data set alone without a medium."""
    return f"{dataset} on {medium}" if medium else dataset


def engine_of(label: str) -> str:
    """Return the engine that a label names, "polars" for "Parquet[polars]"; empty if it names none."""
    return label.partition("[")[2].removesuffix("]")


def line(record: Record) -> bytes:
    """Return a record as a line of a file, UTF-8.

    Raises
    ------
    InvalidRecordError
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
        The record.

    Raises
    ------
    InvalidRecordError
        If a field is wrong. Nothing is written then.
    InvalidResultsError
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
        If the file is missing.
    InvalidResultsError
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
        raise InvalidResultsError(
            f"{path}, line {number}: the last line is not the beginning of a record"
        )


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
        raise InvalidResultsError(f"{path}, line {number}: {error}") from error
    suite = SUITES.get(facts["suite"].partition(".")[0])
    track = suite.recorded_track(facts.get("track", "")) if suite else facts.get("track", "")
    return Record(**{**facts, "status": CellStatus(facts["status"]), "track": track})


Key = tuple[object, ...]


def key(record: Record) -> Key:
    """Return the key of the cell of a record."""
    what = (record.suite, record.format, record.dataset, record.rows, record.codec, record.level)
    axes = (record.track, record.medium, record.cache, record.query, record.threads)
    return (*what, *axes, record.metric, record.machine)
