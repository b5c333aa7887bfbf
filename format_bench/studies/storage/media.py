"""Study of media: durable saves and cold reads of table formats on several media, in fresh processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import data_formats
import query_engines
from adapter_core import UnsupportedError
from adapter_core.errors import InvalidRequestError, InvalidResultsError
from adapter_core.query import TABLE, Query
from data_generator import catalog
from format_bench.families.tables.subject import Subject, layouts
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.clock import Stopwatch
from format_bench.instruments.medium import DeviceWatch, MediumFacts, seeks_at
from format_bench.runner import folders
from format_bench.runner.executor import TimeBudget
from format_bench.runner.media import ComparedMedium, Scratch, compared, for_data
from format_bench.studies.declared.rows import Agenda, Instrument, chosen
from format_bench.studies.storage.storage_cell import DATASET, FORM, QUESTIONS, SAVE, StorageCell

PREFERRED = {
    "Feather": "pyarrow",
    "ORC": "pyarrow",
    "CSV": "polars",
    "JSON": "polars",
    "HDF5.table": "pytables",
}
"""Engines that the question for rows goes to, where several could answer."""

_OTHERS = ("sqlite3", "duckdb", "polars", "pyarrow", "pandas")


@dataclass(frozen=True)
class Taken:
    """One time, and the reads behind it."""

    seconds: float
    requests: int | None = None
    read_bytes: int | None = None
    seeks: int | None = None
    file_bytes: int = 0


def engine_of(label: str) -> str:
    """Return the label of the query engine for a format: its own, else the first of the usual ones."""
    known = query_engines.names()
    wanted = (PREFERRED.get(label, ""), label.lower(), *_OTHERS)
    return next((each for each in wanted if f"{label}[{each}]" in known), "")


def path_of(label: str, folder: Path) -> Path:
    """Return the path of a format's file in a folder, as query engines expect it."""
    return folder / f"{TABLE}{data_formats.find(label).suffix}"


def save(label: str, data: Path, small: Path, folder: Path) -> Taken:
    """Save a table so that it survives a power failure; leave it, and a small one, for the reads.

    Parameters
    ----------
    label : str
        A table format.
    data : Path
        The pickled table.
    small, folder : Path
        The folders for the small table, on which libraries are warmed up, and for the measured file.
    """
    import pandas as pd

    adapter = data_formats.get(label)
    df = pd.read_pickle(data)  # noqa: S301 (our own file)
    adapter.check(df)
    small.mkdir(exist_ok=True)
    adapter.save(df.iloc[: len(_few())].reset_index(drop=True), path_of(label, small))
    path = path_of(label, folder)
    adapter.remove(path)
    unchecked = adapter.without_check()
    stopwatch = Stopwatch()
    with stopwatch:
        unchecked.save(df, path)
        page_cache.sync(path)
    return Taken(stopwatch.last.wall_seconds, file_bytes=adapter.size_bytes(path))


def read(label: str, question: str, small: Path, folder: Path, positions: Sequence[int]) -> Taken:
    """Read from a file that is not in the page cache, after the same question to a small table.

    On media in memory, where nothing is cold, the file is read as it is.

    Raises
    ------
    UnsupportedError
        If the format cannot be asked that.
    NotColdError
        If the file cannot be evicted.
    """
    ask = _asker(label, question)
    ask(small, _few())
    path = path_of(label, folder)
    if not MediumFacts.of(folder).is_in_memory:
        page_cache.make_cold(path)
    watch, stopwatch = DeviceWatch(folder), Stopwatch()
    seeks = seeks_at(folder)
    with watch, stopwatch:
        ask(folder, positions)
    later = seeks_at(folder)
    counted = watch.counted[0] if watch.counted and watch.is_own else None
    return Taken(
        stopwatch.last.wall_seconds,
        counted.requests if counted else None,
        counted.read_bytes if counted else None,
        None if later is None or seeks is None else later - seeks,
    )


def _few() -> range:
    """Return the numbers of the rows of the small table."""
    return range(100)


def _asker(label: str, question: str) -> Callable[[Path, Sequence[int]], Any]:
    """Return a function that asks the table in a folder; rows by the numbers given."""
    adapter = data_formats.get(label)
    layout = layouts()[DATASET]
    if question == "whole":
        return lambda folder, _: adapter.read(path_of(label, folder))
    if question == "columns":
        return lambda folder, _: adapter.read(path_of(label, folder), columns=layout["pair"])
    name = engine_of(label)
    if not name:
        raise UnsupportedError(f"no query engine reads {label}, and its adapter has no random rows")
    pair = query_engines.get(f"{label}[{name}]")
    columns = [layout["sorted"], layout["random"], *layout["ten"]]

    def rows(folder: Path, positions: Sequence[int]) -> Any:
        query = Query(columns=list(dict.fromkeys(columns)), positions=positions)
        pair.check_query(query)
        handle = pair.engine.open(label, pair.paths(folder))
        try:
            return pair.engine.answer(handle, query)
        finally:
            pair.engine.close(handle)

    return rows


# As many as the question in `QUESTIONS` says.
READ_ROWS = 100

# Ends a step that hangs; the others of the round go on.
LIMIT_SECONDS = 300.0

# By format, question and medium.
_Cells = dict[tuple[str, str, str], StorageCell]


def measure(  # noqa: PLR0913 (the options of the study)
    agenda: Agenda[StorageCell],
    *,
    scratch: Sequence[str],
    formats: str,
    rows: int,
    rounds: int,
    minutes: float | None,
) -> Iterator[StorageCell]:
    """Return the cells of formats on media, format by format in each round.

    Raises
    ------
    UnknownNameError
        If there is no format of a name.
    InvalidRequestError
        If there are fewer than two media.
    InvalidResultsError
        If the folder has results of other media or other rows.
    """
    labels = chosen(formats, data_formats.names())
    media = compared(map(Scratch.parse, scratch))
    if len(media) < 2:  # noqa: PLR2004 (a comparison)
        raise InvalidRequestError("at least two --scratch are needed, each on a medium of its own")
    return measured(agenda, media, labels, rows, rounds=rounds, minutes=minutes)


def measured(  # noqa: PLR0913 (a plan)
    agenda: Agenda[StorageCell],
    media: Sequence[ComparedMedium],
    labels: Sequence[str],
    rows: int,
    *,
    rounds: int,
    minutes: float | None = None,
) -> Iterator[StorageCell]:
    """Return the cells of formats on media, for errors see `measure`."""
    names = {each.name: each.metadata for each in media}
    cells: _Cells = {(each.format, each.question, each.medium): each for each in agenda.known}
    if others := {(each.rows, each.medium) for each in agenda.known} - {(rows, name) for name in names}:
        known = ", ".join(dict.fromkeys(each.medium for each in agenda.known))
        raise InvalidResultsError(
            f"{agenda.out} has results of {min(others)[0]:,} rows on {known}; name another --out"
        )
    agenda.facts |= {"media": names, "formats": [*labels]}
    if minutes is not None:
        agenda.budget = TimeBudget(60 * minutes)
    return _in_rounds(agenda, media, labels, cells, rows, rounds)


def _in_rounds(  # noqa: PLR0913, PLR0917 (a plan)
    agenda: Agenda[StorageCell],
    media: Sequence[ComparedMedium],
    labels: Sequence[str],
    cells: _Cells,
    rows: int,
    rounds: int,
) -> Iterator[StorageCell]:
    with ExitStack() as stack:
        own = {each.name: stack.enter_context(folders.make(each.folder)) for each in media}
        place = stack.enter_context(folders.make(for_data(media)))
        df: Any = catalog.table(DATASET, rows).df
        positions = Subject(DATASET, {"data": df}).positions(READ_ROWS)
        df.to_pickle(place / "data")
        del df
        for number in range(1, rounds + 1):
            for label in labels:
                known = [cells.get((label, each, name)) for each in QUESTIONS for name in own]
                is_known = all(
                    each and each not in agenda.again and (each.status or len(each.seconds) >= number)
                    for each in known
                )
                if agenda.has(is_known, round=number, format=label):
                    found = [*_measured(label, place, own, positions)]
                    for cell, outcome in found:
                        key = cell.format, cell.question, cell.medium
                        cells[key] = _joined(cells.get(key, replace(cell, rows=rows)), outcome)
                        yield cells[key]


def _measured(
    label: str, place: Path, own: dict[str, Path], positions: list[int]
) -> Iterator[tuple[StorageCell, isolation.Outcome]]:
    """Save a format on each medium and read it; yield each cell without values, and the outcome."""
    small = place / f"small-{label}"
    for medium, folder in own.items():
        saved = isolation.run(save, label, place / "data", small, folder, limit_seconds=LIMIT_SECONDS)
        yield StorageCell(label, "", SAVE, medium), saved
        cache = "warm" if MediumFacts.of(folder).is_in_memory else "cold"
        for question in [each for each in QUESTIONS if each != SAVE]:
            found = saved
            if not saved.status:
                what = label, question, small, folder, positions
                found = isolation.run(read, *what, limit_seconds=LIMIT_SECONDS)
            engine = engine_of(label) if question == "rows" else ""
            yield StorageCell(label, engine, question, medium, cache=cache), found
        # Its place is for the next format.
        data_formats.find(label).remove(path_of(label, folder))


def _joined(cell: StorageCell, outcome: isolation.Outcome) -> StorageCell:
    """Return a cell with one more time; a round that fails leaves the times of others."""
    if outcome.status:
        failed = replace(cell, status=outcome.status.value, sentence=outcome.sentence)
        return cell if cell.seconds else failed
    found: dict[str, Any] = asdict(outcome.value)
    seconds = (*cell.seconds, found.pop("seconds"))
    return replace(cell, seconds=seconds, status="", sentence="", **found)


MEDIA = Instrument(
    FORM,
    measure,
    lambda row: f"round {max(1, len(row.seconds))}: {row.format}",
    needs_out=True,
)
