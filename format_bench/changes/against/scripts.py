"""Scripts without FormatBench that are run in library sets in turn, and compared."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from adapter_core.errors import InvalidRequestError
from adapter_core.text import shortened
from format_bench.changes.against.verdicts import JudgedPair, judge
from format_bench.instruments.intervals import median_interval
from format_bench.library_sets.replacement import ReplacedSet
from format_bench.results.metrics import METRICS
from format_bench.results.records import Record
from format_bench.results.status import CellStatus
from format_bench.system import library_set

SUITE = "script"
"""In the place of the suite of a user's script."""

# A script of a cell takes seconds; one that hangs ends the comparison.
LIMIT_SECONDS = 600

# As scripts of cells print it: "read time: 0.0123 seconds, the median of 5; the record has ...".
_NUMBER = r"((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?)"
_LINE = re.compile(rf"^([\w ]+): {_NUMBER}(?: seconds| bytes)?(?:$|,(?!\d)|;)", re.MULTILINE)


def run(script: Path, name: str, limit_seconds: float = LIMIT_SECONDS) -> dict[str, float]:
    """Run a script in a library set; return the values that it prints, by metric.

    Raises
    ------
    InvalidRequestError
        If it fails, takes too long, or prints no line such as "read time: 0.0123 seconds".
    """
    python = library_set.folder() / name / "bin" / "python"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    try:
        done = subprocess.run(  # noqa: S603 (a script of the user's, or made here)
            [python, "-s", script.name],
            cwd=script.parent,
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        reason = f"it was not finished after {limit_seconds:.0f} seconds with {name}"
        raise InvalidRequestError(f"{script}: {reason}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise InvalidRequestError(f"{script} fails with {name}: {shortened(last)}")
    printed = ((metric, value.replace(",", "")) for metric, value in _LINE.findall(done.stdout))
    found = {metric: float(value) for metric, value in printed if metric in METRICS}
    if not found:
        known = "a line such as 'read time: 0.0123 seconds', or of another metric"
        raise InvalidRequestError(f"{script} prints no value: it needs {known}")
    return found


def by_round(
    script: Path, names: Sequence[str], rounds: int, limit_seconds: Callable[[], float] | None = None
) -> Iterator[list[dict[str, float]]]:
    """Run a script in several library sets in turn; yield the values of each set, round by round.

    Every second round goes backwards. `limit_seconds` returns the wall time that a run may take.
    """
    for number in range(rounds):
        found: list[dict[str, float]] = [{} for _ in names]
        for position in range(len(names))[:: 1 if number % 2 == 0 else -1]:
            limit = LIMIT_SECONDS if limit_seconds is None else limit_seconds()
            found[position] = run(script, names[position], limit)
        yield found


def in_turn(script: Path, names: Sequence[str], rounds: int) -> list[dict[str, list[float]]]:
    """Return the values of each library set, a list for each metric with a value of each round."""
    found: list[dict[str, list[float]]] = [{} for _ in names]
    for values in by_round(script, names, rounds):
        for known, new in zip(found, values, strict=True):
            for metric, value in new.items():
                known.setdefault(metric, []).append(value)
    return found


def compare(
    script: Path, sides: tuple[ReplacedSet, ReplacedSet], rounds: int, cell: Record | None = None
) -> list[JudgedPair]:
    """Run a script in two library sets in turn, and judge each of its metrics.

    Parameters
    ----------
    script : Path
        The script.
    sides : pair of ReplacedSet
        The earlier version's set, and the later one's.
    rounds : int
        How often it is run in each.
    cell : Record, optional
        The cell that the script measures; by default the script is a cell of its own.
    """
    before, after = in_turn(script, [each.name for each in sides], rounds)
    return judge(
        (_record(cell, script, metric, before[metric]), _record(cell, script, metric, after[metric]))
        for metric in before
        if metric in after
    )


def _record(cell: Record | None, script: Path, metric: str, values: list[float]) -> Record:
    """Return a record of values, of a round each."""
    interval = median_interval(values)
    own = cell or Record(
        suite=SUITE,
        format=script.name,
        engine="",
        dataset="-",
        rows=1,
        columns=0,
        codec=None,
        level=None,
        conditions={},
        metric=metric,
        unit=METRICS[metric].unit,
        value=None,
        repeats=[],
        interval=None,
        status=CellStatus.VALUE,
        sentence="",
        run_id="script",
    )
    return replace(
        own,
        value=statistics.median(values),
        repeats=values,
        interval=[interval.low, interval.high],
        rounds=len(values),
        round_sizes=[1] * len(values),
    )
