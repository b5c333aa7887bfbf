"""Runs one step in a fresh process, so that whatever happens there costs that step alone.

The processes are forks of a server that has imported pandas and measured nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

from adapter_core.errors import (
    CannotHoldError,
    NotColdError,
    UnavailableError,
    UnknownNameError,
    UnsupportedError,
)
from format_bench.results.status import Status

PRELOADED = [
    *("__main__", "numpy", "pandas", "pyarrow"),
    "format_bench.runner.steps",
    "format_bench.families.images.operations",
    "format_bench.families.tables.operations",
]
"""Imported once, by the server that forks the processes, since importing pandas takes longer than most
steps: what nearly all of them need, and no library that only some formats use."""

PR_SET_PDEATHSIG = 1
"""Of prctl(2): the signal that a process gets when its parent dies."""

_ANSWERS: dict[type[BaseException], Status] = {
    CannotHoldError: Status.UNSUPPORTED,
    UnsupportedError: Status.UNSUPPORTED,
    UnavailableError: Status.UNAVAILABLE,
    UnknownNameError: Status.UNAVAILABLE,
    NotColdError: Status.UNAVAILABLE,
}
"""Errors that are answers: their text is the sentence."""


@dataclass(frozen=True)
class Outcome:
    """What came of a step."""

    value: Any = None
    """What the step returned; None if it did not."""
    status: Status | None = None
    """Why there is no value; None if there is one."""
    sentence: str = ""
    """The same in words."""
    error: str = ""
    """Name of the class of what the step raised, if it did."""


def run(
    step: Callable[..., Any],
    *arguments: Any,
    limit_seconds: float,
    limit_bytes: int | None = None,
    environment: dict[str, str] | None = None,
) -> Outcome:
    """Call `step(*arguments)` in a fresh process and return its outcome.

    Parameters
    ----------
    step : callable
        A function of a module, so that the process can import it.
    *arguments
        What it is called with; pickled.
    limit_seconds : float
        After which the process, and all that it started, is killed.
    limit_bytes : int, optional
        Address space that the process may have beyond which allocations fail.
    environment : dict, optional
        Environment variables that are set before the step is imported. What is preloaded has been
        imported without them.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(
        target=_child, args=(sender, environment or {}, limit_bytes, step, arguments)
    )
    process.start()
    sender.close()
    try:
        # A message, or the end of the pipe if the process dies; so no crash is waited out.
        if not receiver.poll(limit_seconds):
            return Outcome(
                status=Status.TIMED_OUT, sentence=f"not finished after {limit_seconds:.0f} seconds"
            )
        return _received(receiver, process)
    finally:
        receiver.close()
        if process.pid is not None:
            _kill_group(process.pid)
        process.join()


def _received(receiver: Connection, process: Any) -> Outcome:
    try:
        outcome: Outcome = receiver.recv()
    except EOFError:
        process.join()
        return Outcome(status=Status.FAILED, sentence=_death(process.exitcode))
    return outcome


def _death(exit_code: int) -> str:
    if exit_code >= 0:
        return f"its process ended by itself with status {exit_code}"
    name = signal.Signals(-exit_code).name
    if name == "SIGKILL":
        return "its process was killed (SIGKILL), as the kernel does when memory runs out"
    return f"its process crashed ({name})"


def _child(
    sender: Connection,
    environment: dict[str, str],
    limit_bytes: int | None,
    step: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    # A group of its own, to be killed as a whole with what the step starts.
    os.setpgrp()
    _die_with_parent()
    os.environ.update(environment)
    if limit_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))
    try:
        outcome = Outcome(step(*arguments))
    except BaseException as error:
        outcome = _outcome_of(error)
    sender.send(outcome)


def _die_with_parent() -> None:
    """Else the process would go on measuring, and filling the disk, after the run was killed."""
    server = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # The fork server lives while anyone holds this end of a pipe, which shall be the run alone.
    os.close(forkserver._forkserver._forkserver_alive_fd)  # type: ignore[attr-defined]  # noqa: SLF001
    if os.getppid() != server:
        os._exit(1)  # the run was killed before that could be said


def _outcome_of(error: BaseException) -> Outcome:
    status = _ANSWERS.get(type(error))
    words = str(error) if status else f"{type(error).__name__}: {error}"
    sentence = " ".join(words.split())[:500]
    return Outcome(None, status or Status.FAILED, sentence, type(error).__name__)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
