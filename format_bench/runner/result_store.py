"""Store of the results of a run: read once, and kept in memory as records are appended.

Records of another environment do not count: their cells are measured again, and the new records, which
are the last of their cells, take the place of the old ones in each reader.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from format_bench.metadata import environment, machine
from format_bench.results import environments, records
from format_bench.results.display.text import joined, plural
from format_bench.results.load import RESULTS
from format_bench.results.records import Key, Record, key
from format_bench.runner.recording import keys
from format_bench.system.library_set import AXIS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from format_bench.families.cases import Case


class ResultStore:
    """Records in a folder of results.

    Parameters
    ----------
    out : Path
        The folder; it need not exist before a record is appended.
    """

    def __init__(self, out: Path) -> None:
        self.path = out / RESULTS
        self.current: dict[Key, Record] = {}
        """The last record of each cell that was measured in this environment, or in an unknown one."""
        self.outdated: dict[Key, Record] = {}
        """The last records of the other cells."""
        self._seen: tuple[int, int] | None = None

    def refresh(self) -> None:
        """Read the file, if it is not the one that was read or appended to last.

        Raises
        ------
        InvalidResultsError
            If it is damaged.
        """
        state = self._state()
        if state == self._seen:
            return
        found = records.read(self.path) if state else []
        last = {key(each): each for each in environments.completed(found, self.path.parent)}
        is_old = {cell: bool(differences_of(each)) for cell, each in last.items()}
        self.current = {cell: each for cell, each in last.items() if not is_old[cell]}
        self.outdated = {cell: each for cell, each in last.items() if is_old[cell]}
        self._seen = state

    def append(self, record: Record) -> None:
        """Add a record; it is on disk when this returns."""
        records.append(self.path, record)
        self.current[key(record)] = record
        self.outdated.pop(key(record), None)
        self._seen = self._state()

    def remarks(self, cases: Iterable[Case], steps: Collection[str] | None) -> Iterator[str]:
        """Yield sentences on cells of a run that another environment has left.

        Parameters
        ----------
        cases : iterable of Case
            The cases of the run.
        steps : collection of str or None
            Names of its steps; None for all.
        """
        cells = {
            cell
            for case in cases
            for step in case.steps
            if steps is None or step.name in steps
            for cell in keys(case, step)
        }
        if outdated := [self.outdated[cell] for cell in cells if cell in self.outdated]:
            found: dict[str, tuple[str, str]] = {}
            for each in sorted(outdated, key=lambda record: record.format):
                found |= differences_of(each)
            number = plural(len(outdated), "cell")
            yield (f"{number} of another environment measured again: {environments.in_words(found)}")
        known = [self.current[cell] for cell in cells if cell in self.current]
        if unknown := sum(not each.environment for each in known):
            yield f"{plural(unknown, 'cell')} of an unknown environment kept; --fresh starts over"
        elsewhere = [each for each in known if self._machine_of(each.run_id) not in {"", _here()}]
        if elsewhere:
            names = joined(sorted({self._machine_of(each.run_id) for each in elsewhere}))
            number = plural(len(elsewhere), "cell")
            yield f"{number} of another machine ({names}) kept; --fresh starts over"

    @functools.cache  # noqa: B019 (a store lives as long as its run)
    def _machine_of(self, run_id: str) -> str:
        """Return the processor of a run, by its metadata; empty if they do not name it."""
        cpu = environments.metadata_of(self.path.parent, run_id).get("cpu")
        return _in_words(cpu) if isinstance(cpu, dict) else ""

    def _state(self) -> tuple[int, int] | None:
        try:
            facts = self.path.stat()
        except FileNotFoundError:
            return None
        return facts.st_ino, facts.st_size


@functools.cache
def _here() -> str:
    return _in_words(machine.cpu())


def _in_words(cpu: Mapping[str, Any]) -> str:
    return f"{cpu.get('model')}, {cpu.get('usable')} CPUs"


def is_of_older_measurement(record: Record) -> bool:
    """Return whether the measured work has changed since a record was made."""
    return environments.MEASUREMENT in differences_of(record)


def differences_of(record: Record) -> dict[str, tuple[str, str]]:
    """Return the differences between the environment of a record and the present one."""
    if not record.environment:
        return {}
    now = environment.present(record.format, record.suite, record.conditions.get(AXIS, ""))
    return environments.differences(record.environment, now)
