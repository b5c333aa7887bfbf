"""Runs that are killed at random moments, and go on: ``python -m tools.check_crash_recovery 50``."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from format_bench.families.cases import Case
from format_bench.results import records
from format_bench.results.load import RESULTS
from format_bench.results.records import key
from format_bench.runner.recording import keys
from format_bench.runner.runner import Limits, Runner

CASES = [Case(label, "eq", 200) for label in ("Feather", "Pickle", "Parquet")]
ROUNDS = 2


def run(out: Path, scratch: Path) -> None:
    """Measure the cases, or what is left of them."""
    for _ in Runner(out, scratch, Limits(ROUNDS, budget_seconds=0)).run(CASES):
        pass


def kill_and_go_on(folder: Path, kills: int, seed: int) -> int:
    """Kill so many runs; return how many sets of results were completed on the way, the last included.

    Raises
    ------
    AssertionError
        If results got lost, were doubled or damaged, or a file or process was left behind.
    """
    draw = random.Random(seed)
    completed = 0
    for _ in range(kills):
        out, scratch = folder / f"out{completed}", folder / "scratch"
        scratch.mkdir(exist_ok=True)
        lines = _lines(out)
        process = _start(out, scratch)
        try:
            process.wait(timeout=draw.uniform(0.2, 9))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert _lines(out)[: len(lines)] == lines, "finished cells were lost"
        completed += _whole(out)
    out = folder / f"out{completed}"
    assert _start(out, scratch).wait() == 0
    assert _whole(out)
    assert list(scratch.iterdir()) == []
    _wait_until_no_process_uses(scratch)
    return completed + 1


def _start(out: Path, scratch: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tools.check_crash_recovery", "--run", str(out), str(scratch)]
    return subprocess.Popen(command)


def _lines(out: Path) -> list[bytes]:
    path = out / RESULTS
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def _whole(out: Path) -> bool:
    """Tell whether all cells are there, after a check that what is there is valid, and there once."""
    if not (out / RESULTS).exists():
        return False
    found = records.read(out / RESULTS)
    measured = {(key(record), record.rounds) for record in found}
    assert len(found) == len(measured), "cells were measured again"
    return {cell for cell, rounds in measured if rounds == ROUNDS} == {
        each for case in CASES for step in case.steps for each in keys(case, step)
    }


def _wait_until_no_process_uses(folder: Path) -> None:
    """Wait for orphans, which the kernel kills with their parent, but not before it returns."""
    deadline = time.monotonic() + 10
    while any(str(folder) in _command(pid) for pid in os.listdir("/proc") if pid.isdigit()):  # noqa: PTH208 (names are enough)
        assert time.monotonic() < deadline, "a process was left behind"
        time.sleep(0.05)


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        run(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        number = int(sys.argv[1])
        with tempfile.TemporaryDirectory() as place:
            sets = kill_and_go_on(Path(place), number, seed=1)
        print(f"{number} runs killed or ended, {sets} sets of results complete, none lost or doubled")
