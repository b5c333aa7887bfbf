"""Plain loop: worker processes load batches of samples ahead, through shared memory.

Designed as PyTorch's DataLoader (Paszke et al. 2019, section 4.2), without PyTorch: each worker opens
the files itself and loads every n-th batch; batches are loaded ahead, and arrive in order.
"""

from __future__ import annotations

import contextlib
import itertools
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from adapter_core.reader import Reader
from adapter_core.sample_set import Sample
from adapter_core.training.batches import batches_of, block_groups, collated, epoch_order
from adapter_core.training.workers import PREFETCH, Worker
from adapter_core.training_loader import Batch, Feed, Feeding


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
        self._workers: list[Worker] = []
        self._given = 0
        try:
            for _ in range(feeding.workers):
                self._workers.append(Worker(partial(_reading, opening, feeding.decode)))
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

    The order is CorgiPile's (Xu et al. 2022, https://doi.org/10.1145/3514221.3526150): blocks are
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


@contextlib.contextmanager
def _reading(
    opening: Callable[[], SampleReader], decode: Callable[[Sample], Sample]
) -> Iterator[Callable[[Sequence[int]], Batch]]:
    """Provide the function of a worker that loads the batch of indices."""
    with opening() as reader:
        yield partial(reader.batch, decode=decode)
