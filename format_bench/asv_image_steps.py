"""The measured steps of the image suite that note more than asv asks for, or time by themselves."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from data_generator.bits import Bits
from format_bench import page_cache
from format_bench.asv_cell import WrongValues
from format_bench.asv_images import load
from format_bench.asv_steps import VERDICT, WRONG
from format_bench.clock import MIN_REPEATS
from format_bench.memory import Meter, measure
from format_bench.verify_images import verify_images

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_reader import ImageReader
    from adapter_core.image_storage import ImageStorage
    from format_bench.asv_images import ImageCell

BATCH = 32
"""Images of a batch; a usual size in training."""


SAVE_MEMORY = "save memory"


class SaveMeter:
    """Notes by how much the process grows in its first save; later ones find memory that it has kept."""

    def __init__(self, cell: ImageCell) -> None:
        self._cell = cell
        self._meter = None if cell.has_note(SAVE_MEMORY) else Meter()

    def note(self, path: Path) -> None:
        """Note the growth, in bytes, if this process is the first that has saved."""
        if self._meter is not None and path.exists() and not self._cell.has_note(SAVE_MEMORY):
            self._cell.note(SAVE_MEMORY, str(self._meter.growth().peak_bytes))


def read_memory(cell: ImageCell, adapter: ImageStorage, path: Path) -> int:
    """Read, note the verdict, and return by how much the process grew, in bytes."""
    growth, (images, labels) = measure(lambda: adapter.read(path))
    verdict = verify_images(adapter, *load(cell.dataset), images, labels)
    facts = {"losses": verdict.losses, "lost": verdict.changed_images, "errors": verdict.errors}
    cell.note(VERDICT, json.dumps(facts))
    return growth.peak_bytes


def changed_images(cell: ImageCell, adapter: ImageStorage, path: Path) -> int:
    """Return how many images came back with other pixels, as the storage declares; remark on it.

    Raises
    ------
    WrongValues
        If anything came back wrong.
    """
    facts = json.loads(cell.noted(VERDICT, lambda: read_memory(cell, adapter, path)))
    if facts["errors"]:
        raise WrongValues(WRONG + "; ".join(facts["errors"]))
    if facts["losses"]:
        cell.remark("; ".join(facts["losses"]))
    return int(facts["lost"])


def random_seconds(
    adapter: ImageStorage, path: Path, cache: str, size: int, budget_seconds: float
) -> float:
    """Return the seconds per image of random reads from an open set: the median of three goes.

    Parameters
    ----------
    adapter : ImageStorage
        What opens the set; outside the clock.
    path : Path
        Where the set is.
    cache : str
        "warm", or "cold": then each go begins with no page of the set in the page cache.
    size : int
        Images of a call: 1 for `get`, more for `get_many`.
    budget_seconds : float
        How long one go may take; it ends earlier when all images have been read.
    """
    goes = []
    for go in range(MIN_REPEATS):
        if cache == "cold":
            page_cache.make_cold(path)
        with adapter.open(path) as reader:
            goes.append(_go(reader, _calls(reader, size, go), budget_seconds))
    return statistics.median(goes)


def open_seconds(adapter: ImageStorage, path: Path) -> float:
    """Return the seconds that opening a set for random access takes: the median of three."""
    goes = []
    for _ in range(MIN_REPEATS):
        start = time.perf_counter()
        reader = adapter.open(path)
        goes.append(time.perf_counter() - start)
        reader.close()
    return statistics.median(goes)


def _calls(reader: ImageReader, size: int, go: int) -> Iterator[np.ndarray]:
    """Yield the indices of each call: a permutation of all images, another one in each go."""
    order = Bits("random access", len(reader), go).words(len(reader)).argsort()
    for first in range(0, len(order), size):
        yield order[first : first + size]


def _go(reader: ImageReader, calls: Iterator[np.ndarray], budget_seconds: float) -> float:
    prepared = [call.tolist() for call in calls]
    get: Callable[[list[int]], object] = reader.get_many
    if prepared and len(prepared[0]) == 1:
        get = lambda indices: reader.get(indices[0])  # noqa: E731 (one of two ways)
    done = 0
    start = now = time.perf_counter()
    for indices in prepared:
        get(indices)
        done += len(indices)
        now = time.perf_counter()
        if now - start > budget_seconds:
            break
    return (now - start) / done
