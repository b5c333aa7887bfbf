"""Instrument of the study of damage: cases, their trials in fresh processes, and costs of checksums."""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from adapter_core import BaseAdapter, UnavailableError
from adapter_core.codec_choice import CodecChoice
from adapter_core.errors import InvalidResultsError
from format_bench.compatibility import foreign
from format_bench.conditions.axes.checksums import ON
from format_bench.families.cases import Case
from format_bench.families.operations import registry_of
from format_bench.instruments.isolation import Outcome
from format_bench.metadata.libraries import versions
from format_bench.results.conditions import Conditions
from format_bench.results.display.text import joined, plural
from format_bench.results.load import DAMAGED
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from format_bench.runner import folders
from format_bench.runner.executor import isolated
from format_bench.runner.steps import operations_on, store_data
from format_bench.studies.damaging import page
from format_bench.studies.damaging.counts import FORM, NO_CODEC, DamageRow, facts_sentence
from format_bench.studies.damaging.damaged_reads import (
    ENDS,
    DamageTrials,
    IntactFile,
    Operate,
    TrialLimits,
    prepare,
    run_trials,
)
from format_bench.studies.damaging.foreign_sums import SummedCase, program_of, summing_on
from format_bench.studies.damaging.kinds import Kind
from format_bench.studies.declared.rows import Agenda, Instrument, chosen_by_family, evidence

PUBLISHED = {
    "ROOT.TTree": ("zlib", "lz4", "lzma"),
    "ROOT.TTree[ROOT]": ("zlib", "lz4", "lzma", "zstd"),
    "Protobuf": ("gzip",),
    "SQLite": (),
    "HDF5[h5py]": (),
    "HDF5.table": (),
    "HDF5.rows[h5py]": (),
    "Avro": ("deflate",),
    "Avro[avro-java]": ("deflate", "snappy"),
    "Avro[avro_c]": ("deflate", "snappy"),
    "Parquet": ("gzip", "zstd"),
}
"""Formats of the published table, tried on all rows with all flips, and the codecs beside none.

Programs in other languages are of `foreign.sums`.
"""

FURTHER_CODEC = "zstd"
"""Codec in which the other formats are tried too, if they offer it."""

# Of formats that are not in the published table. Tens of trials tell a format that notices damage from
# others; hundreds of formats take hours as it is.
MOST_ROWS, MOST_FLIPS = 10_000, 40

DATASETS = {"tables": "eq", "images": "cifar-like", "arrays": "era5-small"}
"""Data sets by family."""

ITEMS = {"images": 100, "arrays": 3}
"""Images and chunks of the data sets that are not tables."""

# Wall time of saving once, or of all trials of one format.
LIMIT_SECONDS = 1800.0

# Saves and reads, in turn, to measure the cost of checksums.
CALLS = 7


def measure(  # noqa: PLR0913 (the options of the study)
    agenda: Agenda[DamageRow],
    *,
    formats: str,
    families: str,
    flips: int,
    rows: int,
    dataset: str,
    seed: int,
) -> Iterator[DamageRow]:
    """Return the rows that a folder lacks, measured as they are taken.

    Raises
    ------
    InvalidResultsError
        If the folder has results of another seed.
    UnknownNameError
        If a family or a format is unknown.
    """
    labels = chosen_by_family(formats, families, DATASETS, {"tables": foreign.sums()})
    if others := {each.seed for each in agenda.known} - {seed}:
        raise InvalidResultsError(f"{agenda.out} was made with the seed {others.pop()}")
    cases = [each for family, names in labels.items() for each in cases_of(family, rows, names, dataset)]
    return Trials(agenda, seed=seed, flips=flips).run(cases)


def cases_of(family: str, rows: int, labels: Collection[str], dataset: str = "") -> Iterator[Case]:
    """Yield the cases of a family: each format without a codec, with further ones, with checksums.

    Parameters
    ----------
    family : str
        Name of a family of `DATASETS`.
    rows : int
        Rows of tables of the formats in `PUBLISHED`.
    labels : collection of str
        Formats to try; those whose files cannot be imported are left out.
    dataset : str
        Data set instead of the usual one; a table in the family of tables.
    """
    registry, suite = registry_of(FAMILIES[family]), FAMILIES[family].suites[0].name
    programs = foreign.sums() if family == "tables" else {}
    for name in sorted(labels, key=lambda each: (not _is_published(family, each), each.lower())):
        program = programs.get(name)
        try:
            adapter = registry.find(program.format if program else name)
        except UnavailableError:
            continue
        count = ITEMS.get(family, rows if _is_published(family, name) else min(rows, MOST_ROWS))
        for codec in _codecs(family, name, adapter):
            own = adapter.label, dataset or DATASETS[family], count
            if program:
                yield SummedCase(*own, codec=codec, suite=suite, by=name)
                continue
            plain = Case(*own, codec=codec, suite=suite)
            yield plain
            if adapter.checksums and (
                adapter.checksum_codecs is None or codec in adapter.checksum_codecs
            ):
                yield replace(plain, conditions=Conditions({"checksums": ON}))


def _is_published(family: str, label: str) -> bool:
    return family == "tables" and label in PUBLISHED


def _codecs(family: str, label: str, adapter: BaseAdapter) -> list[str | None]:
    offered = [each.name for each in adapter.codecs] if isinstance(adapter, CodecChoice) else []
    if _is_published(family, label):
        return [None, *PUBLISHED[label]]
    # Further engines write the same codecs through the same libraries in most cases.
    has_further = FURTHER_CODEC in offered and "[" not in label
    return [None, FURTHER_CODEC] if has_further else [None]


def counts(case: Case, flips: int) -> dict[Kind, int]:
    """Return the number of trials of each kind: a tenth as many of other kinds as of flips."""
    if not _is_published(case.family.name, label_of(case)):
        flips = min(flips, MOST_FLIPS)
    return {kind: flips if kind is Kind.FLIP else max(1, flips // 10) for kind in Kind}


def label_of(case: Case) -> str:
    """Return the label of the reader of a case: its format, or a program's."""
    return case.by if isinstance(case, SummedCase) else case.format


def file_of(case: Case, seed: int) -> DamageRow:
    """Return the cell of a case's intact file, without facts."""
    own = case.family.name, label_of(case), case.codec or NO_CODEC, case.dataset, case.rows
    return DamageRow(*own, case.conditions.get("checksums", ""), seed)


class Trials:
    """Trials of cases, in processes of their own.

    Parameters
    ----------
    agenda : Agenda
        The folder of the results, and of files while they are tried, and the rows in it.
    seed : int
        Seed of the damages.
    flips : int
        Flipped bits of each format of the published table; others get fewer.
    limits : TrialLimits, optional
        Limits of a trial.
    """

    def __init__(
        self,
        agenda: Agenda[DamageRow],
        *,
        seed: int,
        flips: int,
        limits: TrialLimits | None = None,
    ) -> None:
        self.agenda, self.seed, self.flips = agenda, seed, flips
        self.out = agenda.out or Path()
        self.known = {(each.file, each.damage): each for each in agenda.known}
        self.limits = limits or TrialLimits()

    def run(self, cases: Sequence[Case]) -> Iterator[DamageRow]:
        """Yield the rows of all cases that are not known."""
        with folders.make(self.out) as folder:
            for case in cases:
                wanted = self.missing(case)
                if self.agenda.has(not wanted, format=label_of(case), dataset=case.dataset):
                    with ExitStack() as stack:
                        place = folder / "case"
                        place.mkdir()
                        stack.callback(shutil.rmtree, place)
                        yield from self._tried(case, wanted, folder, place)

    def missing(self, case: Case) -> list[tuple[Kind, int]]:
        """Return the kinds and numbers of the trials of a case that are to be made."""
        file = file_of(case, self.seed)
        if (intact := self.known.get((file, ""))) and intact.status == CellStatus.UNSUPPORTED:
            return []
        found = []
        for kind, count in counts(case, self.flips).items():
            row = self.known.get((file, kind.value))
            if row is None or (len(row.effect) < count and not row.status):
                found += [(kind, number) for number in range(count)]
        return found

    def _tried(
        self, case: Case, wanted: Sequence[tuple[Kind, int]], folder: Path, place: Path
    ) -> Iterator[DamageRow]:
        file, program = file_of(case, self.seed), program_of(case)
        if program and (lacking := program.implementation.lacking()):
            yield replace(file, status=CellStatus.UNAVAILABLE, sentence=lacking)
            return
        call = partial(isolated, case, limit_seconds=LIMIT_SECONDS, folder=folder)
        data = folder / f"{file.family}-{file.dataset}-{file.rows}"
        ready = Outcome() if data.exists() else call(store_data, case, data)
        operate: Operate = partial(operations_on, case, is_warm=False)
        if program:
            operate = partial(summing_on, case, program)
        ready = ready if ready.status else call(prepare, operate, data, place)
        tried = ready if ready.status else self._trials(call, operate, ready.value, wanted)
        if tried.status:
            yield replace(file, status=tried.status, sentence=tried.sentence)
            return
        costs: dict[str, Any] = {}
        if file.checksums:
            plain = replace(case, conditions=Conditions())
            both = [partial(operations_on, each, is_warm=False) for each in (plain, case)]
            cost = call(measure_cost, both, data, place)
            costs = {} if cost.status else cost.value
        adapter = registry_of(case.family).find(case.format)
        libraries = {name: found or "missing" for name, found in versions(adapter.requires).items()}
        if program:
            # The folder's name is of the sources and of all versions that they pin.
            libraries[program.implementation.name] = program.implementation.place.name
        facts = facts_sentence(f"{datetime.now(UTC):%Y-%m-%d}", libraries)
        yield replace(file, size=ready.value.size_bytes, sentence=facts, **costs)
        own = (
            file.family,
            file.format,
            case.codec,
            file.checksums and "checksums",
            file.dataset,
            file.rows,
        )
        beside = evidence(self.out, DAMAGED, ".jsonl", *own)
        with (self.out / beside).open("ab") as lines:
            lines.writelines(msgspec.json.encode(each) + b"\n" for each in tried.value)
        for kind in dict.fromkeys(kind for kind, _ in wanted):
            yield file.of(kind, [each for each in tried.value if each.kind is kind], str(beside))

    def _trials(
        self, call: Any, operate: Operate, prepared: IntactFile, wanted: Sequence[tuple[Kind, int]]
    ) -> Outcome:
        """Return the trials in the order wanted, or why there are none."""

        def tried(wanted: Sequence[tuple[Kind, int]], *, warm: bool) -> Outcome:
            outcome = call(run_trials, operate, prepared, wanted, self.seed, self.limits, warm)
            if outcome.status:
                return outcome
            found: DamageTrials = outcome.value
            failed = Outcome(status=CellStatus.FAILED, sentence=found.problem)
            return failed if found.problem else Outcome(found.trials)

        first = tried(wanted, warm=True)
        if first.status:
            # Threads of a library do not live on in a forked process.
            return tried(wanted, warm=False)
        suspects = [
            (each.kind, each.number)
            for each in first.value
            if each.verdict and each.verdict.outcome in ENDS
        ]
        # Again in processes that have not read before, to which the end may not come.
        again = tried(suspects, warm=False) if suspects else Outcome(())
        confirmed = {(each.kind, each.number): each for each in again.value or ()}
        return Outcome([confirmed.get((each.kind, each.number), each) for each in first.value])


def measure_cost(both: Sequence[Operate], data: Path, folder: Path) -> dict[str, float]:
    """Save and read without and with checksums in turn, and return the ratios of the least CPU times.

    The CPU time of all threads counts, since other work on the machine changes it less than wall time.
    """
    with ExitStack() as stack:
        operations = [stack.enter_context(each(data)) for each in both]
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
        sizes = [each.adapter.size_bytes(files[place]) for place, each in enumerate(operations)]
    # The first calls import libraries.
    save, read = ([min(times[1:]) for times in of] for of in (saves, reads))
    return {
        "save_cost": save[1] / save[0],
        "read_cost": read[1] / read[0],
        "size_cost": sizes[1] / sizes[0],
    }


def _told(row: DamageRow) -> str:
    name = f"{row.family}: {row.name}"
    if row.status:
        return f"{name}: {row.status}: {row.sentence}"
    found = joined([f"{count} {each}" for each, count in row.outcomes.items()], most=None)
    return f"{name}: {row.damage}, {plural(len(row.effect), 'read')}: {found}" if row.damage else name


DAMAGE = Instrument(FORM, measure, _told, facts=page.facts, needs_out=True)
