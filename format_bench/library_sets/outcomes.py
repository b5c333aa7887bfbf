"""Outcomes of library sets, in a file beside asv's results: asv keeps nothing of a set that fails."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

# Name of the folder, in the folder of asv's results. Its files end in .jsonl, since asv reads every
# .json.
FOLDER = "sets"


class SetOutcome(StrEnum):
    """Outcome of measuring a set."""

    MEASURED = "measured"
    UNRESOLVABLE = "unresolvable"
    """On that day, some package that is always required had no fitting version yet."""
    NOT_INSTALLED = "not installed"
    """It resolves, but no longer installs."""
    FAILED = "failed"
    """It installs, but the suites do not start with it."""


@dataclass(frozen=True)
class SetRecord:
    """Outcome of the set of one commit on one machine. The fields are the keys of the file."""

    commit: str
    day: str
    """Day of the set, e.g. "2024-03-01"."""
    machine: str
    """asv's name of the machine."""
    status: SetOutcome
    sentence: str = ""
    """Reason why nothing could be measured; empty if something was."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Reasons by requirement of an adapter that no version of that day meets."""
    suites: list[str] = field(default_factory=list)
    """The suites that have ended."""
    time: float = field(default_factory=time.time)
    """Time of writing, in seconds since 1970."""


def write(results_dir: Path, record: SetRecord) -> None:
    """Append a record; the last one of a commit and machine counts."""
    path = results_dir / FOLDER / f"{record.machine}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    # A kill may have cut off the last line; the new one must not continue it.
    is_torn = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" * is_torn + json.dumps(asdict(record)) + "\n")


def read(results_dir: Path) -> list[SetRecord]:
    """Return the last record of each set on each machine, in order of day; torn lines are ignored."""
    import msgspec

    found: dict[tuple[str, str], SetRecord] = {}
    for path in sorted((results_dir / FOLDER).glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            with suppress(msgspec.DecodeError, ValueError, RecursionError):
                record = msgspec.json.decode(line, type=SetRecord)
                found[record.machine, record.commit] = record
    return sorted(found.values(), key=lambda record: (record.day, record.machine))


def newest(results_dir: Path, machine: str, commit: str) -> SetRecord | None:
    """Return the last record of a commit on a machine, if any."""
    found = [each for each in read(results_dir) if (each.machine, each.commit) == (machine, commit)]
    return found[0] if found else None
