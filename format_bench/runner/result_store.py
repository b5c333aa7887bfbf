"""Store of the results of a run: outcomes become records, round by round; read once, kept in memory.

Records of another environment do not count: their cells are measured again, and the new records, which
are the last of their cells, take the place of the old ones in each reader.
"""

from __future__ import annotations

import functools
import secrets
import statistics
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapter_core.adapter import engine_of
from adapter_core.errors import WrongValuesError
from format_bench.families.cases import Case
from format_bench.families.operations import Measured
from format_bench.instruments.intervals import median_interval
from format_bench.instruments.isolation import Outcome
from format_bench.metadata import libraries, machine
from format_bench.results import environments, records
from format_bench.results.display.text import joined, plural
from format_bench.results.load import RESULTS
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.records import Key, Record, key
from format_bench.results.status import CellStatus, is_of_surroundings
from format_bench.results.suites import Step
from format_bench.system.library_set import AXIS


class ResultStore:
    """Records in a folder of results, to which one run adds.

    Parameters
    ----------
    out : Path
        The folder; it need not exist before a record is appended.
    run_id : str, optional
        Id of the records of the run; by default a new one.
    """

    def __init__(self, out: Path, run_id: str = "") -> None:
        self.path = out / RESULTS
        self.run_id = run_id or new_run_id()
        self.current: dict[Key, Record] = {}
        """The last record of each cell that was measured in this environment, or in an unknown one."""
        self.outdated: dict[Key, Record] = {}
        """The last records of the other cells."""
        self._seen: tuple[int, int] | None = None

    def read(self) -> list[Record]:
        """Return the latest record of each cell that was measured in this environment."""
        self.refresh()
        return list(self.current.values())

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

    def append(self, *added: Record) -> None:
        """Add records; they are on disk when this returns."""
        records.append(self.path, *added)
        for each in added:
            self.current[key(each)] = each
            self.outdated.pop(key(each), None)
        self._seen = self._state()

    def keep(
        self,
        case: Case,
        columns: int,
        step: Step,
        outcome: Outcome,
        lacks: Callable[[Key], bool] = lambda _: True,
    ) -> list[Record]:
        """Add the records of a step after one more round, and return them; they are on disk then.

        Parameters
        ----------
        case, step : Case, Step
            The step that was made.
        columns : int
            Columns of the data; 0 if there are none.
        outcome : Outcome
            Its outcome.
        lacks : callable, optional
            Returns whether a cell has no samples of this round, e.g. `lacks`: a run that was killed
            between two cells of a step has left the first.
        """
        is_wrong = outcome.error == WrongValuesError.__name__
        # How fast wrong data were saved is of no interest.
        steps = dict.fromkeys([case.steps[0], step]) if is_wrong else [step]
        added = [
            combined(self.current.get(key(found)), found, outcome)
            for each in steps
            for found in records_of(case, columns, each, outcome, self.run_id)
            if is_wrong or lacks(key(found))
        ]
        if added:
            self.append(*added)
        return added

    def missing(self, case: Case, number: int, steps: Collection[str] | None = None) -> list[Step]:
        """Return the steps, of some names, with a metric whose samples of a round are missing."""
        return [
            step
            for step in case.steps
            if (steps is None or step.name in steps)
            and any(self.lacks(each, number) for each in keys(case, step))
        ]

    def tried_again(self, cases: Iterable[Case]) -> int:
        """Return how many cells of cases are measured again as their surroundings failed."""
        self.refresh()
        cells = {cell for case in cases for step in case.steps for cell in keys(case, step)}
        return sum(cell in cells and self._is_tried_again(each) for cell, each in self.current.items())

    def failed_with_surroundings(self) -> int:
        """Return how many cells of this run failed for want of space or memory, or were killed."""
        return sum(
            each.run_id == self.run_id and is_of_surroundings(each.status, each.sentence)
            for each in self.read()
        )

    def lacks(self, cell: Key, number: int) -> bool:
        """Tell whether a cell has no samples of a round, or failed with its surroundings in another run.

        A cell without a value for another reason is not tried again.
        """
        record = self.current.get(cell)
        if record is None or self._is_tried_again(record):
            return True
        return record.status is CellStatus.VALUE and record.rounds < number

    def _is_tried_again(self, record: Record) -> bool:
        return record.run_id != self.run_id and is_of_surroundings(record.status, record.sentence)

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
        # An append changes the size, and a replacement the number of the file; times are too coarse.
        return facts.st_ino, facts.st_size


@functools.cache
def _here() -> str:
    return _in_words(machine.cpu())


def _in_words(cpu: Mapping[str, Any]) -> str:
    return f"{cpu.get('model')}, {cpu.get('usable')} CPUs"


def keys(case: Case, step: Step) -> set[Key]:
    """Return the keys of all cells of a step."""
    return {key(each) for each in _empty_records(case, 0, step, "")}


def records_of(case: Case, columns: int, step: Step, outcome: Outcome, run_id: str) -> Iterator[Record]:
    """Yield a record for each metric of a step, and each query: its value, or why there is none."""
    found: dict[tuple[str, str], Measured] = {}
    if not outcome.status:
        found = {(each.metric, each.query): each for each in outcome.value}
    for empty in _empty_records(case, columns, step, run_id):
        measured = found.get((empty.metric, empty.query))
        if measured is None:
            status = outcome.status or CellStatus.FAILED
            yield replace(empty, status=status, sentence=outcome.sentence)
        else:
            remarked = replace(empty, status=measured.status, sentence=measured.sentence)
            if measured.repeats:
                remarked = replace(
                    _with_repeats(remarked, measured.repeats, [len(measured.repeats)]),
                    cpu_repeats=_short(measured.cpu),
                    loop_repeats=_short(measured.loop),
                )
            yield remarked


def _empty_records(case: Case, columns: int, step: Step, run_id: str) -> Iterator[Record]:
    for metric in step.metrics:
        for query in case.asked.by_name if METRICS[metric].queried else [""]:
            yield Record(
                suite=case.suite,
                format=case.format,
                engine=engine_of(case.format),
                dataset=case.dataset,
                rows=case.rows,
                columns=columns,
                codec=case.codec,
                level=case.level,
                conditions=dict(case.conditions | {"cache": Measure.at(metric, step.cache).cache}),
                metric=metric,
                unit=METRICS[metric].unit,
                value=None,
                repeats=[],
                interval=None,
                status=CellStatus.FAILED,
                sentence="",
                run_id=run_id,
                query=query,
                environment=libraries.environment(
                    case.format, case.suite, case.conditions.get(AXIS, "")
                ),
            )


def combined(earlier: Record | None, found: Record, outcome: Outcome) -> Record:
    """Return the record of a cell after one more round.

    A value stays, with a remark, when a later round yields none, except where that round shows that the
    data came back wrong.
    """
    if earlier is None or earlier.value is None:
        return found
    rounds = earlier.rounds + 1
    if outcome.error == WrongValuesError.__name__:
        return replace(found, rounds=rounds)
    if found.value is None:
        remark = f"round {rounds}: {found.status}: {found.sentence}"
        return replace(earlier, rounds=rounds, sentence=f"{earlier.sentence}; {remark}".lstrip("; "))
    # Records of earlier versions do not have the sizes of their rounds.
    is_known = earlier.round_sizes or not earlier.repeats
    sizes = earlier.round_sizes + found.round_sizes if is_known else []
    return replace(
        _with_repeats(found, earlier.repeats + found.repeats, sizes),
        rounds=rounds,
        cpu_repeats=_of_both(earlier.cpu_repeats, found.cpu_repeats),
        loop_repeats=_of_both(earlier.loop_repeats, found.loop_repeats),
    )


def _of_both(earlier: list[float], found: list[float]) -> list[float]:
    """Return the numbers beside the samples of all rounds; none where some rounds have none."""
    return earlier + found if earlier and found else []


def _short(seconds: Sequence[float]) -> list[float]:
    # The clock of CPU time tells microseconds apart, and no less.
    return [round(each, 6) for each in seconds]


def _with_repeats(record: Record, repeats: Sequence[float], round_sizes: list[int]) -> Record:
    interval = median_interval(repeats) if len(repeats) > 1 else None
    return replace(
        record,
        value=statistics.median(repeats),
        repeats=list(repeats),
        interval=[interval.low, interval.high] if interval else None,
        round_sizes=round_sizes,
    )


def new_run_id() -> str:
    """Return an id of the records of one run: when it began, and some random digits."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def is_of_older_measurement(record: Record) -> bool:
    """Return whether the measured work has changed since a record was made."""
    return environments.MEASUREMENT in differences_of(record)


def differences_of(record: Record) -> dict[str, tuple[str, str]]:
    """Return the differences between the environment of a record and the present one."""
    if not record.environment:
        return {}
    now = libraries.environment(record.format, record.suite, record.conditions.get(AXIS, ""))
    return environments.differences(record.environment, now)
