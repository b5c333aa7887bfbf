"""Functions that a run calls on the workers of a cluster, and a worker's memory between calls.

A worker keeps the records of its last cell until the next one starts: the client has them by then. So a
client that was killed finds, when it is started again, the results that came too late for it.
"""

from __future__ import annotations

import atexit
import threading
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import ClusterError
from format_bench.metadata import machine
from format_bench.metadata.fingerprint import fingerprint, sources_digest
from format_bench.runner import cell_process, folders

if TYPE_CHECKING:
    from format_bench.families.cases import Case
    from format_bench.results.records import Record
    from format_bench.runner.cell_process import CellRequest, HostDescription, WorkerSetup


@dataclass(frozen=True)
class Description:
    """A worker's machine."""

    host: str
    fingerprint: str
    sources: str
    """Digest of the project's own files."""
    facts: HostDescription

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata of a run on the machine, with its fingerprint."""
        return {**self.facts.metadata, "machine": self.fingerprint}


@dataclass(frozen=True)
class KeptCell:
    """One round of a case that a worker measures or has measured for a run."""

    case: Case
    number: int
    records: tuple[Record, ...] | None = None
    """None while it is measured, and if it could not be."""


@dataclass(frozen=True)
class WorkerStatus:
    """Memory of a worker about a run."""

    description: Description
    running: KeptCell | None
    kept: KeptCell | None


@dataclass
class _Memory:
    """State of this process."""

    descriptions: dict[tuple[str, WorkerSetup], Description] = field(default_factory=dict)
    running: dict[str, KeptCell] = field(default_factory=dict)
    kept: dict[str, KeptCell] = field(default_factory=dict)
    """The last cell of each run."""
    data: dict[Path, Path] = field(default_factory=dict)
    """Folders of data, by scratch folder."""
    stack: ExitStack = field(default_factory=ExitStack)
    changed: threading.Condition = field(default_factory=threading.Condition)


_MEMORY = _Memory()
atexit.register(_MEMORY.stack.close)


def describe(run: str, setup: WorkerSetup) -> Description:
    """Return the description of this worker's machine; it waits until nothing is measured there.

    Parameters
    ----------
    run : str
        Id of the folder of results.
    setup : WorkerSetup
        Folders, threads and data of the run.

    Raises
    ------
    ClusterError
        If the machine cannot measure, e.g. since its disk is full.
    """
    facts = cell_process.call(cell_process.describe, setup)
    found = Description(machine.host(), fingerprint(facts.metadata), sources_digest(), facts)
    _MEMORY.descriptions[run, setup] = found
    return found


def status(run: str, setup: WorkerSetup) -> WorkerStatus | None:
    """Return at once this worker's memory of a run; None if it has not taken part."""
    description = _MEMORY.descriptions.get((run, setup))
    if description is None:
        return None
    return WorkerStatus(description, _MEMORY.running.get(run), _MEMORY.kept.get(run))


def measure(request: CellRequest) -> tuple[Record, ...]:
    """Measure one round of a case; keep and return its records."""
    memory, run, case = _MEMORY, request.run, request.case
    memory.kept.pop(run, None)
    # First, since the end of another run, in another thread, removes the data of a worker at rest.
    memory.running[run] = KeptCell(case, request.number)
    try:
        request.setup.check_folders()
        facts = memory.descriptions[run, request.setup].facts
        folder = facts.scratch
        if folder not in memory.data:
            memory.data[folder] = memory.stack.enter_context(folders.make(folder))
        arguments = request, facts, memory.data[folder]
        found = tuple(cell_process.call(cell_process.measure, *arguments))
        memory.kept[run] = KeptCell(case, request.number, found)
    finally:
        with memory.changed:
            del memory.running[run]
            memory.changed.notify_all()
    return found


def collect(run: str) -> tuple[Record, ...]:
    """Wait for the cell that this worker measures for a run, and return its records.

    Raises
    ------
    ClusterError
        If it could not be measured.
    """
    with _MEMORY.changed:
        _MEMORY.changed.wait_for(lambda: run not in _MEMORY.running)
    kept = _MEMORY.kept.get(run)
    if kept is None or kept.records is None:
        raise ClusterError("the cell of an earlier client could not be measured")
    return kept.records


def release(run: str) -> None:
    """Forget a run that has ended, and remove the data that were generated for it."""
    if _MEMORY.running:
        return
    _MEMORY.kept.pop(run, None)
    _MEMORY.data.clear()
    _MEMORY.stack.close()
