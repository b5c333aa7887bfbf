"""Trials of the study of media: saves and cold reads of a format, each in a fresh process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import data_formats
import query_engines
from adapter_core import UnsupportedError
from adapter_core.query import TABLE, Query
from format_bench.families.tables.subject import layouts
from format_bench.instruments import page_cache
from format_bench.instruments.clock import Stopwatch
from format_bench.instruments.medium import DeviceWatch, MediumFacts, seeks_at
from format_bench.studies.storage.results import DATASET

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        pair.engine.check(label, query)
        handle = pair.engine.open(label, pair.paths(folder))
        try:
            return pair.engine.answer(handle, query)
        finally:
            pair.engine.close(handle)

    return rows
