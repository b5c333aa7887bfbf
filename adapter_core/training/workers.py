"""Worker processes that answer requests through shared memory."""

from __future__ import annotations

import contextlib
import itertools
import mmap
import multiprocessing
import os
import pickle
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

Answering = Callable[[], AbstractContextManager[Callable[[Any], Any]]]
"""Opens the data of a worker, and provides the function that answers; can be pickled."""

# Answers that a worker makes ahead; `prefetch_factor` of PyTorch's DataLoader has this default.
PREFETCH = 2


class Worker:
    """The consumer's side of a worker process, which answers requests in their order.

    At most `PREFETCH` requests may be open. Arrays of an answer are in shared memory, which the process
    uses again for the answer to the second request after.

    Parameters
    ----------
    answering : Answering
        The work of the process.
    """

    def __init__(self, answering: Answering) -> None:
        # Forks of a process with threads of its own may hang, and libraries have such threads.
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_answer, args=(answering, other), daemon=True)
        self._process.start()
        other.close()
        self._memory: dict[int, mmap.mmap] = {}
        self._open = 0

    def ask(self, request: Any) -> None:
        """Send a request, whose answer `take` returns; a worker that has ended fails there."""
        self._open += 1
        with contextlib.suppress(BrokenPipeError):
            self._connection.send(request)

    def take(self) -> Any:
        """Return the next answer.

        Raises
        ------
        RuntimeError
            If the process failed, or has ended.
        """
        try:
            found: _Written | str = self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            raise RuntimeError(f"a worker has ended with status {self._process.exitcode}") from None
        self._open -= 1
        if isinstance(found, str):
            raise RuntimeError(f"a worker failed: {found}")  # noqa: TRY004 (it is the process' message)
        memory = self._memory.get(found.descriptor)
        if memory is None or len(memory) < found.capacity:
            # Not a named block of shared memory, which a killed process would leave behind.
            try:
                shared = os.open(f"/proc/{self._process.pid}/fd/{found.descriptor}", os.O_RDWR)
            except FileNotFoundError:
                # It has ended since: its error comes next, or its end.
                return self.take()
            memory = self._memory[found.descriptor] = mmap.mmap(shared, found.capacity)
            os.close(shared)
        view = memoryview(memory)
        ends = list(itertools.accumulate(found.sizes, initial=0))
        buffers = [view[start:end] for start, end in itertools.pairwise(ends)]
        return pickle.loads(found.content, buffers=buffers)  # noqa: S301 (of our own process)

    def drain(self) -> None:
        """Take all answers that are on their way."""
        while self._open:
            self.take()

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._connection.close()


class LocalWorker:
    """Stands for a `Worker` in the consumer's own process: it answers when the answer is taken."""

    def __init__(self, answering: Answering) -> None:
        self._opened = contextlib.ExitStack()
        self._answer = self._opened.enter_context(answering())
        self._requests: deque[Any] = deque()

    def ask(self, request: Any) -> None:
        """Keep a request."""
        self._requests.append(request)

    def take(self) -> Any:
        """Return the answer to the first request that was kept."""
        return self._answer(self._requests.popleft())

    def drain(self) -> None:
        """Forget all requests."""
        self._requests.clear()

    def end(self) -> None:
        """Close its data."""
        self._opened.close()


class _Written(NamedTuple):
    """An answer in shared memory, as the worker names it."""

    content: bytes
    """The pickle without the bytes of arrays."""
    sizes: list[int]
    """Bytes of each array, one after the other in the memory."""
    descriptor: int
    """The worker's descriptor of the memory."""
    capacity: int
    """Bytes of the memory."""


class _Memory:
    """Shared memory of a worker for one answer, which grows with the answers."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("batch")
        self._mapped: mmap.mmap | None = None

    def write(self, answer: Any) -> _Written:
        """Write an answer, and return how it is read."""
        buffers: list[memoryview] = []
        content = pickle.dumps(
            answer, protocol=5, buffer_callback=lambda each: buffers.append(each.raw())
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
        return _Written(content, sizes, self._descriptor, len(self._mapped))


def _answer(answering: Answering, connection: Connection) -> None:
    """Answer requests as they come; the work of a process."""
    try:
        memories = itertools.cycle([_Memory() for _ in range(PREFETCH)])
        with answering() as answer, contextlib.suppress(EOFError):
            while True:
                connection.send(next(memories).write(answer(connection.recv())))
    except Exception as error:
        with contextlib.suppress(BrokenPipeError):  # the consumer may have ended
            connection.send(f"{type(error).__name__}: {error}")
