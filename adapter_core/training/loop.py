"""Plain loop: worker processes load batches of samples ahead, through shared memory.

Designed as PyTorch's DataLoader (Paszke et al. 2019, section 4.2), without PyTorch: each worker opens
the files itself and loads every n-th batch; batches are loaded ahead, and arrive in order.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import multiprocessing
import os
import pickle
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

from adapter_core.reader import Reader
from adapter_core.training.batches import batches_of, block_groups, collated, epoch_order
from adapter_core.training_loader import Feed

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample
    from adapter_core.training_loader import Batch, Feeding

# Batches that a worker loads ahead; `prefetch_factor` of PyTorch's DataLoader has this default.
PREFETCH = 2


class SampleReader(Reader):
    """Open files of samples, for random access."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of samples."""

    @abstractmethod
    def get(self, index: int) -> Sample:
        """Return a stored sample, with its index."""

    def batch(self, indices: Sequence[int], decode: Callable[[Sample], Sample]) -> Batch:
        """Return decoded samples as a batch; readers of columns have a faster way."""
        return collated([decode(self.get(index)) for index in indices])


class LoopFeed(Feed):
    """Feed of a plain loop over samples with random access, in the order of a full shuffle.

    Parameters
    ----------
    opening : callable
        Opens the files; can be pickled.
    feeding : Feeding
        Batches, order, workers and rank.
    """

    def __init__(self, opening: Callable[[], SampleReader], feeding: Feeding) -> None:
        self._feeding = feeding
        self._reader = opening()
        self._workers: list[_Worker] = []
        self._given = 0
        try:
            for _ in range(feeding.workers):
                self._workers.append(_Worker(opening, feeding.decode))
        except BaseException:
            self.close()
            raise

    def epoch(self, number: int, state: Any = None) -> Iterator[Batch]:
        """Return the batches of an epoch; a state is the number of those that were given."""
        self._given = state or 0
        for batch in self._loaded(self._plan(number)[self._given :]):
            self._given += 1
            yield batch

    def state(self) -> int:
        """Return the number of batches that were given in this epoch."""
        return self._given

    def close(self) -> None:
        """End the workers and close the files."""
        for worker in self._workers:
            worker.end()
        self._workers = []
        self._reader.close()

    def _plan(self, epoch: int) -> list[tuple[int, Sequence[int]]]:
        """Return the indices of each batch of an epoch, with the number of the worker that loads it."""
        order = epoch_order(len(self._reader), self._feeding, epoch)
        batches = batches_of(order, self._feeding.batch_size)
        return [(number % max(1, self._feeding.workers), each) for number, each in enumerate(batches)]

    def _loaded(self, plan: list[tuple[int, Sequence[int]]]) -> Iterator[Batch]:
        if not self._workers:
            for _, indices in plan:
                yield self._reader.batch(indices, self._feeding.decode)
            return
        left: list[deque[Sequence[int]]] = [deque() for _ in self._workers]
        for number, indices in plan:
            left[number].append(indices)
        for worker, batches in zip(self._workers, left, strict=True):
            worker.drain()  # batches of an epoch that was left early
            for _ in range(min(PREFETCH, len(batches))):
                worker.ask(batches.popleft())
        for number, _ in plan:
            yield self._workers[number].take()
            if left[number]:
                self._workers[number].ask(left[number].popleft())


class BlockFeed(LoopFeed):
    """Feed of a plain loop over files that are read by blocks of neighbouring samples.

    The order is that of CorgiPile (Xu et al. 2022, https://doi.org/10.1145/3514221.3526150): blocks are
    shuffled, and the samples of some blocks at a time are shuffled together.
    """

    def _plan(self, epoch: int) -> list[tuple[int, Sequence[int]]]:
        feeding = self._feeding
        groups = block_groups(len(self._reader), feeding, epoch)
        of_worker: list[list[Sequence[int]]] = [[] for _ in range(max(1, feeding.workers))]
        for number, group in enumerate(groups):
            of_worker[number % len(of_worker)] += batches_of(group, feeding.batch_size)
        turns = itertools.zip_longest(*of_worker)
        return [(number, each) for turn in turns for number, each in enumerate(turn) if each is not None]


class _Worker:
    """The consumer's side of a worker process."""

    def __init__(self, opening: Callable[[], SampleReader], decode: Callable[[Sample], Sample]) -> None:
        # Forks of a process with threads of its own may hang, and libraries have such threads.
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_load, args=(opening, decode, other), daemon=True)
        self._process.start()
        other.close()
        self._memory: dict[int, mmap.mmap] = {}
        self._pending = 0

    def ask(self, indices: Sequence[int]) -> None:
        """Ask for a batch, which `take` returns; a worker that has ended fails there."""
        self._pending += 1
        with contextlib.suppress(BrokenPipeError):
            self._connection.send(list(indices))

    def take(self) -> Batch:
        """Return the next batch, whose arrays are in shared memory.

        Raises
        ------
        RuntimeError
            If the process failed, or has ended.
        """
        try:
            found: _Loaded | str = self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            raise RuntimeError(f"a worker has ended with status {self._process.exitcode}") from None
        self._pending -= 1
        if isinstance(found, str):
            raise RuntimeError(f"a worker failed: {found}")
        memory = self._memory.get(found.descriptor)
        if memory is None or len(memory) < found.capacity:
            # Not a named block of shared memory, which a killed process would leave behind.
            shared = os.open(f"/proc/{self._process.pid}/fd/{found.descriptor}", os.O_RDWR)
            memory = self._memory[found.descriptor] = mmap.mmap(shared, found.capacity)
            os.close(shared)
        view = memoryview(memory)
        ends = list(itertools.accumulate(found.sizes, initial=0))
        buffers = [view[start:end] for start, end in itertools.pairwise(ends)]
        batch: Batch = pickle.loads(found.content, buffers=buffers)  # noqa: S301 (of our own process)
        return batch

    def drain(self) -> None:
        """Take all batches that are on their way."""
        while self._pending:
            self.take()

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._connection.close()


class _Loaded(NamedTuple):
    """A batch in shared memory, as the worker names it."""

    content: bytes
    """The pickle without the bytes of arrays."""
    sizes: list[int]
    """Bytes of each array, one after the other in the memory."""
    descriptor: int
    """The worker's descriptor of the memory."""
    capacity: int
    """Bytes of the memory."""


class _Memory:
    """Shared memory of a worker for one batch, which grows with the batches."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("batch")
        self._mapped: mmap.mmap | None = None

    def write(self, batch: Batch) -> _Loaded:
        """Write a batch, and return how it is read."""
        buffers: list[memoryview] = []
        content = pickle.dumps(
            batch, protocol=5, buffer_callback=lambda each: buffers.append(each.raw())
        )
        sizes = [each.nbytes for each in buffers]
        needed = max(1, sum(sizes))
        if self._mapped is None or len(self._mapped) < needed:
            os.ftruncate(self._descriptor, needed)
            self._mapped = mmap.mmap(self._descriptor, needed)
        start = 0
        for each in buffers:
            self._mapped[start : start + each.nbytes] = each
            start += each.nbytes
        return _Loaded(content, sizes, self._descriptor, len(self._mapped))


def _load(
    opening: Callable[[], SampleReader], decode: Callable[[Sample], Sample], connection: Connection
) -> None:
    """Load batches as they are asked for; the work of a process."""
    try:
        memories = itertools.cycle([_Memory() for _ in range(PREFETCH)])
        with opening() as reader, contextlib.suppress(EOFError):
            while True:
                batch = reader.batch(connection.recv(), decode)
                connection.send(next(memories).write(batch))
    except Exception as error:
        with contextlib.suppress(BrokenPipeError):  # the consumer may have ended
            connection.send(f"{type(error).__name__}: {error}")
