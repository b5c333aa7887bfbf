"""Log of a run on a cluster: a line of JSON for each cell that a worker was given, and its end."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from format_bench.clusters.dispatching import Task, Worker
    from format_bench.families.cases import Case

MEASURED = "measured"
"""Outcome of a cell whose duration is known from its start to its end."""


def append(  # noqa: PLR0913 (who measured what, and its end)
    path: Path, worker: Worker, task: Task, case: Case, outcome: str, *, seconds: float, reason: str = ""
) -> None:
    """Append the end of a cell to a log.

    Parameters
    ----------
    path : Path
        The log; made if missing.
    worker : Worker
        Who was given the cell.
    task : Task
        The cell.
    case : Case
        The task's case.
    outcome : str
        `MEASURED`; "collected", if an earlier client had started it; "failed" or "lost".
    seconds : float
        Time since the client gave the cell to the worker.
    reason : str
        Sentence on a failure.
    """
    entry = {
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "outcome": outcome,
        "seconds": round(seconds, 3),
        "machine": task.machine,
        "host": worker.host,
        "worker": worker.name,
        "round": task.number,
        "case": case.facts,
        "reason": reason,
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def measured_seconds(path: Path) -> dict[tuple[str, str], list[float]]:
    """Return the seconds of measured cells by machine and case, and by case alone (machine "")."""
    found: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for line in path.read_bytes().splitlines() if path.exists() else ():
        # The client may have been killed while it wrote the line.
        with suppress(ValueError, TypeError, LookupError, RecursionError):
            entry = json.loads(line)
            if entry["outcome"] == MEASURED:
                seconds, case = float(entry["seconds"]), name_of(entry["case"])
                for machine in ("", str(entry["machine"])):
                    found[machine, case].append(seconds)
    return found


def name_of(case: Mapping[str, Any]) -> str:
    """Return a text that names a case, of its fields."""
    return json.dumps(case, sort_keys=True)
