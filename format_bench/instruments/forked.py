"""Calls in forked children: their results, errors, output and end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import select
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from data_generator.confinement.kernel import die_with

MESSAGE_LENGTH = 200
"""Characters of a message that are kept."""

# Sent by a child that has called its argument; no pickle starts like this.
_MARK = b"marked"


@dataclass(frozen=True)
class Ended:
    """End of a child."""

    value: Any = None
    """Result of the call."""
    error: str = ""
    """Class and text of its exception."""
    death: str = ""
    """How the child ended without an answer: the signal, or its status; empty if it answered."""
    is_late: bool = False
    """Whether it was killed since its time was over."""
    is_marked: bool = False
    """Whether the call had called its argument."""
    lines: tuple[str, ...] = ()
    """Lines that it printed, without blanks around them; empty ones are left out."""
    seconds: float = 0.0
    """Wall time of the child."""


def call_in_child(call: Callable[[Callable[[], object]], Any], limit_seconds: float) -> Ended:
    """Call a function in a forked child.

    Standard output and error are captured by descriptor, and so of native libraries too.

    Parameters
    ----------
    call : callable
        Returns something that can be pickled; may call its argument, to mark how far it has come.
    limit_seconds : float
        Wall time after which the child is killed.
    """
    with tempfile.TemporaryFile() as printed:
        receiver, sender = os.pipe()
        start = time.perf_counter()
        with warnings.catch_warnings():
            # Libraries with threads warn of forks; callers show that these work.
            warnings.simplefilter("ignore")
            parent, pid = os.getpid(), os.fork()
        if pid == 0:
            os.close(receiver)
            die_with(parent)
            _child(call, sender, printed.fileno())
        os.close(sender)
        received, is_late = _received(receiver, start + limit_seconds)
        os.close(receiver)
        if is_late:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        seconds = time.perf_counter() - start
        printed.seek(0)
        text = printed.read(2**20).decode(errors="replace")
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    answer = received.removeprefix(_MARK)
    is_marked = received.startswith(_MARK)
    if is_late or not answer:
        death = "" if is_late else _death(os.waitstatus_to_exitcode(status))
        return Ended(None, "", death, is_late, is_marked, lines, seconds)
    value, error = pickle.loads(answer)  # noqa: S301 (of the child)
    return Ended(value, error, "", is_late, is_marked, lines, seconds)


def _received(receiver: int, end: float) -> tuple[bytes, bool]:
    """Return everything that a child sends until it ends, and whether the time is over."""
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([receiver], [], [], max(0.0, end - time.perf_counter()))
        if not ready:
            return b"".join(parts), True
        part = os.read(receiver, 2**16)
        if not part:
            return b"".join(parts), False
        parts.append(part)


def _child(call: Callable[[Callable[[], object]], Any], sender: int, printed: int) -> None:
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    result: tuple[Any, str]
    try:
        result = (call(lambda: os.write(sender, _MARK)), "")
    except BaseException as error:
        # Panics of libraries in Rust are no subclass of Exception.
        result = (None, f"{type(error).__name__}: {' '.join(str(error).split())}"[:MESSAGE_LENGTH])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    ctypes.CDLL(None).fflush(None)
    os.write(sender, pickle.dumps(result))
    os._exit(0)


def _death(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended by itself with status {exit_code}"
    return signal.Signals(-exit_code).name
