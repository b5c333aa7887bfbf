"""Rows of a study that measures by its own code, kept as records while they are measured."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from format_bench.metadata.run_metadata import RunMetadataFiles
from format_bench.results.study_rows import StudyFile

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from format_bench.instruments.threads import Threads
    from format_bench.results.study_rows import StudyForm

    Row = TypeVar("Row", bound=DataclassInstance)


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
