"""Calls in the background of a block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeated(step: Callable[[], object], interval_seconds: float) -> Iterator[None]:
    """Call a function in a thread at that interval until the end of the block, which waits for it."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(interval_seconds):
            step()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
