"""Steps in fresh processes, with limits of time and memory.

A step that hangs, crashes or eats all memory costs that step alone. The processes are forks of a server
that has imported pandas and measured nothing.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, cast

from adapter_core.text import shortened
from data_generator.confinement.kernel import die_with
from format_bench.instruments.clock import ON_CLOCK
from format_bench.results.status import CellStatus, Reason, status_of
from format_bench.results.suites import FAMILIES
from format_bench.system.scratch import scratch_folder
from format_bench.system.signals import EndingSignals

# Modules that the server imports before it forks. Importing pandas takes longer than most steps.
# Limit from which a process has none: poll(2) counts milliseconds in 32 bits, which are 24.8 days.
LONGEST_WAIT_SECONDS = 2e6

PRELOADED = ["__main__", "format_bench.runner.steps", "format_bench.families.preloaded"]


@dataclass(frozen=True)
class Outcome:
    """Result of a step: its value, or a status and a reason."""

    value: Any = None
    """Return value of the step; None if it did not return."""
    status: CellStatus | None = None
    """Status of a step without a value; None if it has one."""
    sentence: str = ""
    """Reason for the status."""
    error: str = ""
    """Class name of the exception that the step raised, if any."""
    yielded: tuple[Any, ...] = ()
    """Values that the step has yielded, if it is a generator function; also if it did not return."""
    on_clock_seconds: float = field(default=0.0, compare=False)
    """Wall time that its process has had on the clock; 0 if it did not end by itself."""

    @property
    def reason(self) -> Reason:
        """The sentence with the status; empty if there is a value."""
        return Reason(self.sentence, self.status or CellStatus.FAILED)


def start_server() -> None:
    """Start the server that forks the processes of `run`, which imports while the caller goes on."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    with EndingSignals.held():
        forkserver.ensure_running()


def run(
    step: Callable[..., Any],
    *arguments: Any,
    limit_seconds: float,
    environment: Mapping[str, str] | None = None,
    entered: Callable[[], None] | None = None,
    interpreter: str = "",
) -> Outcome:
    """Call `step(*arguments)` in a fresh process and return its outcome.

    A step may limit its parts by `signal.setitimer`: if the timer kills it, it counts as timed out.
    Values that a generator function yields are kept even if its process dies.

    Parameters
    ----------
    step : callable
        A function of a module, which the process can import.
    *arguments
        Arguments of the step; pickled.
    limit_seconds : float
        Time after which the process, and every process that it started, is killed; may be infinite.
    environment : mapping, optional
        Environment variables that are set before the step is imported. Modules in `PRELOADED` were
        imported without them.
    entered : callable, optional
        Called in the process before the step, e.g. to enter a limit; pickled.
    interpreter : str
        Path of another Python, which imports these sources, and its own libraries; this one by default.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    receiver, sender = context.Pipe(duplex=False)
    with ExitStack() as stack:
        # Libraries' temporary files, which a process that is killed cannot remove itself.
        place = stack.enter_context(scratch_folder(Path(tempfile.gettempdir())))
        # The first start takes seconds, since the server imports: an interrupt would leave a process
        # that nobody knows.
        with EndingSignals.held():
            own = {"TMPDIR": str(place), **(environment or {})}
            task = own, entered, step, arguments
            process: Any = context.Process(target=_child, args=(sender, *task))
            if interpreter:
                process = _OtherProcess(interpreter, _sources(place), sender, task)
            process.start()
            stack.callback(_end, process, receiver)
        sender.close()
        found: list[Any] = []
        end = time.monotonic() + limit_seconds
        has_end = limit_seconds < LONGEST_WAIT_SECONDS
        # The end of the pipe also ends the wait, so a crash does not cost the whole limit.
        while receiver.poll(max(0.0, end - time.monotonic()) if has_end else None):
            message = _received(receiver, process)
            if isinstance(message, Outcome):
                ON_CLOCK.seconds += message.on_clock_seconds
                return replace(message, yielded=tuple(found))
            found += message
    sentence = f"not finished after {limit_seconds:.0f} seconds"
    return Outcome(status=CellStatus.TIMED_OUT, sentence=sentence, yielded=tuple(found))


def _end(process: Any, receiver: Connection) -> None:
    """Kill a process with all that it has started, then close its pipe."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        if process.exitcode is None:  # it has not made its group yet
            process.kill()
    process.join()
    receiver.close()


def _received(receiver: Connection, process: Any) -> Outcome | tuple[Any]:
    """Return the next value that was yielded, in a tuple, or the outcome of a process that has ended."""
    try:
        message: Outcome | tuple[Any] = receiver.recv()
    except (EOFError, OSError):  # the latter if it was killed within a message
        process.join()
        if process.exitcode == -signal.SIGALRM:
            return Outcome(status=CellStatus.TIMED_OUT, sentence="its timer ran out")
        return Outcome(status=CellStatus.FAILED, sentence=_death(process.exitcode))
    return message


def _death(exit_code: int) -> str:
    if exit_code >= 0:
        return f"its process ended by itself with status {exit_code}"
    name = signal.Signals(-exit_code).name
    if name == "SIGKILL":
        return "its process was killed (SIGKILL), as the kernel does when memory runs out"
    return f"its process crashed ({name})"


def _sources(place: Path) -> Path:
    """Return a folder with the packages of this project, and nothing else that can be imported.

    Parameters
    ----------
    place : Path
        A folder for links, where the project is installed: the libraries beside it would hide the
        libraries of another interpreter.
    """
    folder = Path(__file__).resolve().parents[2]
    if (folder / "pyproject.toml").exists():
        return folder
    links = place / "sources"
    links.mkdir()
    adapters = {each.adapters.partition(".")[0] for each in FAMILIES.values()}
    for name in {"adapter_core", "data_generator", "format_bench"} | adapters:
        (links / name).symlink_to(folder / name)
    return links


class _OtherProcess:
    """Process of another interpreter, in the place of one of `multiprocessing`."""

    def __init__(
        self, interpreter: str, sources: Path, sender: Connection, task: tuple[Any, ...]
    ) -> None:
        self._interpreter, self._sources = interpreter, sources
        self._sender, self._task = sender, task

    def start(self) -> None:
        """Start the process; its sources are these, also where its environment has others."""
        call = f"from {__name__} import answer; answer({self._sender.fileno()})"
        self._popen = subprocess.Popen(  # noqa: S603 (an environment of the user's own)
            [self._interpreter, "-c", call],
            stdin=subprocess.PIPE,
            pass_fds=[self._sender.fileno()],
            # Variables too, since to unpickle the task is to import its modules.
            env={**os.environ, "PYTHONPATH": str(self._sources), **self._task[0]},
        )
        with suppress(BrokenPipeError), cast("IO[bytes]", self._popen.stdin) as pipe:
            pickle.dump(self._task, pipe)
        self.pid, self.kill, self.join = self._popen.pid, self._popen.kill, self._popen.wait

    @property
    def exitcode(self) -> int | None:
        """The status of a process that has ended, negative for a signal."""
        return self._popen.poll()


def answer(descriptor: int) -> None:
    """Run the task that the standard input has, in another interpreter than the run."""
    os.setpgrp()
    die_with(os.getppid())
    _run(Connection(descriptor, readable=False), *pickle.load(sys.stdin.buffer))  # noqa: S301 (of `run`)


def _child(sender: Connection, *task: Any) -> None:
    # A process group, which can be killed as a whole with the processes that the step starts.
    os.setpgrp()
    _die_with_parent()
    _run(sender, *task)


def _run(
    sender: Connection,
    environment: dict[str, str],
    entered: Callable[[], None] | None,
    step: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    os.environ.update(environment)
    tempfile.tempdir = None  # the server may have looked for it
    unlink_semaphores_at_once()
    # A study prints its page to the standard output, and DuckDB its progress.
    os.dup2(2, 1)
    if entered is not None:
        entered()
    try:
        value = step(*arguments)
        outcome = Outcome(_sent(value, sender) if isinstance(value, Generator) else value)
    except BaseException as error:
        outcome = outcome_of(error)
    sender.send(replace(outcome, on_clock_seconds=ON_CLOCK.seconds))


def _sent(steps: Generator[Any, None, Any], sender: Connection) -> Any:
    """Send each value that is yielded, in a tuple; return the function's own result."""
    while True:
        try:
            sender.send((next(steps),))
        except StopIteration as end:
            return end.value


def unlink_semaphores_at_once() -> None:
    """Let the locks of libraries leave no named semaphore behind when this process is killed.

    Only under `fork` does multiprocessing unlink their names at once; numcodecs makes a lock at import.
    """
    multiprocessing.set_start_method("fork", force=True)


def _die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies.

    Otherwise it would go on measuring, and filling the disk, after the run was killed.
    """
    server = os.getppid()
    die_with(server)
    # The fork server lives as long as this end of a pipe is open anywhere. Only the run may keep it
    # open: the server has to end with the run, and then this process with the server.
    os.close(forkserver._forkserver._forkserver_alive_fd)  # type: ignore[attr-defined]  # noqa: SLF001


def outcome_of(error: BaseException) -> Outcome:
    """Return the outcome of a step that raised an error."""
    status = status_of(error)
    text = f"{type(error).__name__}: {error}" if status is CellStatus.FAILED else str(error)
    sentence = shortened(text)
    return Outcome(None, status, sentence, type(error).__name__)
