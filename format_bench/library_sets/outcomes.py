"""What became of each library set, beside asv's results: asv keeps nothing of a set that fails."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

FOLDER = "sets"
"""Name of the folder, in that of asv's results. Its files end in .jsonl: asv takes .json for its own."""


class Status(StrEnum):
    """What became of a set."""

    MEASURED = "measured"
    UNRESOLVABLE = "unresolvable"
    """No version of every package that is needed in any case had been released by then."""
    NOT_INSTALLED = "not installed"
    """It resolves, but no longer installs."""
    FAILED = "failed"
    """It installs, but the suites do not begin with it."""


@dataclass(frozen=True)
class Note:
    """What became of the set of one commit on one machine."""

    commit: str
    day: str
    """As in "2024-03-01"."""
    machine: str
    """asv's name for it."""
    status: Status
    sentence: str = ""
    """Why nothing could be measured; empty if something was."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Why no version of then fits, by the requirement that adapters declare."""
    suites: list[str] = field(default_factory=list)
    """The suites that have ended."""
    time: float = field(default_factory=time.time)
    """When it was written, in seconds since 1970."""


def write(results_dir: Path, note: Note) -> None:
    """Append a note, on a line of its own; the newest one of a commit and machine holds."""
    path = results_dir / FOLDER / f"{note.machine}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    cut_off = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" * cut_off + json.dumps(asdict(note)) + "\n")


def read(results_dir: Path) -> list[Note]:
    """Return the note that holds of each set on each machine, in order of day.

    A line that a kill has cut off is left out.
    """
    found: dict[tuple[str, str], Note] = {}
    for path in sorted((results_dir / FOLDER).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                note = _note(json.loads(line))
            except ValueError:
                continue
            found[note.machine, note.commit] = note
    return sorted(found.values(), key=lambda note: (note.day, note.machine))


def newest(results_dir: Path, machine: str, commit: str) -> Note | None:
    """Return the note that holds of a commit on a machine, if there is one."""
    found = [each for each in read(results_dir) if (each.machine, each.commit) == (machine, commit)]
    return found[0] if found else None


def _note(facts: dict[str, Any]) -> Note:
    return Note(**{**facts, "status": Status(facts["status"])})
