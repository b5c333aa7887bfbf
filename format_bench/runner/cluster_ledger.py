"""Ledger of a run on a cluster: the records of machines of one kind, and their missing cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.instruments.isolation import Outcome
from format_bench.results.records import Record, key
from format_bench.results.status import CellStatus
from format_bench.runner.cell_process import WorkerSetup
from format_bench.runner.recording import combined, keys, records_of
from format_bench.runner.result_store import ResultStore, is_of_older_measurement
from format_bench.runner.runner import Limits, Runner

if TYPE_CHECKING:
    from format_bench.clusters.dispatching import Task
    from format_bench.families.cases import Case


@dataclass(frozen=True)
class ClusterRun:
    """A run on a cluster: what is measured, where, and where the results go."""

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


class MachineLedger:
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
        self.fingerprint, self.cases = fingerprint, run.cases
        # Not of the folder. Python and libraries are a part of the machine's fingerprint.
        store = ResultStore(Path())
        # Without the machine, as the runner makes them.
        own = (
            replace(record, machine="")
            for record in found
            if record.machine == fingerprint and not is_of_older_measurement(record)
        )
        store.current = {key(record): record for record in own}
        # It measures nothing here: it knows which steps are missing.
        self._runner = Runner(run.out, Path(), run.limits, steps=run.steps, store=store)
        self._runner.run_id = run_id

    @property
    def records(self) -> list[Record]:
        """The last record of each cell."""
        return list(self._runner.found.values())

    def add(self, record: Record) -> bool:
        """Take in a record; return False if it is known, or older than the known one."""
        known = self._runner.found.get(key(record))
        if known is not None and known.rounds >= record.rounds and known.value is not None:
            return False
        if known == record:
            return False
        self._runner.found[key(record)] = record
        return True

    def next_round(self, case: int) -> int | None:
        """Return the next round of a case, by its index; None if it is finished."""
        for number in self._runner.rounds:
            if self._runner.missing(self.cases[case], number):
                return number
        return None

    def next_rounds(self) -> dict[int, int]:
        """Return the next round of each case that is not finished."""
        found = {case: self.next_round(case) for case in range(len(self.cases))}
        return {case: number for case, number in found.items() if number is not None}

    def earlier(self, case: int) -> tuple[Record, ...]:
        """Return the records of a case, of all rounds so far."""
        known = self._runner.found
        cells = (cell for step in self.cases[case].steps for cell in keys(self.cases[case], step))
        return tuple(known[cell] for cell in cells if cell in known)

    def failed(self, task: Task, sentence: str, run_id: str) -> list[Record]:
        """Return the records of a round that no worker could measure."""
        case, outcome = self.cases[task.case], Outcome(status=CellStatus.FAILED, sentence=sentence)
        return [
            combined(self._runner.found.get(key(empty)), empty, outcome)
            for step in self._runner.missing(case, task.number)
            for empty in _elsewhere(records_of(case, 0, step, outcome, run_id))
        ]


def _elsewhere(found: Iterable[Record]) -> Iterator[Record]:
    """Yield records without the environment of this process, which did not measure them."""
    for each in found:
        yield replace(each, environment="")
