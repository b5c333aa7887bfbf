"""What a month has begun to measure, and how far it has come: a file that survives kills and reboots."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

DONE, FAILED = "done", "failed"


@dataclass
class Month:
    """One month's measurement.

    Parameters
    ----------
    name : str
        As in "2026-12".
    commit : str
        The commit that is measured.
    append : bool
        Whether samples are added to those that the commit has.
    changes : str
        What the library set's renewal changed, in a line.
    problem : str
        Why the library set could not be renewed; empty if it could.
    begun : dict
        When each suite was begun last, in seconds since 1970.
    ended : dict
        How each suite ended that has: `DONE` or `FAILED`.
    """

    name: str
    commit: str
    append: bool
    changes: str = ""
    problem: str = ""
    begun: dict[str, float] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> list[str]:
        """The suites that have failed."""
        return [suite for suite, how in self.ended.items() if how == FAILED]

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.partial")
        new.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        new.replace(path)


def read(path: Path) -> Month | None:
    """Return the month of a state file; None if there is no file."""
    return Month(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None
