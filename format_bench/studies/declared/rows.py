"""Rows of a study that measures by its own code, kept as records while they are measured."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from adapter_core.errors import InvalidResultsError
from format_bench.metadata.run_metadata import RunMetadataFiles
from format_bench.results import records
from format_bench.results.load import RESULTS, Results, metadata_beside, without_unasked
from format_bench.results.study_rows import StudyFile, StudyForm, read

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from format_bench.instruments.threads import Threads

    Row = TypeVar("Row", bound=DataclassInstance)
else:
    Row = TypeVar("Row")


@dataclass(frozen=True)
class Instrument(Generic[Row]):
    """What measures the rows of a study that no suite measures."""

    form: StudyForm[Row]
    measure: Callable[..., Iterable[Row]]
    """Takes the options of the study by name; refuses bad ones before it returns the rows."""
    told: Callable[[Row], str]
    """A row as a line of progress; several of the same line are one."""
    facts: Callable[[Sequence[Row]], str] | None = None
    """A summary that the package ships, as CSV."""
    needs_out: bool = False
    """Whether it measures for too long to forget the rows."""
    in_out: bool = False
    """Whether `measure` takes the folder of the results, too, for the measured files: workers on other
    machines may see no other."""
    resumes: bool = False
    """Whether `measure` takes the rows that the folder has as `known`, and leaves them out; the page is
    of both."""

    def run(self, out: Path | None, **options: object) -> tuple[list[Row], Results]:
        """Measure rows into a folder, or a table that ends in .csv, with a line of progress for each.

        Parameters
        ----------
        out : Path, optional
            As `kept` takes it.
        **options
            Those of the study.
        """
        rows, start, last = list[Row](), time.monotonic(), ""
        place: dict[str, Any] = {"out": out} if self.in_out else {}
        known, unrecorded = self._known(out) if self.resumes and out else ([], [])
        if self.resumes:
            place["known"] = known
        measured = chain(unrecorded, self.measure(**place, **options))
        for row in kept(self.form, out, measured, place.get("out")):
            rows.append(row)
            if (told := self.told(row)) != last:
                click.echo(f"[{time.monotonic() - start:.0f} s] {told}", err=True)
            last = told
        if self.resumes and out:
            return self.read(out)
        return rows, self._results(rows, *([out] if out else []))

    def _known(self, out: Path) -> tuple[list[Row], list[Row]]:
        """Return the rows of a folder, and those that its earlier file has and its records lack."""
        places = [out / name for name in (RESULTS, self.form.earlier) if name and (out / name).exists()]
        recorded = {*read(self.form, out / RESULTS)} if out / RESULTS in places else set()
        known = read(self.form, out) if places else []
        return known, [each for each in known if each not in recorded]

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
        metadata = [facts for path in paths for facts in metadata_beside(path)]
        return Results(self.form.suite, without_unasked(found), metadata)


def earlier_results(form: StudyForm[Any], path: Path) -> Results:
    """Return the results in a table of earlier versions of a study that a suite measures now."""
    found = [each for row in read(form, path) for each in form.records(row, "")]
    last = {records.key(each): each for each in map(records.renewed, found)}
    return Results(path.stem, list(last.values()), metadata_beside(path))


def kept(
    form: StudyForm[Row], out: Path | None, rows: Iterable[Row], scratch: Path | None = None
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
    scratch : Path, optional
        The folder of the measured files, by default the usual one of temporary files.
    """
    if out is None:
        yield from rows
        return
    file = StudyFile(form, out)
    if out.suffix == ".csv":
        yield from map(file.appended, rows)
        return
    policy: Threads = "1" if form.threads == "1" else "all"
    place = scratch or Path(tempfile.gettempdir())
    with RunMetadataFiles(out, file.run_id, place, scale="") as metadata:
        metadata.start(policy)
        yield from map(file.appended, rows)


def evidence(out: Path, folder: str, suffix: str, *facts: object) -> Path:
    """Return a file beside results for what is no number, relative to them; make its folder.

    Parameters
    ----------
    out : Path
        The folder of the results.
    folder : str
        `MAPS` or `DAMAGED`.
    suffix : str
        The end of the file's name.
    *facts
        What tells the cell apart.
    """
    (out / folder).mkdir(exist_ok=True)
    return Path(folder, re.sub(r"[^\w.]+", "-", "-".join(map(str, filter(None, facts)))) + suffix)
