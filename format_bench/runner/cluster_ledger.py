"""Ledger of a run on a cluster: records and missing cells of each kind of machine, and a log.

The log has a line of JSON for each cell that a worker was given, and its end.
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from format_bench.clusters.dispatching import Task, Worker
from format_bench.families.cases import Case
from format_bench.instruments.isolation import Outcome
from format_bench.results.display.text import duration, plural
from format_bench.results.records import Record, key
from format_bench.results.status import CellStatus
from format_bench.runner import folders
from format_bench.runner.cell_process import WorkerSetup
from format_bench.runner.result_store import (
    ResultStore,
    combined,
    is_of_older_measurement,
    keys,
    records_of,
)
from format_bench.runner.runner import Limits


@dataclass(frozen=True)
class ClusterRun:
    """A run on a cluster: its cells, workers and folder of results."""

    id: str
    """Id of the folder of results."""
    cases: tuple[Case, ...]
    limits: Limits
    steps: frozenset[str]
    out: Path
    setup: WorkerSetup = field(default_factory=WorkerSetup)
    machines: tuple[str, ...] = ()
    """Beginnings of fingerprints; none for all machines."""
    samples: tuple[Case, ...] = ()
    """The same cases on a sample of the rows, measured before by a run with a time budget."""

    @property
    def scale(self) -> str:
        """Sizes of the data in words."""
        return f"{', '.join(str(rows) for rows in sorted({case.rows for case in self.cases}))} rows"

    def log(self, worker: Worker, task: Task, outcome: str, *, seconds: float, reason: str = "") -> None:
        """Append the end of a cell to the log: how it ended, and the time since the worker got it."""
        entry = {
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "outcome": outcome,
            "seconds": round(seconds, 3),
            "machine": task.machine,
            "host": worker.host,
            "worker": worker.name,
            "round": task.number,
            "case": self.cases[task.case].facts,
            "reason": reason,
        }
        with (self.out / folders.CLUSTER_LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, default=str) + "\n")


class MachineLedger(ResultStore):
    """Records of the machines of one kind, and their missing cells.

    Parameters
    ----------
    fingerprint : str
        Of these machines.
    run : ClusterRun
        The run.
    found : sequence of Record
        All records of the folder; other machines' are left out.
    run_id : str
        Id of the records that are made from now on.
    """

    def __init__(self, fingerprint: str, run: ClusterRun, found: Sequence[Record], run_id: str) -> None:
        # In memory alone: the session writes to the folder. Python and libraries are a part of the
        # machine's fingerprint.
        super().__init__(Path(), run_id)
        self.fingerprint, self.cases = fingerprint, run.cases
        self._steps, self._rounds = run.steps, run.limits.rounds
        # Without the machine, as the runner makes them.
        own = (
            replace(record, machine="")
            for record in found
            if record.machine == fingerprint and not is_of_older_measurement(record)
        )
        self.current = {key(record): record for record in own}

    @property
    def records(self) -> list[Record]:
        """The last record of each cell."""
        return list(self.current.values())

    def add(self, record: Record) -> bool:
        """Take in a record; return False if it is known, or older than the known one."""
        known = self.current.get(key(record))
        is_older = known and known.rounds >= record.rounds and known.value is not None
        if is_older or known == record:
            return False
        self.current[key(record)] = record
        return True

    def next_round(self, case: int) -> int | None:
        """Return the next round of a case, by its index; None if it is finished."""
        rounds = range(1, self._rounds + 1)
        return next((n for n in rounds if self.missing(self.cases[case], n, self._steps)), None)

    def next_rounds(self) -> dict[int, int]:
        """Return the next round of each case that is not finished."""
        found = {case: self.next_round(case) for case in range(len(self.cases))}
        return {case: number for case, number in found.items() if number is not None}

    def earlier(self, case: int) -> tuple[Record, ...]:
        """Return the records of a case, of all rounds so far."""
        cells = (cell for step in self.cases[case].steps for cell in keys(self.cases[case], step))
        return tuple(self.current[cell] for cell in cells if cell in self.current)

    def failed(self, task: Task, sentence: str) -> Iterator[Record]:
        """Yield the records of a round that no worker could measure."""
        case, outcome = self.cases[task.case], Outcome(status=CellStatus.FAILED, sentence=sentence)
        for step in self.missing(case, task.number, self._steps):
            for empty in records_of(case, 0, step, outcome, self.run_id):
                # This process, whose environment the record has, did not measure it.
                of_nobody = replace(empty, environment="")
                yield combined(self.current.get(key(empty)), of_nobody, outcome)

    def expected(self, known: Mapping[tuple[str, str], list[float]], hosts: int) -> str:
        """Return how many cells are left, and how long they are expected to take on so many hosts.

        Known times come from `measured_seconds`.
        """
        seconds, unknown, cells = 0.0, 0, 0
        for case, number in self.next_rounds().items():
            times = self._rounds - number + 1
            cells += times
            name = _name_of(self.cases[case].facts)
            samples = known.get((self.fingerprint, name)) or known.get(("", name))
            seconds += times * statistics.fmean(samples) if samples else 0.0
            unknown += 0 if samples else times
        text = f"{plural(cells, 'cell')} left"
        if seconds:
            text += f"; {duration(seconds)} of measuring, "
            text += f"{duration(seconds / hosts)} on {plural(hosts, 'host')}"
        return text + (f"; never measured here: {plural(unknown, 'cell')}" if unknown else "")


MEASURED, COLLECTED, FAILED, LOST = "measured", "collected", "failed", "lost"
"""Outcomes in the log: duration known from start to end; started by an earlier client; no result."""


def measured_seconds(path: Path) -> dict[tuple[str, str], list[float]]:
    """Return the seconds of measured cells by machine and case, and by case alone (machine "")."""
    found: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for line in path.read_bytes().splitlines() if path.exists() else ():
        # The client may have been killed while it wrote the line.
        with suppress(ValueError, TypeError, LookupError, RecursionError):
            entry = json.loads(line)
            if entry["outcome"] == MEASURED:
                seconds, case = float(entry["seconds"]), _name_of(entry["case"])
                for machine in ("", str(entry["machine"])):
                    found[machine, case].append(seconds)
    return found


def _name_of(case: Mapping[str, object]) -> str:
    """Return a text that names a case, of its fields; logs of earlier versions lack some empty ones."""
    filled = {name: value for name, value in case.items() if value is not None and value != ""}
    return json.dumps(filled, sort_keys=True, default=str)
