"""Recovery of runs after kills at random moments: ``python -m tools.check_crash_recovery 50``.

Starts a run, kills it, and starts it again, until the given number of kills. No finished cell may be
lost, measured twice or damaged, and no file or process may be left behind.
"""

from __future__ import annotations

import argparse
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
from format_bench.runner.result_store import keys
from format_bench.runner.runner import Limits, Runner

CASES = [Case(label, "eq", 200) for label in ("Feather", "Pickle", "Parquet")]
ROUNDS = 2


def run(out: Path, scratch: Path) -> None:
    """Measure the cases that the results lack."""
    for _ in Runner(out, scratch, Limits(ROUNDS, budget_seconds=0)).run(CASES):
        pass


def kill_and_resume(folder: Path, kills: int, seed: int) -> int:
    """Kill a number of runs; return the number of complete sets of results, the last one included.

    Raises
    ------
    AssertionError
        If results were lost, doubled or damaged, or a file or process was left behind.
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
        completed += _is_complete(out)
    out = folder / f"out{completed}"
    assert _start(out, scratch).wait() == 0
    assert _is_complete(out)
    assert list(scratch.iterdir()) == []
    _wait_until_no_process_uses(scratch)
    return completed + 1


def _start(out: Path, scratch: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tools.check_crash_recovery", "--run", str(out), str(scratch)]
    return subprocess.Popen(command)


def _lines(out: Path) -> list[bytes]:
    path = out / RESULTS
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def _is_complete(out: Path) -> bool:
    """Return whether all cells are measured; check that each of them is valid and measured once."""
    if not (out / RESULTS).exists():
        return False
    found = records.read(out / RESULTS)
    measured = {(key(record), record.rounds) for record in found}
    assert len(found) == len(measured), "cells were measured again"
    return {cell for cell, rounds in measured if rounds == ROUNDS} == {
        each for case in CASES for step in case.steps for each in keys(case, step)
    }


def _wait_until_no_process_uses(folder: Path) -> None:
    """Wait until the kernel has killed the orphans of a killed run, which takes a moment."""
    deadline = time.monotonic() + 10
    while any(str(folder) in _command(pid) for pid in os.listdir("/proc") if pid.isdigit()):  # noqa: PTH208 (names are enough)
        assert time.monotonic() < deadline, "a process was left behind"
        time.sleep(0.05)


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def main() -> None:
    """Kill and resume runs, and print the number of complete sets of results."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("kills", type=int, nargs="?", default=50)
    parser.add_argument("--run", type=Path, nargs=2, metavar=("OUT", "SCRATCH"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run(*arguments.run)
        return
    with tempfile.TemporaryDirectory() as folder:
        sets = kill_and_resume(Path(folder), arguments.kills, seed=1)
    print(
        f"{arguments.kills} runs killed or ended, {sets} complete sets of results, none lost or doubled"
    )


if __name__ == "__main__":
    main()
