"""Measurement of a store with some chunks: queries to a file, in a process of their own."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import array_stores
from adapter_core.errors import WrongValuesError
from format_bench.families.cases import Case
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.clock import Stopwatch
from format_bench.instruments.touch import touch_array

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np

    from adapter_core import ArrayStore
    from adapter_core.array_source import Selection
    from format_bench.planning.mix import MixQuery
    from format_bench.planning.sample import StoredSample

MOST_REPEATS = 3
"""Calls of a query in a process."""


@dataclass(frozen=True)
class Layout:
    """A store, its codec, and a shape of chunks."""

    store: str
    codec: str | None
    level: int | None
    chunks: tuple[int, ...]

    @property
    def name(self) -> str:
        """Store and chunks as text."""
        return f"{self.store} {by(self.chunks)}"

    @property
    def case(self) -> Case:
        """The store as a case, whose conditions its processes are under."""
        return Case(self.store, "sample", 1, codec=self.codec, level=self.level, suite="chunks")


@dataclass(frozen=True)
class ReadPlan:
    """Queries to one file."""

    queries: tuple[MixQuery, ...]
    keep_open: bool = False
    """Leave opening outside the clock."""
    cold: bool = False
    turn: int = 0
    """Number of the turn, which random places depend on."""
    same_places: bool = True
    """Read from all layouts at the same random places."""
    budget_seconds: float = 0.3
    """Time of the repeats of all queries."""


@dataclass
class LayoutReads:
    """Measured facts of one layout in one process."""

    save_seconds: float = 0.0
    """0 if the file was there before."""
    size_bytes: int = 0
    files: int = 0
    seconds: list[float] = field(default_factory=list)
    """Time of each query: the least of its calls, since other programs only add to a time."""
    places: list[Selection] = field(default_factory=list)
    """Selection of each query, the same in its calls."""


def by(shape: Sequence[int]) -> str:
    """Return a shape as text, e.g. "1 x 50 x 100"."""
    return " x ".join(f"{edge:,}" for edge in shape)


def file_of(layout: Layout, folder: Path) -> Path:
    """Return the file of a layout in a folder."""
    edges = "x".join(map(str, layout.chunks))
    stem = "".join(letter if letter.isalnum() else "_" for letter in layout.store)
    return folder / f"{stem}-{edges}{array_stores.find(layout.store).suffix}"


def remove(file: Path) -> None:
    """Remove a file or directory, if there is one."""
    if file.is_dir():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)


def measure_each(  # noqa: PLR0913 (one for each fact)
    layouts: Sequence[Layout],
    sample: StoredSample,
    folder: Path,
    plan: ReadPlan,
    deadline_seconds: float,
    *,
    keep: bool,
) -> dict[Layout, LayoutReads | str]:
    """Measure layouts of one store, one after another; the errors of the others are their messages.

    Parameters
    ----------
    layouts : sequence of Layout
        Of one store.
    sample : StoredSample
        The data.
    folder : Path
        Folder of the files.
    plan : ReadPlan
        The queries.
    deadline_seconds : float
        Wall time after which no further layout is measured.
    keep : bool
        Keep the files.
    """
    start = time.monotonic()
    found: dict[Layout, LayoutReads | str] = {}
    for layout in layouts:
        if time.monotonic() - start > deadline_seconds:
            break
        file = file_of(layout, folder)
        try:
            found[layout] = measure(layout, sample, file, plan)
        except Exception as error:
            found[layout] = isolation.outcome_of(error).sentence
        if not keep or isinstance(found[layout], str):
            remove(file)
    return found


def measure(layout: Layout, sample: StoredSample, file: Path, plan: ReadPlan) -> LayoutReads:
    """Save the sample if its file is missing, and time the queries of a plan; each answer is checked.

    The clock includes opening, unless the plan leaves it out. Every call opens the file anew: caches of
    the library are empty.

    Raises
    ------
    WrongValuesError
        If an answer differs from NumPy's.
    CannotHoldError
        If the store cannot keep the array with such chunks.
    NotColdError
        If the file could not be evicted from the page cache.
    """
    store = array_stores.get(layout.store)
    found = LayoutReads()
    if not file.exists():
        start = time.perf_counter()
        store.save(sample.source(layout.chunks), file, None, layout.codec, layout.level)
        found.save_seconds = time.perf_counter() - start
    for each in page_cache.files_of(file):
        found.size_bytes += each.stat().st_size
        found.files += 1
    truth = sample.values()
    key = (plan.turn,) if plan.same_places else (plan.turn, *layout.chunks)
    found.places = [query.selection(truth.shape, *key) for query in plan.queries]
    # What a library does once in a process is no cost of a query, nor is fresh memory.
    for place in found.places[: 1 if plan.cold else None]:
        _timed(store, file, place, plan, truth)
    share = plan.budget_seconds / len(plan.queries)
    for place in found.places:
        seconds: list[float] = []
        end = time.perf_counter() + share
        while not seconds or (len(seconds) < MOST_REPEATS and time.perf_counter() < end):
            seconds.append(_timed(store, file, place, plan, truth))
        found.seconds.append(min(seconds))
    return found


def _timed(store: ArrayStore, file: Path, place: Selection, plan: ReadPlan, truth: np.ndarray) -> float:
    """Return the seconds of a query."""
    import numpy as np

    if plan.cold:
        page_cache.make_cold(file)
    stopwatch = Stopwatch()
    reader = store.open(file) if plan.keep_open else None
    with stopwatch:
        if reader is None:
            reader = store.open(file)
        values = reader.read(place)
        touch_array(values)
    # While the file is open: the answer may be a part of it.
    expected, is_float = truth[place], truth.dtype.kind in "fc"
    is_right = values.shape == expected.shape and np.array_equal(values, expected, equal_nan=is_float)
    reader.close()
    if not is_right:
        raise WrongValuesError(f"{store.label}: an answer differs from the values that were saved")
    return stopwatch.last.wall_seconds
