"""Loading ahead: worker processes read random chunks for one consumer, as data loaders in training do.

Designed as PyTorch's DataLoader (Paszke et al. 2019, section 4.2), without PyTorch: each
worker opens the array itself, reads every n-th chunk of one permutation, and passes it through shared
memory; two chunks a worker are loaded ahead; the consumer gets them in the order of the permutation.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import time
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import array_stores
from adapter_core.array_source import Selection, chunk_selections
from data_generator.random_words import RandomWords
from format_bench.instruments import threads
from format_bench.instruments.isolation import unlink_semaphores_at_once

# Chunks that a worker loads ahead; `prefetch_factor` of PyTorch's DataLoader has this default.
PREFETCH = 2
# Each worker is an interpreter with chunks loaded ahead: a machine with many CPUs would run out of
# memory.
MAX_WORKERS = 8
_READY, _FAILED = "ready", "failed"


def worker_count() -> int:
    """Return the number of workers: one for each usable CPU, up to `MAX_WORKERS`."""
    return min(MAX_WORKERS, threads.cpus("all"))


def loader_seconds_per_chunk(
    label: str, path: Path, chunks: tuple[int, ...], turn: int, budget_seconds: float
) -> float:
    """Return the seconds per chunk that a consumer of all workers sees.

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
            self._connection.send(slot)

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
        with contextlib.suppress(BrokenPipeError):  # after its last chunk a worker has ended
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
