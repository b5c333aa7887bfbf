"""History of library sets: the commits of its days, and their measurements."""

from __future__ import annotations

import io
import logging
import os
import re
import shutil
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adapter_core.errors import LockedError
from format_bench.automation.asv_runs import SUCCESSFUL, machine_name, run_suite
from format_bench.automation.history.branch import Branch
from format_bench.automation.history.past_sets import PastSet, resolve_past
from format_bench.library_sets import outcomes
from format_bench.library_sets.outcomes import SetOutcome, SetRecord
from format_bench.library_sets.resolution import declared
from format_bench.system.git import Repository
from format_bench.system.locks import lock

LOG = logging.getLogger(__name__)

# --no-deps: a package that the set does not name stays missing, rather than coming in today's version.
INSTALL = (
    "in-dir={env_dir} python -m pip install --quiet --no-deps "
    "-r {build_dir}/constraints.txt {wheel_file}"
)


@contextmanager
def measuring_lock(root: Path) -> Iterator[int]:
    """Exclude other runs that measure in a checkout, also cron.sh's.

    Parameters
    ----------
    root : Path
        The checkout, or the clone in it in which the monthly run measures.

    Yields
    ------
    int
        The lock's descriptor; processes that inherit it keep the lock.

    Raises
    ------
    LockedError
        If another run has the lock; the message names it.
    """
    # The clone is inside of the checkout whose lock cron.sh takes.
    in_clone = root.parts[-2:] == (".asv", "monthly")
    path = (root.parent if in_clone else root / ".asv") / "cron.lock"
    path.parent.mkdir(exist_ok=True)
    path.touch()
    try:
        descriptor = lock(path)
    except BlockingIOError as error:
        holder = path.read_text(encoding="utf-8").strip() or "unknown"
        raise LockedError(f"another run holds {path}: {holder}") from error
    try:
        since = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        path.write_text(f"process {os.getpid()}, since {since}\n", encoding="utf-8")
        yield descriptor
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class HistoryConfig:
    """asv's configuration for one commit of a history, derived from asv.conf.json.

    Parameters
    ----------
    root : Path
        The folder of asv.conf.json, of the suites and of asv's files.
    scale : str
        "full", "quick" or "tiny".
    commit : str
        The commit. It has an environment of its own: asv removes nothing from one that it uses again,
        so libraries of another set would stay.
    """

    root: Path
    scale: str
    commit: str

    @property
    def path(self) -> Path:
        """The file: in the root, since asv works in the folder of its configuration."""
        return self.root / f".asv.history-{self.scale}.json"

    @property
    def results_dir(self) -> Path:
        """The folder of asv's results of all commits at this scale."""
        return self.root / self._facts()["results_dir"]

    @property
    def env_dir(self) -> Path:
        """The folder of the environment."""
        return self.root / ".asv" / "history" / self.commit

    def write(self) -> None:
        """Write the file."""
        from asv.util import write_json

        facts = self._facts()
        facts |= {
            # asv falls back on the tips of the branches where a commit does not install.
            "branches": [self.commit],
            "env_dir": str(self.env_dir.relative_to(self.root)),
            "install_command": [INSTALL],
        }
        write_json(str(self.path), facts)

    def remove(self) -> None:
        """Remove the file and the environment."""
        self.path.unlink(missing_ok=True)
        shutil.rmtree(self.env_dir, ignore_errors=True)

    def is_installed(self) -> bool:
        """Return whether asv has installed the set and the project."""
        notes = self.env_dir.glob("*/asv-install-status.json")
        return any(f'"{self.commit}"' in note.read_text(encoding="utf-8") for note in notes)

    def _facts(self) -> dict[str, Any]:
        """Return asv.conf.json at the scale, as the Makefile derives it."""
        from json5 import loads

        text = (self.root / "asv.conf.json").read_text(encoding="utf-8")
        return loads(re.sub(r"\bfull\b", self.scale, text))


@dataclass
class CommitRuns:
    """Runs of suites on commits.

    Parameters
    ----------
    root : Path
        The folder of asv.conf.json.
    scale : str
        "full", "quick" or "tiny".
    suites : sequence of str
        The suites to run.
    lock_descriptor : int
        Descriptor of the `measuring_lock`.
    """

    root: Path
    scale: str
    suites: Sequence[str]
    lock_descriptor: int

    def __post_init__(self) -> None:
        self.log = self.root / ".asv" / self.scale / "history.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        log_progress(f"the output of asv goes to {self.log.relative_to(self.root)}")

    def measure(self, commit: str, past: PastSet, place: str) -> SetRecord:
        """Run the suites that have not ended on a commit, and return the record of its set.

        Parameters
        ----------
        commit : str
            The commit.
        past : PastSet
            Its library set.
        place : str
            Its place among all commits, for messages, e.g. "2 of 12".
        """
        config = HistoryConfig(self.root, self.scale, commit)
        results_dir = config.results_dir
        machine = machine_name(self.root, results_dir)
        earlier = outcomes.newest(results_dir, machine, commit)
        record = SetRecord(commit, str(past.day), machine, SetOutcome.MEASURED, left_out=past.left_out)
        record = replace(record, suites=earlier.suites if earlier else [])
        if past.reason:
            record = replace(record, status=SetOutcome.UNRESOLVABLE, sentence=past.reason)
            outcomes.write(results_dir, record)
            return record
        for suite in [each for each in self.suites if each not in record.suites]:
            log_progress(f"{past.day} ({place}), {suite}: measuring")
            start = time.monotonic()
            failure = self._run(suite, config)
            if failure:
                status = SetOutcome.FAILED if config.is_installed() else SetOutcome.NOT_INSTALLED
                record = replace(record, status=status, sentence=failure, time=time.time())
                outcomes.write(results_dir, record)
                break
            record = replace(record, suites=[*record.suites, suite], time=time.time())
            outcomes.write(results_dir, record)
            minutes = (time.monotonic() - start) / 60
            log_progress(f"{past.day} ({place}), {suite}: {minutes:.1f} min")
        config.remove()
        return record

    def _run(self, suite: str, config: HistoryConfig) -> str:
        """Run a suite; return the reason why it failed, or an empty string."""
        config.write()
        # The output of pip, which asv passes on, may have any encoding.
        with self.log.open("a+", encoding="utf-8", errors="replace") as file:
            start = file.seek(0, os.SEEK_END)
            status = run_suite(
                suite,
                config.commit,
                str(config.path),
                root=self.root,
                output=file,
                # After a kill of this process, the lock lasts as long as asv measures.
                descriptors=[self.lock_descriptor],
            )
            file.seek(start)
            output = file.read()
        return "" if status in SUCCESSFUL else failure_reason(output) or f"asv returned {status}"


def failure_reason(output: str) -> str:
    """Return the last error in asv's output; its last line if it contains none."""
    lines = [line.strip("· ") for line in output.splitlines()]
    errors = [line for line in lines if re.match(r"(error|\w*Error): ", line, re.IGNORECASE)]
    found = errors or [line for line in lines if line]
    return found[-1] if found else ""


def log_progress(sentence: str) -> None:
    """Log a sentence with the time, since a history takes hours."""
    LOG.info("%s %s", datetime.now(UTC).strftime("%H:%M:%S"), sentence)


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
