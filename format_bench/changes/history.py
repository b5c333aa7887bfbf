"""Reads the history of all results from asv's files and the library sets in git.

The points of a history: what was measured of each commit, and with which libraries.

Which versions each commit was measured with: from its library set, or from what its run recorded.

Which libraries differ between two points: those that an adapter declares, and all others.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import ResultsNotFoundError
from adapter_core.listing import declarations
from format_bench.asv_support.results import run_of
from format_bench.asv_support.run import FOLDER
from format_bench.library_sets import parse, steps

if TYPE_CHECKING:
    from format_bench.asv_support.results import Run
    from format_bench.library_sets import Step


FOLDERS = {"image": "image_storages"}
"""Where the adapters of a module of suites are; those of the others are in data_formats."""

HARDWARE = ("machine", "arch", "cpu", "num_cpu", "ram")
"""What asv knows of a machine; where one of these differs, it is another machine."""


@dataclass(frozen=True)
class Point:
    """One commit in one environment on one machine."""

    name: str
    """Of the x axis: the month, as in "2026-03", or the day where a month has several commits."""
    date: datetime
    """When it was committed."""
    libraries: Mapping[str, str]
    """Version of each library of its set, by canonical name; empty if not known."""
    system: str
    """The operating system and its version, as asv tells them."""
    run: Run
    twice: frozenset[str]
    """The benchmarks whose samples come from two rounds of the run or more, each with a process of its
    own: what disturbs one process does not disturb both."""


@dataclass(frozen=True)
class Line:
    """What can be compared: the points of one environment on one machine, in order of date."""

    hardware: Mapping[str, str]
    """As `HARDWARE` names it."""
    environment: str
    points: list[Point]

    @property
    def machine(self) -> str:
        """The name of the machine."""
        return self.hardware["machine"]


@dataclass(frozen=True, eq=False)
class History:
    """All results of a folder; each reading is a history of its own."""

    lines: list[Line]
    """The line with the newest point first."""
    requires: Mapping[tuple[str, str], tuple[str, ...]]
    """The libraries that an adapter declares, in its order, by folder and label."""

    def libraries_of(self, module: str, label: str) -> tuple[str, ...]:
        """Return the canonical names of the libraries that the adapter of a suite's format declares."""
        return self.requires.get((FOLDERS.get(module, "data_formats"), label), ())


SET = "constraints.txt"


def library_versions(
    results: Iterable[Any], results_dir: Path, repository: Path
) -> dict[str, dict[str, str]]:
    """Return the versions by canonical name of each commit, by its hash; empty if nobody knows.

    Parameters
    ----------
    results : iterable of asv.results.Results
        The results whose commits are asked for.
    results_dir : Path
        Their folder, with the circumstances of the runs: what was installed, of the libraries that
        adapters declare. They decide where a commit is not in the repository, as in a shallow clone.
    repository : Path
        A git repository.
    """
    commits = dict.fromkeys(result.commit_hash for result in results)
    recorded = _recorded(results_dir)
    sets = _sets(commits, repository)
    return {commit: sets.get(commit) or recorded.get(commit, {}) for commit in commits}


def _sets(commits: Iterable[str], repository: Path) -> dict[str, dict[str, str]]:
    """Return the library set of each commit that has one, asking git once for all."""
    asked = list(commits)
    names = "".join(f"{commit}:{SET}\n" for commit in asked).encode()
    command = ["git", "-C", str(repository), "cat-file", "--batch"]
    try:
        told = subprocess.run(command, input=names, capture_output=True, check=True).stdout  # noqa: S603 (git, by hashes)
    except (OSError, subprocess.CalledProcessError):
        return {}
    found = {}
    for commit in asked:
        head, _, told = told.partition(b"\n")
        if head.endswith(b" missing"):
            continue
        size = int(head.rpartition(b" ")[2])
        text, told = told[:size].decode(), told[size + 1 :]
        found[commit] = parse(text)
    return found


def _recorded(results_dir: Path) -> dict[str, dict[str, str]]:
    from packaging.utils import canonicalize_name

    found: dict[str, dict[str, str]] = {}
    for path in sorted((results_dir / FOLDER).glob("*.jsonl")):
        for facts in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            libraries = facts.get("libraries", {})
            found[facts["asv_commit"]] = {
                canonicalize_name(name): version for name, version in libraries.items() if version
            }
    return found


def version_steps(
    history: History, module: str, label: str, before: Point, since: Point
) -> tuple[list[Step], list[Step]]:
    """Return the steps of the libraries that the adapter declares, in its order, and of all others.

    Both are empty where no library differs, or where nobody knows the versions of one of the points.
    """
    if not before.libraries or not since.libraries:
        return [], []
    own = {name: place for place, name in enumerate(history.libraries_of(module, label))}
    found = steps(before.libraries, since.libraries)
    declared = sorted((step for step in found if step.name in own), key=lambda step: own[step.name])
    return declared, [step for step in found if step.name not in own]


__all__ = ["History", "Line", "Point", "read_history"]


def read_history(results_dir: Path, repository: Path) -> History:
    """Return the history in a folder of asv's results.

    Parameters
    ----------
    results_dir : Path
        The folder, with `benchmarks.json`. Results of other versions of the benchmarks are left out.
    repository : Path
        The checkout: its git history has the library set of each commit, its folders have the adapters.

    Raises
    ------
    ResultsNotFoundError
        If there is no result in the folder.
    """
    from asv.benchmarks import Benchmarks
    from asv.results import iter_results
    from asv.util import load_json

    path = results_dir / "benchmarks.json"
    results = list(iter_results(str(results_dir))) if path.is_file() else []
    if not results:
        raise ResultsNotFoundError(
            f"{results_dir} holds no results of asv; run `make bench`, or `asv run`"
        )
    benchmarks = load_json(str(path), api_version=Benchmarks.api_version)
    by_line: dict[tuple[str, ...], list[Any]] = {}
    for result in sorted(results, key=lambda each: (each.date, each.commit_hash)):
        facts = (*(result.params.get(name, "") for name in HARDWARE), result.env_name)
        by_line.setdefault(facts, []).append(result)
    versions = library_versions(results, results_dir, repository)
    twice = frozenset(name for name, each in benchmarks.items() if each.get("rounds", 1) > 1)
    lines = [
        Line(
            dict(zip(HARDWARE, facts, strict=False)),
            facts[-1],
            [
                Point(
                    name,
                    _date(result),
                    versions[result.commit_hash],
                    result.params.get("os", ""),
                    run_of(result, benchmarks, results_dir),
                    twice,
                )
                for name, result in zip(_names(found), found, strict=True)
            ],
        )
        for facts, found in by_line.items()
    ]
    lines.sort(key=lambda line: line.points[-1].date, reverse=True)
    return History(lines, _requires(repository))


def _date(result: Any) -> datetime:
    return datetime.fromtimestamp(result.date / 1000, UTC)


def _names(results: list[Any]) -> list[str]:
    """Return a name for each result: its month, or what else tells it from others of that month."""
    dates = [_date(result) for result in results]
    names = [f"{date:%Y-%m}" for date in dates]
    for finer in ("{:%Y-%m-%d}", "{:%Y-%m-%d %H:%M}"):
        often = Counter(names)
        names = [
            finer.format(date) if often[name] > 1 else name
            for name, date in zip(names, dates, strict=True)
        ]
    return names


def _requires(repository: Path) -> dict[tuple[str, str], tuple[str, ...]]:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    return {
        (folder, each.label): tuple(canonicalize_name(Requirement(text).name) for text in each.requires)
        for folder in ("data_formats", *FOLDERS.values())
        for each in declarations(repository / folder)
    }
