"""Cause of a change: the smallest table and a script that show it, and the release that brought it."""

from __future__ import annotations

import json
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adapter_core import ArraySource, FormatBenchError
from adapter_core.errors import UnsupportedError
from format_bench.changes.against import scripts
from format_bench.changes.against.verdicts import JudgedPair
from format_bench.families import plain_files
from format_bench.families.operations import operations_of
from format_bench.library_sets.replacement import ReplacedSet, Replacement, install
from format_bench.library_sets.resolution import run_uv
from format_bench.recommendation.script import script_of, why_none
from format_bench.results.candidates import Configuration
from format_bench.results.display.text import plural
from format_bench.results.load import suite_of
from format_bench.results.metrics import Measure
from format_bench.results.records import Record
from format_bench.results.suites import family_of_suite
from format_bench.runner.executor import TimeBudget

SCRIPT = "script.py"

# Calls within a script, and runs of it with each version for one question.
_CALLS, _RUNS = 7, 3

# A smaller table, or a release, shows a change if at least this share of its logarithm is left.
_SHARE = 0.5

# Wall time of the reduction of all cells; a run of a script that is under way at its end is killed.
REDUCTION_SECONDS = 300.0

# Rows of a table below which a script would time its own calls alone.
_FEWEST_ROWS = 100


@dataclass(frozen=True)
class Shown:
    """A script that shows a change without FormatBench."""

    path: Path
    record: Record
    """The cell, with the rows and columns of the script's data."""
    pair: JudgedPair
    """The script's own values with both versions."""


def reduce(
    pairs: Sequence[JudgedPair],
    sides: tuple[ReplacedSet, ReplacedSet],
    out: Path,
    rounds: int,
    say: Callable[[str], object],
) -> Shown:
    """Write a script of the largest change that a script shows, and its data, to a folder.

    Parameters
    ----------
    pairs : sequence of JudgedPair
        Changed cells, the largest changes first.
    sides : pair of ReplacedSet
        The sets of both versions.
    out : Path
        The folder.
    rounds : int
        Runs of the script with each version.
    say : callable
        Called with sentences on progress.

    Raises
    ------
    UnsupportedError
        If no changed cell has a script that shows its change.
    """
    reasons: dict[str, str] = {}
    budget = TimeBudget(REDUCTION_SECONDS)
    for pair in pairs:
        name = cell_name(pair.after)
        if budget.is_spent():
            reasons.setdefault(f"the {REDUCTION_SECONDS:.0f} seconds were over", name)
            break
        try:
            say(f"looking for the smallest data that show {name}")
            record, data = _Reduction(pair, sides, budget).smallest()
            path = _write(out, record, data, f"{name}, {sides[0].package}")
            (found,) = scripts.compare(path, sides, rounds, record)
        except FormatBenchError as error:
            reasons.setdefault(str(error), name)
            continue
        # Written anew with the value that it has to show.
        _write(out, found.after, data, f"{name}, {sides[0].package} {sides[1].version}")
        return Shown(path, record, found)
    each_once = "; ".join(f"{name}: {reason}" for reason, name in reasons.items())
    raise UnsupportedError(f"no script shows a change: {each_once}")


def cell_name(record: Record) -> str:
    """Return the name of a cell, e.g. "Parquet, read time of core with 10,000 rows"."""
    measure = Measure.of(record).comparable.phrase
    if record.suite == scripts.SUITE:
        return f"{record.format}, {measure}"
    return f"{Configuration.of(record)}, {measure} of {record.dataset} with {plural(record.rows, 'row')}"


def _write(out: Path, record: Record, data: Any, of: str) -> Path:
    """Write a script and its data to a folder."""
    family = family_of_suite(suite_of(record)).name
    out.mkdir(parents=True, exist_ok=True)
    name = plain_files.file_name(family, record.dataset, record.rows)
    digest = plain_files.write(family, data, out / name)
    array = data if isinstance(data, ArraySource) else None
    # The fewer calls, the more runs: processes differ more than calls.
    few = replace(record, repeats=record.repeats[:1] * _CALLS)
    path = out / SCRIPT
    path.write_text(script_of(few, of, f"{name}, beside this file", array, digest), encoding="utf-8")
    return path


class _Reduction:
    """Search for the smallest data that show the change of a cell.

    Parameters
    ----------
    pair : JudgedPair
        The cell.
    sides : pair of ReplacedSet
        The sets of both versions.
    budget : TimeBudget
        Wall time after which no smaller data are tried.
    """

    def __init__(
        self, pair: JudgedPair, sides: tuple[ReplacedSet, ReplacedSet], budget: TimeBudget
    ) -> None:
        self._pair, self._sides, self._budget = pair, sides, budget
        self._family = family_of_suite(suite_of(pair.after))

    def smallest(self) -> tuple[Record, Any]:
        """Return the smallest record and data that were found to show the change.

        Raises
        ------
        UnsupportedError
            If there is no script of the cell, or it does not show the change.
        FormatBenchError
            If the script fails.
        """
        record = self._pair.after
        if reason := why_none(record):
            raise UnsupportedError(reason)
        if not self._pair.ratio:
            raise UnsupportedError("it had no value before")
        data = operations_of(self._family).generate(record.dataset, record.rows)
        if not self._shows(record, data):
            raise UnsupportedError("its script does not show the change")
        while smaller := next((each for each in self._halves(record, data) if self._still(*each)), None):
            record, data = smaller
        return record, data

    def _still(self, record: Record, data: Any) -> bool:
        """Return whether smaller data show the change; what cannot be run, or in time, does not."""
        try:
            return not self._budget.is_spent() and self._shows(record, data)
        except FormatBenchError:
            return False

    def _shows(self, record: Record, data: Any) -> bool:
        """Return whether each of some pairs of runs shows enough of the change."""
        whole = math.log(self._pair.ratio or 1.0)

        def limit() -> float:
            return min(scripts.LIMIT_SECONDS, max(1.0, self._budget.left_seconds))

        with tempfile.TemporaryDirectory() as folder:
            script = _write(Path(folder), record, data, "part")
            rounds = scripts.by_round(script, [each.name for each in self._sides], _RUNS, limit)
            values = ([each[record.metric] for each in of_round] for of_round in rounds)
            # The first pair that shows none of it ends the trial.
            return all(math.log(after / before) / whole >= _SHARE for before, after in values)

    def _halves(self, record: Record, data: Any) -> Iterator[tuple[Record, Any]]:
        """Yield smaller data: halves of a table's columns, then half of the rows."""
        if self._family.name != "tables":
            if (fewer := record.rows // 2) > 0:
                made = operations_of(self._family).generate(record.dataset, fewer)
                yield replace(record, rows=fewer), made
            return
        columns, rows = len(data.columns), len(data)
        parts = []
        if columns > 1:
            parts += [data.iloc[:, : columns // 2], data.iloc[:, columns // 2 :]]
        if rows >= 2 * _FEWEST_ROWS:
            parts.append(data.iloc[: rows // 2])
        for each in parts:
            yield replace(record, rows=len(each), columns=len(each.columns)), each


def releases(package: str, index: str | None = None) -> list[str]:
    """Return the versions of a package that the index has for this Python, in ascending order.

    Raises
    ------
    ResolutionError
        If no index is in reach.
    """
    from packaging.version import Version

    options = [] if index is None else ["--extra-index-url", index, "--pre"]
    python = ["run", "--no-project", "--isolated", "--python", sys.executable, "--with", "pip>=25.1"]
    pip = ["python", "-m", "pip", "index", "versions", package, "--json"]
    text = run_uv(*python, *pip, *options)
    return sorted(json.loads(text)["versions"], key=Version)


def between(versions: Sequence[str], before: str, after: str) -> list[str]:
    """Return the versions between two, in the direction from the first to the second."""
    from packaging.version import Version

    low, high = sorted((Version(before), Version(after)))
    found = [each for each in versions if low < Version(each) < high]
    return found if Version(before) < Version(after) else found[::-1]


def bisect(versions: Sequence[str], shows: Callable[[str], bool | None]) -> tuple[int, int]:
    """Return the last place before a change, and the first one after it, of versions that were tried.

    Parameters
    ----------
    versions : sequence of str
        In order; the first is known not to show the change, and the last to show it.
    shows : callable
        Whether a version shows it; None if it cannot be tried.
    """
    last_before, first_after, left_out = 0, len(versions) - 1, set[int]()
    while open_places := [each for each in range(last_before + 1, first_after) if each not in left_out]:
        place = open_places[len(open_places) // 2]
        answer = shows(versions[place])
        if answer is None:
            left_out.add(place)
        elif answer:
            first_after = place
        else:
            last_before = place
    return last_before, first_after


@dataclass(frozen=True)
class Culprit:
    """The releases around a change."""

    last_before: str
    first_after: str
    ratios: dict[str, float | None]
    """Value of the script with each tried release by that of the earlier version, in order of versions;
    None where a release could not be installed or run."""


def find_release(
    shown: Shown,
    sides: tuple[ReplacedSet, ReplacedSet],
    further: Sequence[str],
    index: str | None,
    say: Callable[[str], object],
) -> Culprit:
    """Bisect the releases between two versions by a script that shows a change.

    Parameters
    ----------
    shown : Shown
        The script.
    sides : pair of ReplacedSet
        The sets of both versions.
    further : sequence of str
        Requirements of the script's libraries.
    index : str, optional
        A further package index, whose pre-releases count, too.
    say : callable
        Called with a sentence for each release that is tried.
    """
    before, after = sides
    whole = math.log(shown.pair.ratio or 1.0)
    versions = [
        before.version,
        *between(releases(before.package, index), before.version, after.version),
        after.version,
    ]
    ratios: dict[str, float | None] = {}

    def shows(version: str) -> bool | None:
        try:
            wanted = Replacement.parse(f"{before.package}=={version}")
            probe = install(wanted, further, index)
            values = scripts.in_turn(shown.path, [before.name, probe.name], _RUNS)
        except FormatBenchError as error:
            say(f"{before.package} {version} is left out: {error}")
            ratios[version] = None
            return None
        one, other = (each[shown.record.metric] for each in values)
        ratio = statistics.median(b / a for a, b in zip(one, other, strict=True))
        ratios[version] = ratio
        say(f"{before.package} {version}: {ratio:.2f} times the value of {before.version}")
        return math.log(ratio) / whole >= _SHARE

    last_before, first_after = bisect(versions, shows)
    ordered = {each: ratios[each] for each in versions if each in ratios}
    return Culprit(versions[last_before], versions[first_after], ordered)
