"""History of all results: asv's runs in order of their commits, with the library versions of each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapter_core.errors import GitError, ResolutionError, ResultsNotFoundError
from adapter_core.files import content_of
from adapter_core.listing import declarations
from format_bench.asv_support.results import Run, damage_reported, run_of
from format_bench.asv_support.run import METADATA_FOLDER
from format_bench.library_sets import VersionChange, parse, version_changes
from format_bench.results.suites import FAMILIES, family_of_suite
from format_bench.system.git import Repository

# asv's facts on a machine; if one of them differs, it is another machine, whatever its name.
HARDWARE = ("machine", "arch", "cpu", "num_cpu", "ram")

LIBRARY_SET = "constraints.txt"


@dataclass(frozen=True)
class Point:
    """One commit in one environment on one machine."""

    name: str
    """Name on the x axis: the month, e.g. "2026-03", or the day where a month has several commits."""
    date: datetime
    """Date of the commit."""
    libraries: Mapping[str, str]
    """Version of each library of the set, by canonical name; empty if not known."""
    system: str
    """The operating system and its version, as asv records them."""
    run: Run
    replicated: frozenset[str]
    """Benchmarks that the run has measured in two rounds or more, each in a process of its own: a
    disturbance of one process does not disturb the other."""


@dataclass(frozen=True)
class HistoryLine:
    """Comparable points: one environment on one machine, in order of date."""

    hardware: Mapping[str, str]
    """Facts on the machine, by the names in `HARDWARE`."""
    environment: str
    points: list[Point]

    @property
    def machine(self) -> str:
        """Name of the machine."""
        return self.hardware["machine"]


# Compared by identity: caches keep what was found in one reading.
@dataclass(frozen=True, eq=False)
class History:
    """All results of a folder."""

    lines: list[HistoryLine]
    """The line with the newest point first; of the same commit, the one that was measured last."""
    requires: Mapping[tuple[str, str], tuple[str, ...]]
    """Libraries that each adapter declares, in its order, by folder and label."""

    def libraries_of(self, module: str, label: str) -> tuple[str, ...]:
        """Return the canonical names of the libraries that the adapter of a suite's format declares."""
        return self.requires.get((_folder_of(module), label), ())


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
        If the folder has no result.
    InvalidResultsError
        If a file is damaged.
    """
    with damage_reported(results_dir):
        return _read_history(results_dir, repository)


def _read_history(results_dir: Path, repository: Path) -> History:
    from asv.benchmarks import Benchmarks
    from asv.results import iter_results
    from asv.util import load_json

    path = results_dir / "benchmarks.json"
    results = list(iter_results(str(results_dir))) if path.is_file() else []
    if not results:
        raise ResultsNotFoundError(f"no results of asv in {results_dir}; `asv run` makes them")
    benchmarks = load_json(str(path), api_version=Benchmarks.api_version)
    by_line: dict[tuple[str, ...], list[Any]] = {}
    # Commits of the same second need an order that does not depend on the file system.
    for result in sorted(results, key=lambda each: (each.date, each.commit_hash)):
        facts = (*(result.params.get(name, "") for name in HARDWARE), result.env_name)
        by_line.setdefault(facts, []).append(result)
    versions = library_versions(results, results_dir, repository)
    replicated = frozenset(name for name, each in benchmarks.items() if each.get("rounds", 1) > 1)
    lines = [
        HistoryLine(
            # The last fact is the environment.
            dict(zip(HARDWARE, facts, strict=False)),
            facts[-1],
            [
                Point(
                    name,
                    _date(result),
                    versions[result.commit_hash],
                    result.params.get("os", ""),
                    run_of(result, benchmarks, results_dir),
                    replicated,
                )
                for name, result in zip(_point_names(found), found, strict=True)
            ],
        )
        for facts, found in sorted(
            by_line.items(),
            # Machines often measure the same commit.
            key=lambda item: (item[1][-1].date, _started(item[1][-1])),
            reverse=True,
        )
    ]
    return History(lines, _requires(repository))


def _date(result: Any) -> datetime:
    # asv keeps dates in milliseconds, as JavaScript does.
    return datetime.fromtimestamp(result.date / 1000, UTC)


def _started(result: Any) -> int:
    """Return the start of the latest benchmark, in milliseconds."""
    return max((each for each in result.started_at.values() if each), default=0)


def _point_names(results: list[Any]) -> list[str]:
    """Return a name for each result: its month, or a finer date where a month has several."""
    dates = [_date(result) for result in results]
    names = [f"{date:%Y-%m}" for date in dates]
    for finer in ("{:%Y-%m-%d}", "{:%Y-%m-%d %H:%M}"):
        counts = Counter(names)
        names = [
            finer.format(date) if counts[name] > 1 else name
            for name, date in zip(names, dates, strict=True)
        ]
    return names


def _folder_of(suite: str) -> str:
    """Return the folder of a suite's adapters; for a suite that is not declared here, the tables'."""
    family = family_of_suite(suite)
    return family.folder


def _requires(repository: Path) -> dict[tuple[str, str], tuple[str, ...]]:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    return {
        (folder, label): tuple(canonicalize_name(Requirement(text).name) for text in each.requires)
        for folder in (family.folder for family in FAMILIES.values())
        for each in declarations(repository / folder)
        for label in each.labels
    }


def library_versions(
    results: Iterable[Any], results_dir: Path, repository: Path
) -> dict[str, dict[str, str]]:
    """Return the versions of each commit's libraries by canonical name; empty where they are not known.

    Parameters
    ----------
    results : iterable of asv.results.Results
        Results of the commits.
    results_dir : Path
        Their folder, with the metadata of the runs: the installed versions of the libraries that
        adapters declare. They are used if a commit is not in the repository, e.g. in a shallow clone.
    repository : Path
        A git repository.

    Returns
    -------
    dict
        By the hash of the commit.
    """
    commits = dict.fromkeys(result.commit_hash for result in results)
    recorded = _recorded(results_dir)
    sets = _library_sets(commits, repository)
    return {commit: sets.get(commit) or recorded.get(commit, {}) for commit in commits}


def _library_sets(commits: Iterable[str], repository: Path) -> dict[str, dict[str, str]]:
    """Return the library set of each commit that has one; none outside of a repository."""
    names = {f"{commit}:{LIBRARY_SET}": commit for commit in commits}
    try:
        found = Repository(repository).contents(list(names))
    except (OSError, GitError):
        return {}
    sets = {}
    for name, content in found.items():
        with content_of(name, ResolutionError, "is not a library set: a line does not pin a version"):
            sets[names[name]] = parse(content.decode())
    return sets


def _recorded(results_dir: Path) -> dict[str, dict[str, str]]:
    from packaging.utils import canonicalize_name

    found: dict[str, dict[str, str]] = {}
    for path in sorted((results_dir / METADATA_FOLDER).glob("*.jsonl")):
        for facts in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            libraries = facts.get("libraries", {})
            found[facts["asv_commit"]] = {
                canonicalize_name(name): version for name, version in libraries.items() if version
            }
    return found


def version_steps(
    history: History, module: str, label: str, before: Point, since: Point
) -> tuple[list[VersionChange], list[VersionChange]]:
    """Return the differences between the library sets of two points.

    Returns
    -------
    list of VersionChange
        The libraries that the adapter of a suite's format declares, in its order.
    list of VersionChange
        All others. Both lists are empty if the versions of one of the points are not known.
    """
    if not before.libraries or not since.libraries:
        return [], []
    own = {name: place for place, name in enumerate(history.libraries_of(module, label))}
    found = version_changes(before.libraries, since.libraries)
    declared = sorted((step for step in found if step.name in own), key=lambda step: own[step.name])
    return declared, [step for step in found if step.name not in own]
