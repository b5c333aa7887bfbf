"""Instrument of the study of survival: changes of files, interrupted in fresh processes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from adapter_core import UnavailableError
from format_bench.families.cases import Case
from format_bench.families.operations import registry_of
from format_bench.instruments.isolation import Outcome
from format_bench.metadata.libraries import versions
from format_bench.results.display.text import joined
from format_bench.results.load import MOMENTS
from format_bench.results.suites import FAMILIES
from format_bench.runner import folders
from format_bench.runner.executor import isolated
from format_bench.runner.steps import operations_on, store_data
from format_bench.studies.damaging.counts import facts_sentence
from format_bench.studies.declared.rows import Agenda, Instrument, chosen_by_family, evidence
from format_bench.studies.surviving.moments import Fault
from format_bench.studies.surviving.survivors import FORM, SurvivalRow
from format_bench.studies.surviving.trials import ChangeTrials, Finding, prepare, run_trials
from format_bench.studies.surviving.ways import WAYS, Change, Way
from record_stores import JvmStore

DATASETS = {"tables": "eq", "images": "cifar-like", "arrays": "era5-small", "records": "entities"}
"""Data sets by family."""

ITEMS = {"images": 50, "arrays": 2, "records": 500}
"""Images, chunks and records of a version; chunks have 0.6 MB each."""

# Wall time of all trials of one change.
LIMIT_SECONDS = 1800.0


def measure(  # noqa: PLR0913 (the options of the study)
    agenda: Agenda[SurvivalRow],
    *,
    formats: str,
    families: str,
    rows: int,
    moments: int,
    limit: float,
) -> Iterator[SurvivalRow]:
    """Return the rows that a folder lacks, measured as they are taken.

    Raises
    ------
    UnknownNameError
        If a family or a format is unknown.
    """
    cells = [
        SurvivalRow(family, name, DATASETS[family], count, way.change, way.renamed, moments)
        for family, labels in chosen_by_family(formats, families, DATASETS).items()
        for count in [ITEMS.get(family, rows)]
        for name in sorted(labels, key=str.lower)
        for way in WAYS
        if _can(family, name, way)
    ]
    return _Changes(agenda, limit).rows(cells)


def _can(family: str, label: str, way: Way) -> bool:
    """Return whether a format is known here, and its library can change a file in a way."""
    try:
        adapter = registry_of(FAMILIES[family]).find(label)
    except UnavailableError:
        return False
    # The calls of a JVM are those of another process.
    return not isinstance(adapter, JvmStore) and way.is_of(adapter)


class _Changes:
    """Changes of files, each tried in processes of its own.

    Parameters
    ----------
    agenda : Agenda
        The folder of the results, and of files while they are tried, and the rows in it.
    limit_seconds : float
        Wall time after which a reader counts as hanging.
    """

    def __init__(self, agenda: Agenda[SurvivalRow], limit_seconds: float) -> None:
        self._agenda, self._limit = agenda, limit_seconds
        self._out = agenda.out or Path()
        self._judged: dict[tuple[str, str], dict[str, tuple[Finding, str]]] = {}
        """Verdicts on files by family and format; a save and a replacement make the same new version."""

    def rows(self, cells: list[SurvivalRow]) -> Iterator[SurvivalRow]:
        """Yield the rows of all cells that are not known."""
        names = ("family", "format", "dataset", "rows", "change", "renamed", "moments")
        with folders.make(self._out) as folder:
            for cell in cells:
                if self._agenda.has(**{name: getattr(cell, name) for name in names}):
                    with ExitStack() as stack:
                        place = folder / "change"
                        place.mkdir()
                        stack.callback(shutil.rmtree, place)
                        yield from self._tried(cell, folder, place)

    def _tried(self, cell: SurvivalRow, folder: Path, place: Path) -> Iterator[SurvivalRow]:
        suite = FAMILIES[cell.family].suites[0].name
        # Of twice as many rows: both versions are of one data set.
        case = Case(cell.format, cell.dataset, 2 * cell.rows, suite=suite)
        call: Any = partial(isolated, case, limit_seconds=LIMIT_SECONDS, folder=folder)
        data = folder / f"{cell.family}-{cell.dataset}-{case.rows}"
        ready = Outcome() if data.exists() else call(store_data, case, data)
        operate = partial(operations_on, case, is_warm=False)
        asked = data, cell.rows, cell.way
        ready = ready if ready.status else call(prepare, operate, *asked, place)
        judged: dict[str, tuple[Finding, str]] = {}
        if cell.way.change in {Change.SAVE, Change.REPLACE}:
            judged = self._judged.setdefault((cell.family, cell.format), judged)
        how = cell.moments, self._limit, judged
        tried = ready if ready.status else call(run_trials, operate, ready.value, *asked, *how)
        if tried.status:
            yield replace(cell, status=tried.status, sentence=tried.sentence)
            return
        judged |= tried.value.judged
        yield from self._rows_of(cell, tried.value)

    def _rows_of(self, cell: SurvivalRow, tried: ChangeTrials) -> Iterator[SurvivalRow]:
        adapter = registry_of(FAMILIES[cell.family]).find(cell.format)
        libraries = {name: found or "missing" for name, found in versions(adapter.requires).items()}
        yield cell.facts(tried, facts_sentence(f"{datetime.now(UTC):%Y-%m-%d}", libraries))
        own = cell.family, cell.format, cell.dataset, cell.rows, cell.change, cell.renamed, cell.moments
        beside = evidence(self._out, MOMENTS, ".jsonl", *own)
        (self._out / beside).write_bytes(
            b"".join(msgspec.json.encode(each) + b"\n" for each in tried.trials)
        )
        for fault in Fault:
            yield cell.of(fault, tried, str(beside))


def _told(row: SurvivalRow) -> str:
    name = " ".join(filter(None, [f"{row.family}: {row.format}, {row.change}", row.renamed]))
    if row.status:
        return (
            f"{name}, {row.fault}: {row.status}: {row.sentence}"
            if row.fault
            else (f"{name}: {row.status}: {row.sentence}")
        )
    if not row.fault:
        return f"{name}: {row.calls} calls"
    found = joined([f"{count} {each}" for each, count in row.verdicts.items()], most=None)
    return f"{name}, {row.fault}: {found}"


SURVIVAL = Instrument(FORM, measure, _told, needs_out=True)
