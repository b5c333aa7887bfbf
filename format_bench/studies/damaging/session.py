"""Session of the study of damage: saves each subject, tries damages, and records the results."""

from __future__ import annotations

import importlib.metadata
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench.families.operations import operations_of
from format_bench.instruments import isolation
from format_bench.instruments.memory_limit import limit_address_space
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from format_bench.runner import folders
from format_bench.studies.damaging.results import Cost, Found, ResultsFile
from format_bench.studies.damaging.subjects import Subject, counts
from format_bench.studies.damaging.trials import Limits, Outcome, Prepared, Tried, prepare, run_trials

if TYPE_CHECKING:
    from format_bench.studies.damaging.kinds import Kind

LIMIT_SECONDS = 1800.0
"""Wall time of saving once, or of all trials of one format."""

LIMIT_BYTES = 12 * 2**30
"""Address space of a reader: damaged lengths ask for more memory than a machine has."""

CALLS = 7
"""Saves and reads, in turn, to measure the cost of checksums."""


class Session:
    """Tries damages to saved files, and appends the results to a folder.

    Parameters
    ----------
    out : Path
        Folder of the results, and of files while they are tried; made if missing.
    seed : int
        Seed of the damages.
    flips : int
        Flipped bits of each format of the published table; others get fewer.
    limits : Limits, optional
        Limits of a trial.

    Raises
    ------
    InvalidResultsError
        If the folder has results of another seed.
    """

    def __init__(self, out: Path, *, seed: int, flips: int, limits: Limits | None = None) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.out, self.seed, self.flips = out, seed, flips
        self.limits = limits or Limits()
        self.results = ResultsFile(out, seed)

    def run(self, subjects: Iterable[Subject]) -> Iterator[tuple[Subject, Found]]:
        """Try the damages that the results lack; yield each subject when it is on disk.

        Raises
        ------
        LockedError
            If another run is writing to the folder.
        """
        with folders.only_run(self.out), folders.make(self.out) as folder:
            self.results.record()
            for subject in subjects:
                if self.missing(subject):
                    found = self._tried(subject, folder)
                    self.results.record()
                    yield subject, found

    def missing(self, subject: Subject) -> list[tuple[Kind, int]]:
        """Return the kinds and numbers of the trials that the results lack."""
        found = self.results.of(subject)
        if str(found.facts.get("sentence", "")).startswith(CellStatus.UNSUPPORTED):
            return []
        wanted = [
            (kind, number)
            for kind, count in counts(subject, self.flips).items()
            for number in range(count)
        ]
        return [each for each in wanted if each not in found.trials]

    def _tried(self, subject: Subject, folder: Path) -> Found:
        data = folder / f"{subject.family}-{subject.dataset}-{subject.rows}"
        facts: dict[str, Any] = {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "libraries": _versions(subject.adapter.requires),
            "sentence": "",
        }
        if not data.exists():
            made = isolation.run(store, subject, data, limit_seconds=LIMIT_SECONDS)
            facts["sentence"] = made.sentence
        if not facts["sentence"]:
            case = folder / "case"
            case.mkdir()
            facts["sentence"] = self._try_in(subject, data, case, facts)
            shutil.rmtree(case)
        self.results.append(subject, [{"facts": facts}])
        return self.results.of(subject)

    def _try_in(self, subject: Subject, data: Path, case: Path, facts: dict[str, Any]) -> str:
        """Try the missing damages; return the reason if none could be tried."""
        ready = isolation.run(prepare, subject, data, case, limit_seconds=LIMIT_SECONDS)
        if ready.status:
            return f"{ready.status}: {ready.sentence}"
        prepared: Prepared = ready.value
        facts["size"], facts["remark"] = prepared.size_bytes, prepared.remark
        wanted = self.missing(subject)
        tried = self._isolated(subject, wanted, prepared, warm=True)
        if tried.problem:
            # Threads of a library do not live on in a forked process.
            tried = self._isolated(subject, wanted, prepared, warm=False)
        else:
            tried = self._confirmed(subject, tried, prepared)
        if tried.problem:
            return tried.problem
        self.results.append(subject, ({"trial": asdict(each)} for each in tried.trials))
        if subject.checksums and self.results.of(subject).cost is None:
            cost = isolation.run(measure_cost, subject, data, case, limit_seconds=LIMIT_SECONDS)
            if not cost.status:
                self.results.append(subject, [{"cost": asdict(cost.value)}])
        return ""

    def _confirmed(self, subject: Subject, tried: Tried, prepared: Prepared) -> Tried:
        """Try crashes and hangs again in processes that have not read before."""
        suspects = [
            (each.kind, each.number)
            for each in tried.trials
            if each.verdict and each.verdict.outcome in (Outcome.CRASH, Outcome.HANG)
        ]
        if not suspects:
            return tried
        again = self._isolated(subject, suspects, prepared, warm=False)
        found = {(each.kind, each.number): each for each in again.trials}
        trials = tuple(found.get((each.kind, each.number), each) for each in tried.trials)
        return replace(tried, trials=trials)

    def _isolated(
        self,
        subject: Subject,
        wanted: Sequence[tuple[Kind, int]],
        prepared: Prepared,
        *,
        warm: bool,
    ) -> Tried:
        outcome = isolation.run(
            run_trials,
            subject,
            prepared,
            wanted,
            self.seed,
            self.limits,
            warm,
            limit_seconds=LIMIT_SECONDS,
            entered=partial(limit_address_space, LIMIT_BYTES),
        )
        if outcome.status:
            return Tried(problem=f"{outcome.status}: {outcome.sentence}")
        tried: Tried = outcome.value
        return tried


def store(subject: Subject, path: Path) -> tuple[int, int]:
    """Generate the data of a subject and store them; return the number of rows and columns."""
    operations = operations_of(FAMILIES[subject.family])
    return operations.store(operations.generate(subject.dataset, subject.rows), path)


def measure_cost(subject: Subject, data: Path, folder: Path) -> Cost:
    """Save and read with and without checksums in turn, and return the ratios of the least CPU times.

    The CPU time of all threads counts, since other work on the machine changes it less than wall time.
    """
    both = [replace(subject, checksums=False), subject]
    operations = [each.operations(data) for each in both]
    values = operations[0].load(data)
    files = [folder / f"cost-{number}{operations[0].adapter.suffix}" for number in range(2)]
    saves: list[list[float]] = [[], []]
    reads: list[list[float]] = [[], []]
    for each in operations:
        each.check(values)
    for _ in range(CALLS + 1):
        for place, each in enumerate(operations):
            start = time.process_time()
            each.save(values, files[place])
            middle = time.process_time()
            each.read(files[place])
            saves[place].append(middle - start)
            reads[place].append(time.process_time() - middle)
    # The first calls import libraries.
    save, read = ([min(times[1:]) for times in of] for of in (saves, reads))
    sizes = [each.adapter.size_bytes(files[place]) for place, each in enumerate(operations)]
    return Cost(save[1] / save[0], read[1] / read[0], sizes[1] / sizes[0], CALLS)


def _versions(requires: Sequence[str]) -> dict[str, str]:
    from packaging.requirements import Requirement

    found = {}
    for text in requires:
        name = Requirement(text).name
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "missing"
    return found
