"""Plain loop over streams: each worker iterates over a part of an epoch, as iterable data sets do."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from adapter_core.sample_set import Sample
from adapter_core.training.batches import collated, grouped
from adapter_core.training.workers import PREFETCH, LocalWorker, Worker
from adapter_core.training_loader import Batch, Feed, Feeding

T = TypeVar("T")

# State of a worker whose part has been given.
_ENDED = "ended"


@dataclass(frozen=True)
class Part:
    """A worker's part of an epoch."""

    epoch: int
    seed: int | None
    """Seed of the order, the same for all epochs; None for the stored order."""
    rank: int
    world: int
    worker: int
    workers: int

    def of(self, items: Sequence[T]) -> list[T]:
        """Return the items, e.g. shards, of this worker: ranks are dealt theirs, then workers."""
        return list(items[self.rank :: self.world][self.worker :: self.workers])

    @property
    def epoch_seed(self) -> int | None:
        """Seed of this epoch, of 32 bits and the same for all workers; None for the stored order."""
        return epoch_seed(self.seed, self.epoch)


def epoch_seed(seed: int | None, epoch: int) -> int | None:
    """Return a seed of 32 bits for libraries that know no epochs; None for the stored order."""
    import numpy as np

    if seed is None:
        return None
    return int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0])


class SampleStream(ABC):
    """Part of an epoch, from its begin or from a state."""

    @abstractmethod
    def samples(self) -> Iterator[Sample]:
        """Yield stored samples, with their indices."""

    def batches(self, feeding: Feeding) -> Iterator[Batch]:
        """Yield batches of decoded samples; streams of columns have a faster way."""
        for samples in grouped(self.samples(), feeding.batch_size):
            yield collated([feeding.decode(each) for each in samples])

    def state(self) -> Any:
        """Return the state from which `resume` goes on after the last batch, in types of JSON."""
        return None

    def resume(self, state: Any) -> None:
        """Begin after the batch after which `state` returned the state."""
        raise NotImplementedError(f"{type(self).__name__} has states, so it must override this")


class StreamFeed(Feed):
    """Feed of a plain loop over streams; the last batch of each worker has the rest of its part.

    Parameters
    ----------
    streaming : callable
        Opens a part of an epoch; can be pickled.
    feeding : Feeding
        Batches, order, workers and rank.
    resumes : bool
        True if the streams have states.
    """

    def __init__(
        self, streaming: Callable[[Part], SampleStream], feeding: Feeding, *, resumes: bool = False
    ) -> None:
        self._resumes = resumes
        self._workers: list[Worker | LocalWorker] = []
        kind = Worker if feeding.workers else LocalWorker
        try:
            for number in range(max(1, feeding.workers)):
                self._workers.append(kind(partial(_answering, streaming, feeding, number)))
        except BaseException:
            self.close()
            raise
        self._states: list[Any] = [None] * len(self._workers)

    def epoch(self, number: int, state: Any = None) -> Iterator[Batch]:
        """Return the batches of an epoch, of each worker in turn."""
        self._states = list(state or [None] * len(self._workers))
        turns = deque(place for place, each in enumerate(self._states) if each != _ENDED)
        for place in turns:
            worker = self._workers[place]
            worker.drain()  # batches of an epoch that was left early
            worker.ask((number, self._states[place]))
            for _ in range(PREFETCH - 1):
                worker.ask(None)
        while turns:
            place = turns.popleft()
            found = self._workers[place].take()
            if found is None:
                self._states[place] = _ENDED
                continue
            batch, self._states[place] = found
            turns.append(place)
            yield batch
            self._workers[place].ask(None)

    def state(self) -> Any:
        """Return the state of each worker."""
        return list(self._states) if self._resumes else super().state()

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.end()
        self._workers = []


@contextlib.contextmanager
def _answering(
    streaming: Callable[[Part], SampleStream], feeding: Feeding, worker: int
) -> Iterator[Callable[[tuple[int, Any] | None], tuple[Batch, Any] | None]]:
    """Provide the function of a worker that begins an epoch, or goes on.

    It returns a batch with the state after it, and None at the end.
    """
    left: Iterator[tuple[Batch, Any]] = iter(())

    def answer(request: tuple[int, Any] | None) -> tuple[Batch, Any] | None:
        nonlocal left
        if request is not None:
            epoch, state = request
            workers = max(1, feeding.workers)
            part = Part(epoch, feeding.seed, feeding.rank, feeding.world, worker, workers)
            left = _with_states(streaming(part), feeding, state)
        return next(left, None)

    yield answer


def _with_states(stream: SampleStream, feeding: Feeding, state: Any) -> Iterator[tuple[Batch, Any]]:
    if state is not None:
        stream.resume(state)
    for batch in stream.batches(feeding):
        yield batch, stream.state()
