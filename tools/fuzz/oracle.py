"""Trials of a reader with changed files, and the outcome of each.

read
    Values were returned.
refused
    An error of the project was raised, whose message is one line.
contained
    The library crashed, hung or took too much memory; the file is read in a process of its own, and the user
    gets one line.

All others are findings: *event* (code, a write outside or a connection, by an audit hook or a canary), *leak*
(content of another file among the values), *crash*, *hang*, *memory*, *error* (a traceback), *prints* (a
library's own output), *not one line*, *changed* (the file itself, or something beside it).
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Self

from tools.fuzz.canaries import Canaries
from tools.fuzz.damage import damage_bytes
from tools.fuzz.readers import TARGETS

GOOD = ("read", "refused", "contained")

WALL_SECONDS = 90
"""Time of reading a small file, beyond which it hangs although it takes no CPU time."""

_CONTAINED = ("crash", "hang", "memory")


@dataclass(frozen=True)
class Result:
    """Outcome of one trial."""

    outcome: str
    phrase: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether the outcome breaks the promise."""
        return self.outcome not in GOOD

    @property
    def signature(self) -> str:
        """Text that is the same for findings that probably have one cause."""
        return re.sub(r"[0-9]+|0x[0-9a-f]+|'[^']*'|/\S+", "*", f"{self.outcome}: {self.phrase}")[:90]


class Oracle:
    """Process that reads files of targets, forked again after each crash, and a folder for both.

    Parameters
    ----------
    *names : str
        Names of the targets.
    """

    def __init__(self, *names: str) -> None:
        self.names = names
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        self.canaries = Canaries(self.folder / "outside")
        self.place = self.folder / "trial"
        try:
            self._make_seeds()
            self._start()
        except BaseException:
            self.canaries.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.kill()
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()
        self.canaries.close()
        shutil.rmtree(self.folder)

    def seeds(self, name: str) -> list[Path]:
        """Return the valid files of a target."""
        return [self.folder / "seeds" / name / file / file for file in sorted(TARGETS[name].seeds)]

    def changed(self, name: str, number: int) -> Path:
        """Return the changed file of a target and a seed number, the same one each time."""
        draw = Random(f"{name} {number}")
        kept = draw.choice(self.seeds(name))
        path = self.put(kept)
        try:
            draw.choice(TARGETS[name].damages)(path, draw, self.canaries)
        except Exception:
            path = self.put(kept)
            damage_bytes(path, draw, self.canaries)
        return path

    def put(self, source: Path) -> Path:
        """Return a copy of a file or folder, alone in the folder of trials."""
        shutil.rmtree(self.place, ignore_errors=True)
        # What belongs to a file is beside it.
        shutil.copytree(source.parent, self.place, symlinks=True)
        return self.place / source.name

    def result(self, name: str, path: Path) -> Result:
        """Return the outcome of reading a file in the folder of trials."""
        target = TARGETS[name]
        before = _state(self.place)
        found = self._answer(name, path)
        harm = self.canaries.harm()
        if harm:
            return Result("event", harm)
        changed = set(before) ^ set(_state(self.place))
        if found.outcome in GOOD and not target.writes and changed:
            return Result("changed", ", ".join(sorted({Path(name).name for name, *_ in changed})))
        if found.outcome in _CONTAINED and target.contained:
            return self._contained(name, path, found)
        return found

    def _answer(self, name: str, path: Path) -> Result:
        self._process.stdin.write(json.dumps([name, str(path)]).encode() + b"\n")
        self._process.stdin.flush()
        event = None
        started, cpu = time.monotonic(), _cpu_seconds(self._child)
        is_killed, worked = False, 0.0
        while True:
            line = self._line(0.5)
            if line is None:
                waited = time.monotonic() - started
                worked = _cpu_seconds(self._child) - cpu
                if not is_killed and (worked > TARGETS[name].cpu_seconds or waited > WALL_SECONDS):
                    is_killed = True
                    with suppress(ProcessLookupError):
                        os.kill(self._child, signal.SIGKILL)
                continue
            outcome, phrase = json.loads(line)
            if outcome == "begin":
                self._child = int(phrase)
            elif outcome == "event":
                event = event or Result("event", phrase)
            elif is_killed:
                return event or Result("hang", f"not ended after {worked:.0f} seconds of CPU time")
            else:
                return event or Result(outcome, phrase)

    def _contained(self, name: str, path: Path, found: Result) -> Result:
        """Return the outcome of reading a file as a user does."""
        command = [sys.executable, "-m", "tools.fuzz.contained", name, str(path)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=4 * WALL_SECONDS
            )
        except subprocess.TimeoutExpired:
            return Result("hang", f"also as a user reads it; {found.phrase}")
        if done.returncode:
            return Result("crash", f"also as a user reads it: status {done.returncode}; {found.phrase}")
        if done.stderr:
            return Result("prints", done.stderr[:500])
        outcome, phrase = json.loads(done.stdout)
        is_good = outcome in GOOD
        return Result("contained" if is_good else outcome, f"{found.outcome}: {found.phrase}; {phrase}")

    def minimised(self, name: str, path: Path, found: Result, seconds: float = 5) -> Path:
        """Cut a file as long as it has the same outcome, and return it."""
        if path.is_dir() or found.outcome in ("hang", "memory"):
            return path
        data = path.read_bytes()
        end = time.monotonic() + seconds
        size = len(data) // 2
        while size and time.monotonic() < end:
            at = 0
            while at < len(data) and time.monotonic() < end:
                path.write_bytes(data[:at] + data[at + size :])
                if self.result(name, path).signature == found.signature:
                    data = data[:at] + data[at + size :]
                else:
                    at += size
            size //= 2
        path.write_bytes(data)
        return path

    def _make_seeds(self) -> None:
        """Write the valid files in another process: threads of libraries do not survive a fork."""
        command = [sys.executable, "-m", "tools.fuzz.seeding", str(self.folder / "seeds"), *self.names]
        subprocess.run(command, check=True)

    def _start(self) -> None:
        home = self.folder / "home"
        home.mkdir()
        # Of the user's settings and caches, nothing takes part.
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
        threads = dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LANCE_CPU_THREADS", "RAYON_NUM_THREADS"), "1"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.fuzz.worker", *self.names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={
                **kept,
                **threads,
                "HOME": str(home),
                "TMPDIR": str(home),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            bufsize=0,
        )
        self._rest = b""
        self._child = 0
        line = None
        while line is None:
            line = self._line(60)
        self._child = int(json.loads(line)[1])

    def _line(self, seconds: float) -> bytes | None:
        """Return the next line of the process; None if there is none in that time."""
        while b"\n" not in self._rest:
            if not select.select([self._process.stdout], [], [], seconds)[0]:
                return None
            data = os.read(self._process.stdout.fileno(), 2**16)
            if not data:
                raise RuntimeError(f"the process that reads {', '.join(self.names)} has ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def _state(folder: Path) -> list[tuple[str, int, int]]:
    files = ((path, path.lstat()) for path in sorted(folder.rglob("*")))
    return [(str(path), stat.st_size, stat.st_mtime_ns) for path, stat in files if not path.is_dir()]


def _cpu_seconds(process: int) -> float:
    """Return the CPU time of a process so far; 0 if it has ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def trials(
    oracle: Oracle, name: str, numbers: Iterable[int], seconds: float = float("inf")
) -> Iterator[tuple[int, Result, Path]]:
    """Yield seed numbers, results and files of trials of a target; a file is gone when the next one is drawn."""
    end = time.monotonic() + seconds
    for number in numbers:
        path = oracle.changed(name, number)
        found = oracle.result(name, path)
        if found.is_finding:
            path = oracle.minimised(name, path, found)
        yield number, found, path
        if time.monotonic() > end:
            return
