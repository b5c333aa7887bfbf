"""History of library sets: the commits of its days, and their measurements."""

from __future__ import annotations

import io
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from format_bench.automation.history.commit_runs import CommitRuns, log_progress, measuring_lock
from format_bench.automation.history.past_sets import PastSet, resolve_past
from format_bench.library_sets.resolution import declared

if TYPE_CHECKING:
    from format_bench.automation.history.branch import Branch
    from format_bench.library_sets.outcomes import SetRecord
    from format_bench.system.git import Repository


PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

# The libraries whose versions identify a set for readers.
MAIN_LIBRARIES = ("pandas", "pyarrow")


@dataclass(frozen=True)
class DayEntry:
    """One day of a history."""

    past: PastSet
    commit: str = ""
    """Its commit; empty before it is made."""
    record: SetRecord | None = None
    """Outcome of its measurement; None if it was not measured."""


def make(branch: Branch, days: Sequence[date], *, dry_run: bool) -> list[DayEntry]:
    """Resolve and commit the sets of days without a commit, and return an entry for each day.

    Parameters
    ----------
    branch : Branch
        The branch that gets the commits.
    days : sequence of date
        The days, oldest first.
    dry_run : bool
        Resolve sets, but make no commit.

    Raises
    ------
    InvalidBranchError
        If the branch cannot take them; nothing is made then.
    """
    branch.check(days)
    found = branch.commits()
    base = branch.repository.commit_of("HEAD")
    missing = set(days) - found.keys()
    if missing and branch.repository.has_changes():
        log_progress("uncommitted changes are not part of the commits")
    requirements = _declared(branch.repository, base) if missing else {}
    entries = []
    for day in days:
        if day in found:
            entries.append(DayEntry(branch.set_of(found[day]), found[day]))
            continue
        past = resolve_past(day, requirements, PYTHON)
        entries.append(DayEntry(past, "" if dry_run else branch.add(past, base)))
        log_progress(f"{day}: {summary(past)}")
    return entries


def measure(
    root: Path, entries: Sequence[DayEntry], scale: str, suites: Sequence[str]
) -> list[DayEntry]:
    """Measure the commits of entries, and return the entries with the records of their sets.

    Raises
    ------
    LockedError
        If another run measures in this checkout.
    """
    with measuring_lock(root) as descriptor:
        runs = CommitRuns(root, scale, suites, descriptor)
        return [
            replace(entry, record=runs.measure(entry.commit, entry.past, f"{place} of {len(entries)}"))
            for place, entry in enumerate(entries, 1)
        ]


def summary(past: PastSet) -> str:
    """Return a summary of a set, in a line."""
    if past.reason:
        return f"no set: {past.reason}"
    versions = past.versions
    main = [f"{name} {versions[name]}" for name in MAIN_LIBRARIES if name in versions]
    line = ", ".join([f"{len(versions)} packages", *main])
    return f"{line}; left out: {', '.join(past.left_out)}" if past.left_out else line


def _declared(repository: Repository, commit: str) -> Mapping[str, Sequence[str]]:
    """Return the requirements that a commit declares, whatever the work tree contains."""
    with TemporaryDirectory() as folder:
        archive = repository.git_bytes("archive", "--format=tar", commit)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        return declared(Path(folder))
