"""Measures cases without asv: each step in a fresh process, each cell on disk before the next.

A run can be killed at any moment: what is in its results is finished, and the same call goes on.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data_generator import DEFAULT_SEED
from format_bench import case_steps, circumstances, isolation, records, scratch_folder, threads
from format_bench.case_records import key, keys, records_of
from format_bench.case_steps import WrongValues
from format_bench.cases import COLD_READ, READ, SAVE, STEPS, Case, Step
from format_bench.isolation import Outcome

if TYPE_CHECKING:
    from format_bench.records import Record

RESULTS = "results.jsonl"
_CALLS = {
    SAVE: case_steps.save,
    READ: case_steps.read,
    COLD_READ: case_steps.cold_read,
}


class Runner:
    """Measures cases and appends their records to the results in a folder.

    Parameters
    ----------
    out : Path
        The folder of the results; made if missing. Cells that it holds are not measured again.
    scratch : Path
        The folder in which measured files are written, each run in a folder of its own that is removed.
    budget_seconds : float
        Wall time of the repeats of one step after which no further repeat begins.
    limit_seconds : float
        After which a step counts as timed out.
    limit_bytes : int, optional
        Address space that a step may have.
    steps : tuple of Step
        Those to make, in the order of `STEPS`.
    """

    def __init__(  # noqa: PLR0913 (limits of each kind)
        self,
        out: Path,
        scratch: Path,
        *,
        budget_seconds: float = 10.0,
        limit_seconds: float = 1800.0,
        limit_bytes: int | None = None,
        steps: tuple[Step, ...] = STEPS,
    ) -> None:
        self.out, self.scratch = out, scratch
        self.results = out / RESULTS
        self.budget_seconds = budget_seconds
        self.limit_seconds, self.limit_bytes = limit_seconds, limit_bytes
        self.steps = steps
        self._tables: dict[Path, Outcome] = {}
        self.run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"

    def run(self, cases: Iterable[Case]) -> Iterator[Record]:
        """Measure what the results do not hold yet; yield each record when it is on disk.

        Raises
        ------
        BadResults
            If the results in the folder are damaged.
        Busy
            If another run is writing to the folder.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        with scratch_folder.only_run(self.out):
            self.done = {key(each) for each in self.read()}
            left = [case for case in cases if self._missing(case)]
            for policy in dict.fromkeys(case.threads for case in left):
                same = [case for case in left if case.threads == policy]
                with scratch_folder.make(self.scratch) as folder:
                    yield from self._run_under(policy, same, folder)

    def read(self) -> list[Record]:
        """Return the records that count, of all runs so far: of each cell the last one written."""
        if not self.results.exists():
            return []
        return list({key(record): record for record in records.read(self.results)}.values())

    def _run_under(self, policy: threads.Threads, cases: list[Case], folder: Path) -> Iterator[Record]:
        found = circumstances.collect(
            folder, seed=DEFAULT_SEED, scale=f"{cases[0].rows} rows", threads=policy
        )
        path = self.out / f"{self.run_id}-threads-{policy}.json"
        circumstances.write(found, path)
        for case in cases:
            with tempfile.TemporaryDirectory(dir=folder, prefix="case-") as place:
                yield from self._run_case(case, self._table(case, folder), Path(place))
        circumstances.write(circumstances.finish(found), path)

    def _run_case(self, case: Case, table: Outcome, place: Path) -> Iterator[Record]:
        file = place / "file"
        missing = self._missing(case)
        before = table if table.status else Outcome()
        if not before.status and SAVE not in missing:
            before = self._isolated(case_steps.leave_file, case, table.value[0], file)
        for step in missing:
            outcome = before
            if not before.status:
                arguments = (case, table.value[0], file, self.budget_seconds)
                outcome = self._isolated(_CALLS[step], *arguments)
            if outcome.error == WrongValues.__name__:
                # How fast a wrong table was saved is of no interest.
                for earlier in self.steps[: self.steps.index(step)]:
                    self.done -= keys(case, earlier)
                    yield from self._append(case, earlier, outcome, table)
            if outcome.status and step is not COLD_READ:
                before = outcome
            yield from self._append(case, step, outcome, table)

    def _isolated(self, call: Any, case: Case, *arguments: Any) -> Outcome:
        return isolation.run(
            call,
            case,
            *arguments,
            limit_seconds=self.limit_seconds,
            limit_bytes=self.limit_bytes,
            environment=threads.environment(case.threads),
        )

    def _append(self, case: Case, step: Step, outcome: Outcome, table: Outcome) -> Iterator[Record]:
        columns = 0 if table.status else table.value[1]
        for record in records_of(case, columns, step, outcome, self.run_id):
            # A run that was killed between two cells of a step has left the first.
            if key(record) not in self.done:
                records.append(self.results, record)
                self.done.add(key(record))
                yield record

    def _missing(self, case: Case) -> list[Step]:
        """Return the steps of which the results lack a metric."""
        return [step for step in self.steps if not self.done.issuperset(keys(case, step))]

    def _table(self, case: Case, folder: Path) -> Outcome:
        """Return the path of the case's table and its number of columns; made when first needed."""
        path = folder / f"{case.dataset}-{case.rows}.pickle"
        if path not in self._tables:
            made = isolation.run(
                case_steps.make_table, case.dataset, case.rows, path, limit_seconds=self.limit_seconds
            )
            self._tables[path] = made if made.status else Outcome((path, made.value[1]))
        return self._tables[path]
