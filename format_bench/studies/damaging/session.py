"""Session of the study of damage: saves each subject, tries damages, and keeps the results."""

from __future__ import annotations

import importlib.metadata
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adapter_core.errors import InvalidResultsError, UnknownNameError
from format_bench.families.operations import operations_of, registry_of
from format_bench.instruments import isolation
from format_bench.instruments.memory_limit import limit_address_space
from format_bench.metadata.run_metadata import RunMetadataFiles
from format_bench.results import records
from format_bench.results.load import RESULTS, Results, metadata_beside
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from format_bench.runner import folders
from format_bench.studies.damaging import page
from format_bench.studies.damaging.evidence import Cost, Evidence, Found, records_of
from format_bench.studies.damaging.kinds import Kind
from format_bench.studies.damaging.subjects import DATASETS, Subject, counts, subjects_of
from format_bench.studies.damaging.trials import Limits, Outcome, Prepared, Tried, prepare, run_trials

if TYPE_CHECKING:
    from format_bench.results.records import Key, Record

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
        self.results = Evidence(out, seed)
        self.run_id = uuid.uuid4().hex
        known = records.read(out / RESULTS) if (out / RESULTS).exists() else []
        self._recorded: dict[Key, Record] = {records.key(each): each for each in known}

    def run(self, subjects: Iterable[Subject]) -> Iterator[Found]:
        """Try the damages that the results lack; yield each subject when it is on disk.

        Raises
        ------
        LockedError
            If another run is writing to the folder.
        """
        with folders.only_run(self.out), folders.make(self.out) as folder:
            self.record(*self.results.found.values())
            for subject in subjects:
                if self.missing(subject):
                    found = self._tried(subject, folder)
                    self.record(found)
                    yield found

    def record(self, *subjects: Found) -> None:
        """Add the records of subjects that the folder lacks, or has of other trials."""
        for each in [record for found in subjects for record in records_of(found, self.run_id)]:
            known = self._recorded.get(records.key(each))
            if known is None or (known.value, known.sentence) != (each.value, each.sentence):
                records.append(self.out / RESULTS, each)
                self._recorded[records.key(each)] = each

    def missing(self, subject: Subject) -> list[tuple[Kind, int]]:
        """Return the kinds and numbers of the trials that the results lack."""
        found = self.results.of(subject)
        if str(found.facts.get("sentence", "")).startswith(CellStatus.UNSUPPORTED):
            return []
        wanted = counts(subject, self.flips).items()
        every = [(kind, number) for kind, count in wanted for number in range(count)]
        return [each for each in every if each not in found.trials]

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
        self.results.append(subject, facts)
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
        self.results.append(subject, *tried.trials)
        if subject.checksums and self.results.of(subject).cost is None:
            cost = isolation.run(measure_cost, subject, data, case, limit_seconds=LIMIT_SECONDS)
            if not cost.status:
                self.results.append(subject, cost.value)
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
            *(subject, prepared, wanted, self.seed, self.limits, warm),
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


class Damages:
    """The instrument of the study: reads of damaged files, classified."""

    needs_out = True
    facts = staticmethod(page.facts)

    @staticmethod
    def run(  # noqa: PLR0913 (the options of the study)
        out: Path,
        *,
        formats: str,
        families: str,
        flips: int,
        rows: int,
        dataset: str | None,
        seed: int,
    ) -> tuple[list[Found], Results]:
        """Try the damages that a folder lacks, with a line of progress for each subject.

        Raises
        ------
        UnknownNameError
            If a family or a format is unknown.
        """
        chosen = _chosen(families.split(","), [each for each in formats.split(",") if each])
        subjects = [
            each
            for family, labels in chosen.items()
            for each in subjects_of(family, rows, labels, dataset)
        ]
        session, start = Session(out, seed=seed, flips=flips), time.monotonic()
        with RunMetadataFiles(out, session.run_id, out, scale="") as metadata:
            metadata.start("all")
            for number, found in enumerate(session.run(subjects), 1):
                place = f"[{number}/{len(subjects)}, {time.monotonic() - start:.0f} s]"
                subject = found.subject
                click.echo(f"{place} {subject.family}: {subject.name}: {_counted(found)}", err=True)
        return Damages.read(out)

    @staticmethod
    def read(*paths: Path) -> tuple[list[Found], Results]:
        """Return the subjects in the evidence of one or several folders, and the records of them.

        Raises
        ------
        InvalidResultsError
            If there are no trials.
        """
        subjects = [each for path in paths for each in Evidence(path).found.values()]
        if not any(each.trials for each in subjects):
            raise InvalidResultsError(f"{paths[0]} contains no trials")
        found = [record for each in subjects for record in records_of(each, "")]
        metadata = [facts for path in paths for facts in metadata_beside(path)]
        return subjects, Results("damage", found, metadata)


def _counted(found: Found) -> str:
    if found.facts.get("sentence"):
        return str(found.facts["sentence"])
    counts_of = found.outcomes(Kind.FLIP)
    return f"{counts_of.total()} flips: " + ", ".join(f"{n} {each}" for each, n in counts_of.items())


def _chosen(families: list[str], labels: list[str]) -> dict[str, list[str]]:
    """Return the labels of each family; a family without any of those asked for is left out.

    Raises
    ------
    UnknownNameError
        If a family or format is unknown.
    """
    for family in families:
        if family not in DATASETS:
            raise UnknownNameError("family", family, list(DATASETS))
    names = {family: registry_of(FAMILIES[family]).names() for family in families}
    for label in labels:
        known = [name for each in names.values() for name in each]
        if label not in known:
            raise UnknownNameError("format", label, known)
    found = {
        family: [name for name in each if not labels or name in labels] for family, each in names.items()
    }
    return {family: each for family, each in found.items() if each}
