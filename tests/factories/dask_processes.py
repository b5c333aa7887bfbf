"""A Dask scheduler and workers as processes of their own, as on a cluster of hosts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

DASK = [sys.executable, "-m", "dask"]

# With --no-dashboard Dask still serves its state by HTTP, on all interfaces if no address is given.
LOOPBACK = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")

# On a busy machine a process may take long to start.
START_SECONDS = 300.0


@contextmanager
def process(
    folder: Path, *arguments: str, prefix: Sequence[str] = (), **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `dask` with arguments in a folder, by a program that becomes it, if any; end it at the end."""
    with (folder / f"{arguments[0]}.log").open("ab") as log:
        command, variables = [*prefix, *DASK, *arguments], {**os.environ, **environment}
        started = subprocess.Popen(command, cwd=folder, env=variables, stdout=log, stderr=log)
        try:
            yield started
        finally:
            started.terminate()
            started.wait()


@contextmanager
def scheduler(folder: Path) -> Iterator[Path]:
    """Run a scheduler on a free port; give its scheduler file."""
    with scheduler_process(folder) as (_, path):
        yield path


@contextmanager
def scheduler_process(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Run a scheduler on a free port; give its process and its scheduler file."""
    path = folder / "scheduler.json"
    path.unlink(missing_ok=True)  # of one that was killed
    where = ("--port", "0", "--no-dashboard", "--scheduler-file", str(path))
    with process(folder, "scheduler", *LOOPBACK, *where) as started:
        wait_for(lambda: _is_whole(path))
        yield started, path


def _is_whole(path: Path) -> bool:
    # Dask makes the file before it writes what is in it.
    try:
        return bool(json.loads(path.read_bytes())["address"])
    except (FileNotFoundError, ValueError):
        return False


@contextmanager
def workers(
    folder: Path, path: Path, environments: list[Mapping[str, str]]
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run a worker of one thread for each environment, without a nanny that would start it anew."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                process(
                    folder,
                    "worker",
                    *("--scheduler-file", str(path), "--name", f"worker-{number}", "--nthreads", "1"),
                    *("--no-nanny", "--no-dashboard", "--memory-limit", "0"),
                    *LOOPBACK,
                    **environment,
                )
            )
            for number, environment in enumerate(environments)
        ]


def wait_for(is_done: Callable[[], bool], seconds: float = START_SECONDS) -> None:
    """Wait for a condition; fail if it does not come."""
    end = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)
