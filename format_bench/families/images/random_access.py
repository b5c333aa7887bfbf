"""How long single images and batches take to read at random from a set that is open."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from data_generator.random_words import RandomWords
from format_bench.instruments import page_cache
from format_bench.instruments.clock import MIN_REPEATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy as np

    from adapter_core import ImageReader, ImageStorage


BATCH = 32
"""Images of a batch; a usual size in training."""


def seconds_per_image(
    adapter: ImageStorage, path: Path, *, cache: str, size: int, budget_seconds: float
) -> list[float]:
    """Return the seconds per image of random reads from an open set, of three goes.

    Parameters
    ----------
    adapter : ImageStorage
        The storage; opening the set is outside the clock.
    path : Path
        Where the set is.
    cache : str
        "warm", or "cold": then each go starts with no page of the set in the page cache.
    size : int
        Images of a call: 1 for `get`, more for `get_many`.
    budget_seconds : float
        How long one go may take; it ends earlier when all images have been read.

    Raises
    ------
    NotColdError
        If the set cannot be evicted, or that cannot be proven.
    """
    goes = []
    for go in range(MIN_REPEATS):
        if cache == "cold":
            page_cache.make_cold(path)
        with adapter.open(path) as reader:
            goes.append(_go(reader, _calls(reader, size, go), budget_seconds))
    return goes


def open_seconds(adapter: ImageStorage, path: Path) -> list[float]:
    """Return the seconds that opening a set for random access takes, three times."""
    goes = []
    for _ in range(MIN_REPEATS):
        start = time.perf_counter()
        reader = adapter.open(path)
        goes.append(time.perf_counter() - start)
        reader.close()
    return goes


def _calls(reader: ImageReader, size: int, go: int) -> Iterator[np.ndarray]:
    """Yield the indices of each call: a permutation of all images, another one in each go."""
    order = RandomWords("random access", len(reader), go).words(len(reader)).argsort()
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
