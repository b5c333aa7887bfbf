"""Reads of an open array: chunk by chunk, in order or at random, in partitions, or loaded ahead."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import TYPE_CHECKING

import array_stores
from adapter_core import ArrayReader
from adapter_core.array_source import Selection, chunk_selections, grid_of
from data_generator.random_words import RandomWords
from format_bench.instruments import threads
from format_bench.instruments.clock import seconds_per_item
from format_bench.instruments.isolation import unlink_semaphores_at_once
from format_bench.instruments.touch import touch_array

if TYPE_CHECKING:
    import numpy as np

# The least number of chunks of a partition, if the array has so many. In a partition of a few chunks,
# opening the array would be most of the time. Chosen, not measured.
PARTITION_CHUNKS = 16

# Chunks that a worker loads ahead; `prefetch_factor` of PyTorch's DataLoader has this default.
PREFETCH = 2
# Each worker is an interpreter with chunks loaded ahead: a machine with many CPUs would run out of
# memory.
MAX_WORKERS = 8
_READY, _FAILED = "ready", "failed"


def read_in_order(reader: ArrayReader, chunks: tuple[int, ...]) -> int:
    """Read and touch every chunk in C order; return their number."""
    number = 0
    for selection in chunk_selections(reader.shape, chunks):
        touched(reader, reader.read(selection))
        number += 1
    return number


def touched(reader: ArrayReader, values: np.ndarray) -> np.ndarray:
    """Return values that a reader has returned, in memory also if they are views of a mapped file."""
    if reader.maps_files:
        touch_array(values)
    return values


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Order of reading an array; each turn has another order of the same pattern."""

    partitioned: bool
    """Whether partitions are read, whose chunks are then used in shuffled order; else single chunks."""
    shuffled: bool
    """Whether the partitions, or the chunks, come in random order."""

    def seconds_per_chunk(
        self, reader: ArrayReader, chunks: tuple[int, ...], turn: int, budget_seconds: float
    ) -> float:
        """Return the seconds per chunk of one turn, which ends early when the budget is spent."""
        read = _read_partition if self.partitioned else _read_chunk
        reads = list(self._reads(reader.shape, chunks, turn))
        return seconds_per_item(partial(read, reader), reads, budget_seconds)

    def _reads(
        self, shape: tuple[int, ...], chunks: tuple[int, ...], turn: int
    ) -> Iterator[list[Selection]]:
        """Yield the chunks of each read, a partition's in the order of their use."""
        everything = list(chunk_selections(shape, chunks))
        size = _partition_chunks(shape, chunks) if self.partitioned else 1
        parts = [everything[first : first + size] for first in range(0, len(everything), size)]
        order = _permutation(len(parts), turn) if self.shuffled else range(len(parts))
        for number in order:
            part = parts[number]
            yield [part[i] for i in _permutation(len(part), turn, number)] if size > 1 else part


def _partition_chunks(shape: tuple[int, ...], chunks: tuple[int, ...]) -> int:
    """Return the chunks of a partition, which consists of whole rows of the grid's first axis."""
    row = max(1, math.prod(grid_of(shape, chunks)[1:]))
    return row * -(-PARTITION_CHUNKS // row)


def _permutation(count: int, *key: int) -> list[int]:
    order: list[int] = RandomWords("chunk access", *key, count).words(count).argsort().tolist()
    return order


def _read_chunk(reader: ArrayReader, selections: Sequence[Selection]) -> None:
    touched(reader, reader.read(selections[0]))


def _read_partition(reader: ArrayReader, selections: Sequence[Selection]) -> None:
    """Read the hull of some chunks by one call, and copy each chunk out of it."""
    hull = tuple(
        slice(min(each.start for each in axis), max(each.stop for each in axis))
        for axis in zip(*selections, strict=True)
    )
    values = reader.read(hull)
    for selection in selections:
        inner = tuple(
            slice(each.start - outer.start, each.stop - outer.start)
            for each, outer in zip(selection, hull, strict=True)
        )
        # A consumer takes a chunk into memory of its own, e.g. of a batch.
        values[inner].copy()


def worker_count() -> int:
    """Return the number of workers: one for each usable CPU, up to `MAX_WORKERS`."""
    return min(MAX_WORKERS, threads.cpus("all"))


def loader_seconds_per_chunk(
    label: str, path: Path, chunks: tuple[int, ...], turn: int, budget_seconds: float
) -> float:
    """Return the seconds per chunk that a consumer of all workers sees, as data loaders in training do.

    Designed as PyTorch's DataLoader (Paszke et al. 2019, section 4.2), without PyTorch: each worker
    opens the array itself, reads every n-th chunk of one permutation, and passes it through shared
    memory; two chunks a worker are loaded ahead; the consumer gets them in the order of the permutation.

    The clock starts when every worker has opened the array, and stops after all chunks, or when the
    budget is spent.

    Parameters
    ----------
    label : str
        The store.
    path : Path
        The array.
    chunks : tuple of int
        Shape of the chunks to read.
    turn : int
        Number of the permutation.
    budget_seconds : float
        Wall time after which no further chunk is taken.

    Raises
    ------
    RuntimeError
        If a worker fails; with its message.
    """
    with array_stores.get(label).open(path) as reader:
        order = _shuffled(list(chunk_selections(reader.shape, chunks)), turn)
        chunk_bytes = max(1, math.prod(chunks) * reader.dtype.itemsize)
    workers = [
        _Worker(label, path, order[number :: worker_count()], chunk_bytes)
        for number in range(worker_count())
    ]
    try:
        for worker in workers:
            worker.receive()
        start = now = time.perf_counter()
        done = 0
        for worker in workers:
            worker.start_loading()
        for number in range(len(order)):
            workers[number % len(workers)].take()
            done += 1
            now = time.perf_counter()
            if now - start > budget_seconds:
                break
        return (now - start) / max(1, done)
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """The consumer's side of a worker process."""

    def __init__(self, label: str, path: Path, selections: list[Selection], chunk_bytes: int) -> None:
        # Forks of a process with threads of its own may hang, and libraries have such threads.
        context = multiprocessing.get_context("spawn")
        self._slots = [SharedMemory(create=True, size=chunk_bytes) for _ in range(PREFETCH)]
        self._connection, other = context.Pipe()
        names = [slot.name for slot in self._slots]
        self._process = context.Process(
            target=_load, args=(label, path, selections, names, other), daemon=True
        )
        self._process.start()
        other.close()
        self._taken = 0

    def start_loading(self) -> None:
        """Offer all slots to the process."""
        for slot in range(PREFETCH):
            self._offer(slot)

    def receive(self) -> int:
        """Return the size of the chunk that is ready; 0 for the first message."""
        try:
            kind, content = self._connection.recv()
        except EOFError:
            raise RuntimeError(f"a worker has ended with status {self._process.exitcode}") from None
        if kind == _FAILED:
            raise RuntimeError(f"a worker failed: {content}")
        size: int = content
        return size

    def take(self) -> None:
        """Take the next chunk: copy it out of its slot, as a batch does, and give the slot back."""
        size = self.receive()
        slot = self._taken % PREFETCH
        bytes(memoryview(self._slots[slot].buf or b"")[:size])
        self._taken += 1
        self._offer(slot)

    def _offer(self, slot: int) -> None:
        # After its last chunk a worker has ended, and one without a chunk at once.
        with contextlib.suppress(BrokenPipeError):
            self._connection.send(slot)

    def end(self) -> None:
        """End the process and free its shared memory."""
        self._process.kill()
        self._process.join()
        self._connection.close()
        for slot in self._slots:
            slot.close()
            slot.unlink()


def _load(
    label: str, path: Path, selections: list[Selection], names: list[str], connection: Connection
) -> None:
    """Read selections into shared memory, as slots become free; the work of a process."""
    import numpy as np

    try:
        unlink_semaphores_at_once()
        slots = [SharedMemory(name) for name in names]
        with array_stores.get(label).open(path) as reader:
            connection.send((_READY, 0))
            for selection in selections:
                slot = slots[connection.recv()]
                values = reader.read(selection)
                np.copyto(np.ndarray(values.shape, values.dtype, slot.buf), values)
                connection.send((_READY, values.nbytes))
    except Exception as error:
        connection.send((_FAILED, f"{type(error).__name__}: {error}"))


def _shuffled(selections: list[Selection], turn: int) -> list[Selection]:
    order = RandomWords("loading ahead", len(selections), turn).words(len(selections)).argsort()
    return [selections[place] for place in order.tolist()]
