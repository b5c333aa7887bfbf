"""Rows of a study that measures by its own code, kept as records while they are measured."""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from adapter_core.errors import InvalidRequestError, InvalidResultsError, UnknownNameError
from format_bench.families.operations import registry_of
from format_bench.instruments.intervals import share_interval
from format_bench.metadata import run_metadata
from format_bench.metadata.run_metadata import RunMetadataFiles
from format_bench.results import records
from format_bench.results.display.text import joined, plural
from format_bench.results.load import RESULTS, Results, metadata_beside, without_unasked
from format_bench.results.records import Record
from format_bench.results.status import CellStatus, is_of_surroundings
from format_bench.results.study_rows import StudyFile, StudyForm, read
from format_bench.results.suites import FAMILIES
from format_bench.runner import folders
from format_bench.runner.executor import TimeBudget
from format_bench.runner.shards import WHOLE, Shard

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from format_bench.instruments.threads import Threads

    Row = TypeVar("Row", bound=DataclassInstance)
else:
    Row = TypeVar("Row")


class Agenda(Generic[Row]):
    """The cells of a study that are still to be measured: of its shard, unknown, and while time is left.

    Instruments yield the rows of a cell when all are measured, so that a killed one is not known.

    Parameters
    ----------
    known : sequence
        Rows that the folder of results has.
    done : sequence
        Known rows that are not measured again.
    out : Path, optional
        The folder of results, for instruments whose measured files other machines see as well.
    shard : Shard
        Which of the cells are measured.
    seconds : float
        Wall time after which no cell starts.
    """

    def __init__(
        self,
        known: Sequence[Row] = (),
        done: Sequence[Row] = (),
        out: Path | None = None,
        shard: Shard = WHOLE,
        seconds: float = math.inf,
    ) -> None:
        self.known, self.out, self._done, self._shard = known, out, done, shard
        self.again: Sequence[Row] = ()
        """Known rows that failed with their surroundings: their cells are measured again as a whole."""
        self.budget = TimeBudget(seconds)
        self.facts: dict[str, Any] = {}
        """Facts for the metadata of the run; an instrument sets them before it returns its rows."""
        self.begin: Callable[[], object] = lambda: None
        """Called before the first cell is measured, so that the metadata are of this moment."""
        self._asked = 0
        self._late = list[str]()

    def has(self, is_known: bool | None = None, /, **facts: object) -> bool:  # noqa: FBT001
        """Return whether the cell of these facts is to be measured; called for each cell in order.

        It is known if a row that is done has the facts, and none that is measured again, unless the
        instrument knows better.
        """
        self._asked += 1
        # Neighbours, which cost alike, come to different shards.
        if (self._asked - 1) % self._shard.of != self._shard.number - 1:
            return False
        if is_known is None:
            is_known = _has(self._done, facts) and not _has(self.again, facts)
        if is_known:
            return False
        if self.budget.is_spent():
            self._late.append(", ".join(map(str, facts.values())))
            return False
        self.begin()
        return True

    def remark(self) -> str:
        """Return a sentence on the cells that the time did not suffice for; empty if for all."""
        if not self._late:
            return ""
        cells = f"{plural(len(self._late), 'cell')} ({joined(self._late, most=3)})"
        return f"not measured, since the time is spent: {cells}; the same command resumes"

    @property
    def nothing(self) -> str:
        """Advice if the time was spent before the first cell, as a sentence; else empty."""
        if not self._late:
            return ""
        return (
            f"--time-budget was spent before the first of {plural(len(self._late), 'cell')} "
            f"({self._late[0]}): give more time, as in --time-budget 10m"
        )


def _has(rows: Iterable[Row], facts: Mapping[str, object]) -> bool:
    """Return whether one of some rows has the facts."""
    return any(all(getattr(row, name) == value for name, value in facts.items()) for row in rows)


@dataclass(frozen=True)
class Instrument(Generic[Row]):
    """Measurement of the rows of a study that no suite measures."""

    form: StudyForm[Row]
    measure: Callable[..., Iterable[Row]]
    """Takes an `Agenda`, and the options of the study by name; refuses bad ones before it returns the
    rows."""
    told: Callable[[Row], str]
    """A row as a line of progress; several of the same line are one."""
    facts: Callable[[Sequence[Row]], str] | None = None
    """A summary that the package ships, as CSV."""
    needs_out: bool = False
    """Whether it measures for too long to forget the rows."""

    def run(
        self, out: Path | None, shard: Shard = WHOLE, seconds: float = math.inf, **options: object
    ) -> tuple[list[Row], Results]:
        """Measure rows into a folder, or a table that ends in .csv, with a line of progress for each.

        Parameters
        ----------
        out : Path, optional
            The folder of the results, whose cells are not measured again; a file of an earlier version
            goes on in the folder of its name. By default the rows are not kept.
        shard, seconds
            As `Agenda` takes them.
        **options
            Options of the study.

        Raises
        ------
        InvalidRequestError
            If the time is spent before the first cell.
        """
        folder, known = (out, list[Row]()) if out is None or out.suffix == ".csv" else self._opened(out)
        agenda = Agenda(known, self._done(known), folder, shard, seconds)
        agenda.again = [each for each in known if self._failed_with_surroundings(each)]
        rows, start, last = list[Row](), time.monotonic(), ""
        for row in kept(self.form, folder, self.measure(agenda, **options), agenda):
            rows.append(row)
            if (told := self.told(row)) != last:
                click.echo(f"[{time.monotonic() - start:.0f} s] {told}", err=True)
            last = told
        if not (rows or known) and agenda.nothing:
            raise InvalidRequestError(agenda.nothing)
        if remark := agenda.remark():
            click.echo(remark, err=True)
        if folder is None or folder.suffix == ".csv":
            return rows, self._results(rows, *([folder] if folder else []))
        return self.read(folder)

    def _done(self, known: Iterable[Row]) -> list[Row]:
        """Return the rows that are not measured again: with values, or unsupported."""
        return [each for each in known if self.form.status_of(each) in {"", CellStatus.UNSUPPORTED}]

    def _failed_with_surroundings(self, row: Row) -> bool:
        status = self.form.status_of(row)
        return bool(status) and is_of_surroundings(CellStatus(status), getattr(row, self.form.reason))

    def _opened(self, out: Path) -> tuple[Path, list[Row]]:
        """Return a folder of results and its rows, which are in its records from now on.

        A file of JSON of an earlier version goes on in the folder of its name.
        """
        is_file = out.suffix == ".json"
        folder = out.with_suffix("") if is_file else out
        recorded = read(self.form, folder / RESULTS) if (folder / RESULTS).is_file() else []
        known = recorded
        if (is_file and out.is_file() and not recorded) or (out / self.form.earlier).is_file():
            known = read(self.form, out)
            file = StudyFile(self.form, folder)
            for each in known:
                if each not in recorded:
                    file.append(each)
            if is_file:
                facts = {"started": "", **self.form.earlier_facts(out)}
                run_metadata.write(facts, folder / out.name)
        return folder, known

    def read(self, *paths: Path) -> tuple[list[Row], Results]:
        """Return the rows of one or several runs, and the results that they make.

        Raises
        ------
        InvalidResultsError
            If there are none.
        """
        rows = [row for path in paths for row in read(self.form, path)]
        if not rows:
            raise InvalidResultsError(f"{paths[0]} contains no results")
        return rows, self._results(rows, *paths)

    def _results(self, rows: Sequence[Row], *paths: Path) -> Results:
        found = [record for row in rows for record in self.form.records(row, "")]
        metadata = list[dict[str, Any]]()
        for path in paths:
            of_file = path.suffix == ".json" and path.is_file()
            metadata += [self.form.earlier_facts(path)] if of_file else metadata_beside(path)
        return Results(self.form.suite, without_unasked(found), metadata)


def chosen(formats: str, known: Sequence[str]) -> list[str]:
    """Return the formats that an option names with commas, all known ones if it names none.

    Raises
    ------
    UnknownNameError
        If there is none of a name.
    """
    labels = [each for each in formats.split(",") if each]
    for label in labels:
        if label not in known:
            raise UnknownNameError("format", label, known)
    return labels or list(known)


def chosen_by_family(
    formats: str,
    families: str,
    known: Collection[str],
    further: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> dict[str, list[str]]:
    """Return the formats that an option names, by the families that another option names.

    Parameters
    ----------
    formats, families : str
        Names with commas; no formats for all.
    known : collection of str
        The families of the study.
    further : mapping of str to collection of str
        Labels by family beside the adapters'.

    Raises
    ------
    UnknownNameError
        If there is no format, or no family of the study, of a name.
    """
    names = {}
    for family in families.split(","):
        if family not in known:
            raise UnknownNameError("family", family, known)
        names[family] = [*registry_of(FAMILIES[family]).names(), *further.get(family, ())]
    labels = chosen(formats, [name for each in names.values() for name in each])
    return {family: [name for name in each if name in labels] for family, each in names.items()}


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows by the values of some fields."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(getattr(row, name) for name in names), []).append(row)
    return groups


def earlier_results(form: StudyForm[Any], path: Path) -> Results:
    """Return the results in a table of earlier versions of a study that a suite measures now."""
    found = [each for row in read(form, path) for each in form.records(row, "")]
    last = {records.key(each): each for each in map(records.renewed, found)}
    return Results(path.stem, list(last.values()), metadata_beside(path))


def kept(
    form: StudyForm[Row], out: Path | None, rows: Iterable[Row], agenda: Agenda[Row] | None = None
) -> Iterator[Row]:
    """Yield rows, each when it is on disk; the metadata of the run are beside them.

    Parameters
    ----------
    form : StudyForm
        Their form.
    out : Path, optional
        The folder of the results, or a table that ends in .csv; by default the rows are not kept.
    rows : iterable
        The rows, measured as they are taken.
    agenda : Agenda, optional
        Its facts go with the metadata.
    """
    if out is None:
        yield from rows
        return
    file = StudyFile(form, out)
    if out.suffix == ".csv":
        yield from map(file.appended, rows)
        return
    policy: Threads = "1" if form.threads == "1" else "all"
    agenda = agenda or Agenda()
    place = Path(tempfile.gettempdir())
    files = RunMetadataFiles(out, file.run_id, place, scale="", facts=agenda.facts)
    with folders.only_run(out), files as metadata:
        agenda.begin = partial(metadata.start, policy)
        for row in rows:
            agenda.begin()
            yield file.appended(row)


def evidence(out: Path, folder: str, suffix: str, *facts: object) -> Path:
    """Return a file for evidence beside results, relative to them; make its folder.

    Parameters
    ----------
    out : Path
        The folder of the results.
    folder : str
        One of `EVIDENCE`.
    suffix : str
        The end of the file's name.
    *facts
        Facts that identify the cell.
    """
    (out / folder).mkdir(exist_ok=True)
    return Path(folder, re.sub(r"[^\w.]+", "-", "-".join(map(str, filter(None, facts)))) + suffix)


@dataclass(frozen=True)
class ShareForm(StudyForm[Row]):
    """Form of rows with a tuple of 0 and 1, one for each trial, per class of outcomes."""

    def records(self, row: Row, run_id: str) -> Iterator[Record]:
        """Yield the records of a row, with the intervals of shares."""
        flags = {self._metric_of_flags(row, name) for name in self.values}
        for each in super().records(row, run_id):
            if each.metric in flags and each.repeats:
                interval = [*share_interval(int(sum(each.repeats)), len(each.repeats))]
                yield replace(each, value=fmean(each.repeats), interval=interval)
            else:
                yield each

    def _metric_of_flags(self, row: Row, name: str) -> str:
        metric = self.metric_of(row, name)
        return metric[0] if metric and isinstance(getattr(row, name), tuple) else ""
