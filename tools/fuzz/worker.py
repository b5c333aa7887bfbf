"""Process that reads changed files: ``python -m tools.fuzz.worker TARGET ...`` is asked and answers in JSON.

Each line of the standard input has a target, and the path of a file or folder to read. An answer is one
line: the outcome and a phrase. A reading that ends the process is answered with the outcome "crash", and the next one has a
new process, a fork of this one, which has imported the libraries.
"""

from __future__ import annotations

import json
import os
import pickle
import platform
import resource
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import FormatBenchError
from tools.fuzz.canaries import MODULE, SECRET
from tools.fuzz.readers import TARGETS

if TYPE_CHECKING:
    from tools.fuzz.targets import Target

GROWTH_BYTES = 512 * 2**20
"""Memory that reading a small file may take in addition."""
GROWTH_PER_BYTE = 64
SPACE_BYTES = 4 * 2**30
"""Address space in addition, which libraries reserve generously; beyond it, allocations fail."""
FILE_BYTES = 64 * 2**20
TRIALS = 1000
"""Trials in a process, until a new one takes over, so that leaks of libraries do not add up."""

# Audit events of processes, code and connections: https://docs.python.org/3/library/audit_events.html.
_CODE = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "subprocess.Popen",
    "pty.spawn",
)
_NETWORK = (
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendto",
)
_CHANGES = (
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

# Packages whose names pickles of data contain.
_OF_DATA = (
    "numpy",
    "pandas",
    "datetime",
    "decimal",
    "_codecs",
    "copyreg",
    "collections",
    "__builtin__",
    "builtins",
)
_HARMLESS_BUILTINS = ("slice", "set", "frozenset", "bytearray", "complex", "range", "object")


# Exit statuses of a process that had nothing more to read, and of one that another takes over from.
_ENDED, _RECYCLED = 41, 42


class Watch:
    """Audit hook that reports forbidden events at once, since the process may not survive them."""

    def __init__(self, answers: int) -> None:
        self.answers = answers
        self.programs: tuple[str, ...] = ()
        self.place = ""
        """The folder that the trial may write to; empty between trials."""

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.place:
            return
        problem = self._problem(event, arguments)
        if problem:
            place, self.place = self.place, ""
            answer(self.answers, "event", problem)
            self.place = place
            raise RuntimeError(problem)

    def _problem(self, event: str, arguments: tuple[Any, ...]) -> str:
        if event == "open":
            path, _, flags = arguments
            is_writing = isinstance(flags, int) and flags & _WRITING
            return f"write outside: {path}" if is_writing and self._is_outside(path) else ""
        if event in _CODE:
            program = Path(os.fsdecode(arguments[0] or "")).name if event == "subprocess.Popen" else ""
            return "" if program in self.programs else f"code: {event} {arguments[0]!r}"
        if event in _NETWORK:
            return f"network: {event}"
        if event in _CHANGES:
            return f"write outside: {event} {arguments[0]}" if self._is_outside(arguments[0]) else ""
        if event == "import" and str(arguments[0]).startswith(MODULE):
            return "code: import of a module that the file names"
        if event == "ctypes.dlopen" and self._is_of_trial(arguments[0]):
            return "code: a library of the file's is loaded"
        if event == "pickle.find_class":
            module, name = arguments
            is_data = module.partition(".")[0] in _OF_DATA
            if module in ("__builtin__", "builtins"):
                is_data = name in _HARMLESS_BUILTINS
            return "" if is_data else f"code: a pickle names {module}.{name}"
        return ""

    def _is_outside(self, path: object) -> bool:
        text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
        return bool(text) and text != os.devnull and not os.path.abspath(text).startswith(self.place)  # noqa: PTH100 (paths that are no paths)

    def _is_of_trial(self, path: object) -> bool:
        text = str(path)
        return text.startswith(self.place) or MODULE in text


def answer(answers: int, outcome: str, phrase: str) -> None:
    """Write an answer."""
    os.write(answers, json.dumps([outcome, phrase[:2000]]).encode() + b"\n")


def serve(answers: int, watch: Watch) -> bool:
    """Read the files of the standard input; return True if it has ended, False if this process has to."""
    # The forked process' own file: the parent may have written to the same one.
    printed = os.memfd_create("printed")
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    limit = _status("VmSize") + SPACE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for _ in range(TRIALS):
        line = os.read(0, 2**16).decode()
        if not line:
            return True
        name, place = json.loads(line)
        target, path = TARGETS[name], Path(place)
        outcome, phrase = trial(target, path, watch)
        if outcome in ("read", "refused") and os.lseek(printed, 0, os.SEEK_END) and not target.prints:
            outcome, phrase = "prints", os.pread(printed, 500, 0).decode(errors="replace")
        # Otherwise the next output follows zeros up to the end of this one.
        os.lseek(printed, 0, os.SEEK_SET)
        os.ftruncate(printed, 0)
        answer(answers, outcome, phrase)
        if outcome == "memory":
            return False
    return False


def trial(target: Target, path: Path, watch: Watch) -> tuple[str, str]:
    """Return the outcome of reading a file, and a phrase on it."""
    size = sum(each.stat().st_size for each in ([path] if path.is_file() else path.rglob("*")))
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    watch.place, watch.programs = str(path.parent), target.programs
    try:
        outcome, phrase = _outcome(target, path)
    finally:
        watch.place = ""
    growth = _status("VmHWM") - before
    if outcome in ("read", "refused") and growth > GROWTH_BYTES + GROWTH_PER_BYTE * size:
        return "memory", f"{growth / 2**20:,.0f} MiB for a file of {size:,} bytes; {phrase}"
    return outcome, phrase


def _outcome(target: Target, path: Path) -> tuple[str, str]:
    try:
        found = target.read(path)
    except FormatBenchError as error:
        text = str(error)
        is_line = text.isprintable() or not target.is_data
        return ("refused", text) if is_line else ("not one line", repr(text))
    except OSError as error:
        # The command line shows these in a line of their own.
        return ("refused" if not target.is_data else "error"), f"{type(error).__name__}: {error}"
    except BaseException as error:
        return "error", f"{type(error).__name__}: {error}"
    if target.is_data and SECRET in pickle.dumps(found, protocol=5):
        return "leak", "content of another file is among the values"
    return "read", ""


def _status(name: str) -> int:
    """Return a size in the status of this process, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def main(names: list[str]) -> None:
    """Serve targets, in one process after the other."""
    answers = os.dup(1)
    for name in names:
        TARGETS[name].prepare()
    # Keeps what it asks a program for, once.
    platform.processor()
    watch = Watch(answers)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    while True:
        child = os.fork()
        if not child:
            sys.addaudithook(watch)
            answer(answers, "begin", str(os.getpid()))
            os._exit(_ENDED if serve(answers, watch) else _RECYCLED)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == _ENDED:
            return
        if status != _RECYCLED:
            name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
            answer(answers, "crash", name)


if __name__ == "__main__":
    main(sys.argv[1:])
