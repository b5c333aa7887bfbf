"""Making the commits of a history, and measuring them."""

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

from format_bench.automation.history.measuring import Measuring, measuring_lock, say
from format_bench.automation.history.past_sets import PastSet, resolve_past
from format_bench.library_sets.resolution import declared

if TYPE_CHECKING:
    from format_bench.automation.history.repository import Branch, Repository
    from format_bench.library_sets.outcomes import Note


PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

SHOWN = ("pandas", "pyarrow")
"""The libraries by which people know a set."""


@dataclass(frozen=True)
class Entry:
    """One day of a history."""

    past: PastSet
    commit: str = ""
    """Its commit; empty if there is none yet."""
    note: Note | None = None
    """What became of it; None if it was not measured."""


def make(branch: Branch, days: Sequence[date], *, dry_run: bool) -> list[Entry]:
    """Return an entry with a commit for each day; sets that have none yet are resolved and committed.

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
        say("uncommitted changes are not part of the commits")
    requirements = _declared(branch.repository, base) if missing else {}
    entries = []
    for day in days:
        if day in found:
            entries.append(Entry(branch.set_of(found[day]), found[day]))
            continue
        past = resolve_past(day, requirements, PYTHON)
        entries.append(Entry(past, "" if dry_run else branch.add(past, base)))
        say(f"{day}: {told(past)}")
    return entries


def measure(root: Path, entries: Sequence[Entry], scale: str, suites: Sequence[str]) -> list[Entry]:
    """Measure the commits of entries, and return them with what became of each.

    Raises
    ------
    FormatBenchError
        If another run measures in this checkout.
    """
    with measuring_lock(root) as lock:
        measuring = Measuring(root, scale, suites, lock)
        return [
            replace(
                entry, note=measuring.measure(entry.commit, entry.past, f"{place} of {len(entries)}")
            )
            for place, entry in enumerate(entries, 1)
        ]


def told(past: PastSet) -> str:
    """Return what is in a set, in a line."""
    if past.reason:
        return f"no set: {past.reason}"
    versions = past.versions
    shown = [f"{name} {versions[name]}" for name in SHOWN if name in versions]
    line = ", ".join([f"{len(versions)} packages", *shown])
    return f"{line}; left out: {', '.join(past.left_out)}" if past.left_out else line


def _declared(repository: Repository, commit: str) -> Mapping[str, Sequence[str]]:
    """Return what a commit declares, whatever the work tree holds."""
    with TemporaryDirectory() as folder:
        archive = repository.git_bytes("archive", "--format=tar", commit)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        return declared(Path(folder))
