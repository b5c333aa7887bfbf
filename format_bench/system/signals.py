"""Ends of a command by signals: SIGTERM and SIGHUP unwind it as SIGINT does."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Self

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals of users, systems and closed terminals that end a program."""

# A terminal that closes, or an impatient user, sends several: a later one must not break off the
# clean-up that the first began. After this time it ends a program that swallowed the first.
_REPEAT_SECONDS = 10.0


class EndingSignals:
    """Turns the first ending signal within the block into a KeyboardInterrupt in the main thread.

    Signals that the parent process ignores, as `nohup` does, stay ignored.
    """

    _held = 0
    _waiting: signal.Signals | None = None

    def __init__(self) -> None:
        self.last: signal.Signals | None = None
        """The last signal that was raised."""
        self._raised_seconds = -_REPEAT_SECONDS
        self._process = os.getpid()
        self._earlier: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        # Python handles signals there alone; a program around this one has its own way.
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._earlier[number] = signal.signal(number, self._raise)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._earlier.items():
            signal.signal(number, handler)

    def _raise(self, number: int, _: FrameType | None) -> None:
        if os.getpid() != self._process:
            # A fork that is ended by the program has nothing to clean up.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        now = time.monotonic()
        if now - self._raised_seconds < _REPEAT_SECONDS:
            return
        self._raised_seconds, self.last = now, signal.Signals(number)
        if EndingSignals._held:
            EndingSignals._waiting = self.last
        else:
            raise KeyboardInterrupt(self.last.name)

    @classmethod
    @contextmanager
    def held(cls) -> Iterator[None]:
        """Let the signals wait for the end of a block that makes something, so that all of it is known.

        The block must be short. In other threads, and outside of `EndingSignals`, it changes nothing.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        cls._held += 1
        try:
            yield
        finally:
            cls._held -= 1
        if cls._waiting is not None and not cls._held:
            name, cls._waiting = cls._waiting.name, None
            raise KeyboardInterrupt(name)


def end_children() -> None:
    """Send SIGTERM to the child processes that are left, except those in sessions of their own.

    A signal between the start of a process and the return of its object leaves one that nobody knows.
    """
    session = os.getsid(0)
    for path in Path("/proc/self/task").glob("*/children"):
        for child in map(int, path.read_text(encoding="ascii").split()):
            with contextlib.suppress(ProcessLookupError):
                if os.getsid(child) == session:
                    os.kill(child, signal.SIGTERM)
