"""Faults at every call to the file system: ``python -m tools.check_faults run resume report``.

Runs a short command once and counts its calls below the folders of results and of measured files, in all
its processes. Then it runs the command once for each call, which fails, writes a part alone, or is the
last one of its process. After each fault nothing may be wrong or half written, the reason is one line,
and the next run goes on: the same cells as without a fault, and nothing left over.

fail_calls.c makes calls fail; a C compiler is needed.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import json
import mmap
import multiprocessing
import os
import pkgutil
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from multiprocessing import forkserver
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import FormatBenchError
from format_bench.instruments.isolation import PRELOADED
from format_bench.metadata import libraries
from format_bench.results import records
from format_bench.results.load import RESULTS

if TYPE_CHECKING:
    from format_bench.results.records import Key

SOURCE = Path(__file__).with_name("fail_calls.c")
STATE = "FAIL_CALLS_STATE"

_HEAD = struct.Struct("@5Q")
_PREFIXES_AT, _PREFIXES_BYTES = _HEAD.size, 2048
_CALL_AT, _CALL_BYTES = _PREFIXES_AT + _PREFIXES_BYTES, 256
STATE_BYTES = _CALL_AT + _CALL_BYTES


@dataclass(frozen=True)
class Fault:
    """Fate of a call."""

    name: str
    kind: int
    """As in fail_calls.c."""
    error: int = 0


FAULTS = {
    each.name: each
    for each in (
        Fault("full", 0, errno.ENOSPC),
        Fault("broken", 0, errno.EIO),
        Fault("part", 1, errno.ENOSPC),
        Fault("killed", 2),
    )
}


def library(folder: Path) -> Path:
    """Build the library in a folder, and return its path.

    Raises
    ------
    RuntimeError
        If there is no C compiler.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise RuntimeError("no C compiler is installed")
    path = folder / "fail_calls.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(path), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return path


class Calls:
    """The state that all processes with the library share.

    Parameters
    ----------
    path : Path
        The file of the state.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(STATE_BYTES))
        with path.open("r+b") as file:
            self._state = mmap.mmap(file.fileno(), STATE_BYTES)

    def count_below(self, *folders: Path | str) -> None:
        """Choose the folders whose calls count; "socket:" stands for sockets."""
        prefixes = "".join(f"{folder}\n" for folder in folders).encode()
        self._state[_PREFIXES_AT:_CALL_AT] = prefixes.ljust(_PREFIXES_BYTES, b"\0")

    @contextlib.contextmanager
    def failing(self, number: int, fault: Fault) -> Iterator[None]:
        """Let the call of a number fail within the block; 0 for none."""
        self._state[_CALL_AT:] = bytes(_CALL_BYTES)
        self._state[:_PREFIXES_AT] = _HEAD.pack(1, 0, number, fault.kind, fault.error)
        try:
            yield
        finally:
            self._state[:8] = bytes(8)

    @property
    def number(self) -> int:
        """How many calls were counted."""
        return int(_HEAD.unpack(self._state[:_PREFIXES_AT])[1])

    @property
    def failed(self) -> str:
        """The call that failed, with its path; empty if none did."""
        return self._state[_CALL_AT:].rstrip(b"\0").decode(errors="replace")


@dataclass(frozen=True)
class Ended:
    """End of a command."""

    status: int
    """Exit status, or minus the number of a signal."""
    said: str
    """Its standard error output."""


def call(arguments: list[str], log: Path) -> Ended:
    """Run a command of format-bench in a fork of this process, which has imported it."""
    from format_bench.cli.main import main as format_bench

    process = os.fork()
    if not process:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(output, 2)
        # The server of forks is a child of the process that has started it alone.
        forkserver._forkserver.ensure_running = lambda: None  # type: ignore[attr-defined]
        status = 1
        try:
            format_bench(arguments)
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(process, 0)
    said = log.read_text(encoding="utf-8", errors="replace")
    return Ended(os.waitstatus_to_exitcode(status), said)


class Bench:
    """Folders of a command, made anew for each fault.

    Parameters
    ----------
    folder : Path
        Where they are.
    command : str
        One of `COMMANDS`.
    """

    def __init__(self, folder: Path, command: str) -> None:
        self.command = command
        self.out, self.scratch, self.log = folder / "out", folder / "scratch", folder / "log"
        self.start = folder / "start"
        """Content of `out` before the command."""
        self.expected: dict[Key, str] = {}
        """Status of each cell without faults."""

    @property
    def run_arguments(self) -> list[str]:
        """The arguments of a short run."""
        places = ["--out", str(self.out), "--scratch", str(self.scratch)]
        return ["run", *places, "--formats", "Feather", "--rows", "100", "--repeats", "1"]

    @property
    def arguments(self) -> list[str]:
        """The arguments of the command."""
        if self.command in {"run", "resume"}:
            return self.run_arguments
        if self.command == "report":
            return ["report", str(self.out), *(f"--format={each}" for each in FORMATS)]
        return [self.command, str(self.out)]

    def call(self) -> Ended:
        """Run the command."""
        return call(self.arguments, self.log)

    def reset(self) -> None:
        """Make the folders as they were before the command."""
        for each in (self.out, self.scratch):
            shutil.rmtree(each, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        if self.start.exists():
            shutil.copytree(self.start, self.out)
        else:
            self.out.mkdir()

    def prepare(self) -> None:
        """Make the files that the command begins with.

        Raises
        ------
        RuntimeError
            If a run without faults fails.
        """
        self.reset()
        ended = call(self.run_arguments, self.log)
        if ended.status:
            raise RuntimeError(ended.said)
        self.expected = self.cells()
        path = self.out / RESULTS
        lines = path.read_bytes().splitlines(keepends=True)
        if self.command == "run":
            shutil.rmtree(self.out)
            self.out.mkdir()
        elif self.command in {"resume", "repair"}:
            # The last of half of the lines is torn, as by a kill; a damaged one is before.
            damage = [b"\0" * 100 + b"\n"] if self.command == "repair" else []
            half = len(lines) // 2
            path.write_bytes(b"".join([*lines[:half], *damage, lines[half][:50]]))
        shutil.copytree(self.out, self.start)

    def cells(self) -> dict[Key, str]:
        """Return the status of each cell of the results."""
        path = self.out / RESULTS
        found = records.read(path) if path.exists() else []
        return {records.key(each): str(each.status) for each in found}

    def age(self) -> None:
        """Make the command's leftovers look old, since younger files may have a living writer."""
        for each in [*self.out.rglob(".*"), *self.scratch.iterdir()]:
            os.utime(each, (0, 0))

    def wrong_now(self, ended: Ended) -> list[str]:
        """Return the problems after a fault."""
        wrong = [f"half written: {path.name}" for path in self.out.iterdir() if not _is_whole(path)]
        if ended.status == -signal.SIGKILL:
            return wrong
        if "Traceback" in ended.said:
            wrong.append(f"traceback: {ended.said.strip().splitlines()[-1]}")
        if ended.status not in {0, 2}:
            wrong.append(f"status {ended.status}")
        reasons = sum(line.startswith("format-bench: ") for line in ended.said.splitlines())
        if ended.status == 2 and reasons != 1:
            wrong.append(f"{reasons} lines of reason")
        return wrong

    def wrong_later(self, before: Collection[Key]) -> list[str]:
        """Run the command again without a fault, and return the problems then."""
        self.age()
        ended = self.call()
        if ended.status or "Traceback" in ended.said:
            return [f"next: status {ended.status}, {ended.said.strip()[-200:]}"]
        wrong = []
        cells = self.cells()
        if self.command in {"run", "resume"} and cells != self.expected:
            missing = len(self.expected.keys() - cells.keys())
            wrong.append(f"next: {missing} cells are missing, status {set(cells.values())}")
        if lost := set(before) - cells.keys():
            wrong.append(f"next: {len(lost)} cells were lost")
        if self.command == "report" and not all(
            (self.out / f"report.{each}").exists() for each in FORMATS
        ):
            wrong.append("next: no report")
        left = [path.name for path in (*self.scratch.iterdir(), *self.out.rglob("*.partial*"))]
        return [*wrong, *(f"next: left {name}" for name in left)]


def _is_whole(path: Path) -> bool:
    """Return whether a file of results is whole; files being written have another name."""
    if ".partial" in path.name:
        return True
    if path.name == RESULTS:
        try:
            records.read(path)
        except FormatBenchError:
            return path.read_bytes() == b"" or b"\0" * 100 in path.read_bytes()
    elif path.suffix == ".json":
        try:
            json.loads(path.read_bytes())
        except ValueError:
            return False
    elif path.suffix == ".html":
        return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    return True


FORMATS = ("html", "csv", "md")

COMMANDS = ("run", "resume", "report", "repair")


def check(bench: Bench, calls: Calls, number: int, fault: Fault) -> tuple[str, list[str]]:
    """Run a command whose call of a number fails; return the outcome, and the faults found."""
    bench.reset()
    with calls.failing(number, fault):
        ended = bench.call()
    outcome = f"status {ended.status}" if calls.failed else "not reached"
    _end_orphans()
    if wrong := bench.wrong_now(ended):
        return outcome, wrong
    before = bench.cells() if bench.command != "repair" else {}
    return outcome, bench.wrong_later(before)


def _end_orphans() -> None:
    """End the processes of a run that was killed; a server of forks of its own would have done it."""
    server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    path = Path(f"/proc/{server}/task/{server}/children")
    while path.exists() and (children := path.read_text(encoding="ascii").split()):
        for child in map(int, children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.01)


def check_command(bench: Bench, calls: Calls, fault: Fault, every: int = 1) -> list[str]:
    """Let every call of a command fail in turn, or one of so many; return the faults found."""
    bench.reset()
    calls.count_below(bench.out, bench.scratch)
    with calls.failing(0, fault):
        bench.call()
    total, outcomes, found = calls.number, Counter[str](), []
    for number in range(1, total + 1, every):
        outcome, wrong = check(bench, calls, number, fault)
        outcomes[outcome] += 1
        if wrong:
            found.append(f"{fault.name}, call {number}, {calls.failed}: {'; '.join(wrong)}")
            print(f"{bench.command}: {found[-1]}", flush=True)
        if number % 20 == 1:
            print(f"{bench.command}, {fault.name}: {number} of {total}", file=sys.stderr, flush=True)
    tried = ", ".join(f"{count} x {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{bench.command}, {fault.name}: {total} calls, {outcomes.total()} tried: {tried}", flush=True)
    return found


def prepare_process() -> None:
    """Import the commands' modules once for all forks, and start the fork server."""
    # Not above, since each isolated step imports this module anew.
    from format_bench import report, runner
    from format_bench.cli import commands

    for package in (commands, report, runner):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    # It takes seconds in each run, and opens no file of it.
    libraries.facts_from_child = lambda *_: {}
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    forkserver.ensure_running()


def main() -> int:
    """Check commands, and return an exit status."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("commands", nargs="+", choices=COMMANDS)
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--every", type=int, default=1, help="try one of so many calls")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if STATE not in os.environ:
            Calls(folder / "state")
            preload = {"LD_PRELOAD": str(library(folder)), STATE: str(folder / "state")}
            command = [sys.executable, "-m", "tools.check_faults", *sys.argv[1:]]
            return subprocess.run(command, env={**os.environ, **preload}, check=False).returncode
        prepare_process()
        calls, found = Calls(Path(os.environ[STATE])), []
        for command in arguments.commands:
            bench = Bench(folder / command, command)
            bench.prepare()
            for fault in arguments.faults:
                found += check_command(bench, calls, FAULTS[fault], arguments.every)
    print(
        f"{len(found)} faults left something wrong" if found else "nothing wrong, nothing half written"
    )
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
