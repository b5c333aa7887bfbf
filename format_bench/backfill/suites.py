"""asv's suites on one library set, one after the other, so that a kill loses one at most."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.backfill.configuration import Configuration

SOME_FAILED = 2
"""What asv returns if a benchmark has failed; its cell says why."""


def names(root: Path) -> list[str]:
    """Return the suites of a checkout, in order of name."""
    return sorted(path.stem for path in (root / "benchmarks").glob("[!_]*.py"))


def run(suite: str, configuration: Configuration, log: Path, lock: int) -> str:
    """Run a suite; return why that did not succeed, or an empty string.

    Parameters
    ----------
    suite : str
        Its name, as in "tabular".
    configuration : Configuration
        What is measured.
    log : Path
        The file that asv's output is appended to.
    lock : int
        A file descriptor which asv holds, too: a lock lasts as long as something is measured.
    """
    configuration.write()
    command = [sys.executable, "-m", "asv", "run", "--config", str(configuration.path)]
    command += ["--record-samples", "--skip-existing-successful", "--bench", rf"^{suite}\."]
    with log.open("a+", encoding="utf-8", errors="replace") as file:
        begin = file.seek(0, 2)
        done = subprocess.run(  # noqa: S603 (the arguments are our own)
            [*command, f"{configuration.commit}^!"],
            cwd=configuration.root,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            pass_fds=[lock],
            check=False,
        )
        file.seek(begin)
        told = file.read()
    return (
        "" if done.returncode in (0, SOME_FAILED) else reason(told) or f"asv returned {done.returncode}"
    )


def reason(told: str) -> str:
    """Return the line of asv's output that says most of why it failed: its last error, if any."""
    lines = [line.strip("· ") for line in told.splitlines()]
    errors = [line for line in lines if re.match(r"(error|\w*Error): ", line, re.IGNORECASE)]
    found = errors or [line for line in lines if line]
    return found[-1] if found else ""
