"""Call of a function in a confined process; its answer is JSON, and nothing of it is executed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adapter_core.errors import InvalidDataError, UserDataError
from data_generator.confinement.limits import USUAL_LIMITS, DataLimits

Watch = Callable[[float], None]
"""Receiver of the seconds since the start, several times a second."""

# An attacked reader must not fill this process' memory.
LONGEST_ANSWER_BYTES = 2**30
# Bytes of the last output that are searched for the reason of an end.
_ERROR_BYTES = 4096

# Between two looks at the process, and at the size of its files.
_PAUSE_SECONDS, _DISK_SECONDS = 0.05, 1.0

# Variable that only confined processes have.
_MARK = "FORMAT_BENCH_CONFINED"

# Variables that the process gets; all others may be credentials.
_KEPT = re.compile(
    r"PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TZ|TZDIR|PYTHON(HASHSEED|WARNINGS|UTF8|OPTIMIZE|"
    r"DONTWRITEBYTECODE)|LD_LIBRARY_PATH|VIRTUAL_ENV|CONDA_PREFIX|MALLOC_\w+|ARROW_\w+_MEMORY_POOL|"
    r"\w+_NUM_THREADS|HDF5_(PLUGIN_PATH|USE_FILE_LOCKING)|COVERAGE_PROCESS_\w+"
)

_OUT_OF_MEMORY = re.compile(
    r"MemoryError|bad_alloc|memory allocation of \d+|[Oo]ut of memory|Cannot allocate"
    r"|failed to map segment"
)


def is_confined() -> bool:
    """Return True in a process that `call` has started."""
    return _MARK in os.environ


def call(  # noqa: PLR0913 (what is called, and how)
    task: str,
    arguments: Mapping[str, Any],
    *,
    place: str | os.PathLike[str],
    folder: Path | None = None,
    limits: DataLimits = USUAL_LIMITS,
    watch: Watch | None = None,
    remark: Callable[[str], object] | None = None,
) -> Any:
    """Call a function in a new, confined process.

    Parameters
    ----------
    task : str
        The function, as in ``package.module:name``.
    arguments : mapping
        Its arguments, which JSON can represent, as its result.
    place : path-like
        The file or folder of the user, for messages.
    folder : pathlib.Path, optional
        The folder in which the process may write; by default one that is removed at the end.
    limits : DataLimits
        By default the machine's.
    watch : callable, optional
        Called while the process runs.
    remark : callable, optional
        Called with one line if the kernel of this machine cannot prevent something.

    Returns
    -------
    value
        Result of the function.

    Raises
    ------
    InvalidDataError
        If the function raised it, or the process crashed, or reached a limit.
    UserDataError
        If the function raised another error of the project.
    """
    with _folder(folder) as own, tempfile.TemporaryDirectory(prefix=".reading-", dir=own) as private:
        memory_bytes, disk_bytes = limits.resolved(own)
        inner = Path(private)
        (inner / "tmp").mkdir()
        request = {
            "task": task,
            "arguments": dict(arguments),
            "place": os.fspath(place),
            "parent": os.getpid(),
            "folder": str(own.absolute()),
            "answer": str(inner.absolute() / "answer"),
            "memory_bytes": memory_bytes,
            "disk_bytes": disk_bytes,
            "seconds": limits.seconds,
            "may_be_zarr": _may_be_zarr(os.fspath(place)),
        }
        guard = _Guard(place, limits.seconds, memory_bytes, disk_bytes)
        with (inner / "errors").open("wb") as errors:
            process = subprocess.Popen(
                # -P: a file in the working directory must not take the place of a module.
                [sys.executable, "-P", "-m", "data_generator.confinement.child"],
                env=environment(inner / "tmp"),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
            try:
                _send(process, request)
                guard.wait(process, own, watch or (lambda _: None))
            finally:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        value, gaps = guard.value(process.returncode, inner)
    if gaps and remark is not None:
        remark(f"the kernel of this machine cannot keep the process that reads from {'; '.join(gaps)}")
    return value


def _may_be_zarr(place: str) -> bool:
    """Return True for a folder or a ZIP file, or a part of one as in ``weather.zarr::wind``."""
    name = place.partition("::")[0]
    return Path(name).is_dir() or name.lower().endswith(".zip")


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="formatbench-") as made:
        yield Path(made)


def environment(temporary: Path) -> dict[str, str]:
    """Return the environment of a confined process: without credentials, as without all unknown."""
    kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {**kept, "PYTHONPATH": path, "TMPDIR": str(temporary), _MARK: "1"}


def _send(process: subprocess.Popen[bytes], request: Mapping[str, Any]) -> None:
    if process.stdin is None:
        raise AssertionError("the process has no input")
    with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(json.dumps(request).encode())


class _Guard:
    """The limits of a process that reads, and the messages about its end."""

    def __init__(
        self, place: str | os.PathLike[str], seconds: float, memory_bytes: int, disk_bytes: int
    ) -> None:
        self._place, self._seconds = place, seconds
        self._memory_bytes, self._disk_bytes = memory_bytes, disk_bytes

    def wait(self, process: subprocess.Popen[bytes], folder: Path, watch: Watch) -> None:
        """Wait for the end of the process.

        Raises
        ------
        InvalidDataError
            If it takes too much time or disk.
        """
        start = looked = time.monotonic()
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_PAUSE_SECONDS)
                return
            now = time.monotonic()
            watch(now - start)
            if now - start > self._seconds:
                raise self._beyond("seconds")
            if now - looked > _DISK_SECONDS:
                looked = now
                if _size_bytes(folder) > self._disk_bytes:
                    raise self._beyond("disk")

    def value(self, status: int, inner: Path) -> tuple[Any, tuple[str, ...]]:
        """Return the answer of a process that has ended, and the gaps in its confinement."""
        answer = _answer(inner / "answer")
        errors = _end_of(inner / "errors")
        if answer is None:
            raise self._death(status, errors)
        if answer.get("limit") in ("memory", "disk"):
            raise self._beyond(answer["limit"])
        if "invalid" in answer:
            problem, advice, inside = map(str, answer["invalid"])
            raise InvalidDataError(Path(self._place, inside) if inside else self._place, problem, advice)
        if "error" in answer:
            raise UserDataError(_line(answer["error"]))
        return answer.get("value"), tuple(_line(each) for each in answer.get("gaps", ()))

    def _beyond(self, limit: str) -> InvalidDataError:
        """Return the error for a limit that was reached."""
        taken, option = {
            "seconds": (f"{self._seconds:,g} seconds", "--data-seconds"),
            "memory": (f"{_size(self._memory_bytes)} of memory", "--data-memory"),
            "disk": (f"{_size(self._disk_bytes)} of disk", "--data-disk"),
        }[limit]
        return InvalidDataError(
            self._place, f"takes more than {taken} to read", f"allow more by {option}"
        )

    def _death(self, status: int, errors: str) -> InvalidDataError:
        if status == -signal.SIGXCPU:
            return self._beyond("seconds")
        if _OUT_OF_MEMORY.search(errors) or status == -signal.SIGKILL:
            return self._beyond("memory")
        if status < 0:
            name = signal.Signals(-status).name
            return InvalidDataError(self._place, f"is damaged: the process that read it died ({name})")
        last = errors.strip().rpartition("\n")[2][-200:]
        return InvalidDataError(
            self._place, f"cannot be read: its process ended with status {status}", _line(last)
        )


def _answer(path: Path) -> dict[str, Any] | None:
    """Return the answer that a process left; None if there is none that can be read."""
    try:
        text = _content(path, LONGEST_ANSWER_BYTES)
        found = json.loads(text) if text else None
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _content(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file, whatever a process put in its place."""
    place = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(place, "rb") as file:  # noqa: PTH123 (of a descriptor)
        facts = os.fstat(place)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > most_bytes:
            return b""
        return file.read()


def _end_of(path: Path) -> str:
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(-min(_ERROR_BYTES, path.stat().st_size), os.SEEK_END)
        return file.read().decode("utf-8", "replace")
    return ""


def _line(text: Any) -> str:
    from adapter_core.text import printable

    return printable(str(text))


def _size(count: int) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count / 1e3:,.1f} kB"


def _size_bytes(folder: Path) -> int:
    """Return the space that the files below a folder take."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512  # noqa: PTH118 (often)
    return total
