"""The configuration with which asv measures one library set: derived from asv.conf.json.

The lock of whatever measures in a checkout: two at once would disturb each other.

The name of this machine, by which asv tells its graphs apart.

asv's suites on one library set, one after the other, so that a kill loses one at most.

Measuring the commits of a history, one set after the other, and noting what became of each.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import FormatBenchError
from format_bench.library_sets import outcomes
from format_bench.library_sets.outcomes import Note, Status

if TYPE_CHECKING:
    from format_bench.automation.history.past_sets import PastSet


INSTALL = (
    "in-dir={env_dir} python -m pip install --quiet --no-deps "
    "-r {build_dir}/constraints.txt {wheel_file}"
)
"""The set and nothing else: what it does not name is not there, rather than there as of today."""


@dataclass(frozen=True)
class Configuration:
    """How asv measures one commit of a checkout.

    Parameters
    ----------
    root : Path
        The folder of asv.conf.json, of the suites and of what asv writes.
    scale : str
        "full", "quick" or "tiny".
    commit : str
        The commit, whose environment is its own: asv removes nothing from one that it uses again, so
        libraries of another set would stay.
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
        """Where asv's results are, together with those of other commits at this scale."""
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
            # asv tries the tips of the branches where a commit does not install.
            "branches": [self.commit],
            "env_dir": str(self.env_dir.relative_to(self.root)),
            "install_command": [INSTALL],
        }
        write_json(str(self.path), facts)

    def remove(self) -> None:
        """Remove the file and the environment."""
        self.path.unlink(missing_ok=True)
        shutil.rmtree(self.env_dir, ignore_errors=True)

    def installed(self) -> bool:
        """Return whether asv has installed the set and the project."""
        notes = self.env_dir.glob("*/asv-install-status.json")
        return any(f'"{self.commit}"' in note.read_text(encoding="utf-8") for note in notes)

    def _facts(self) -> dict[str, Any]:
        """Return asv.conf.json at the scale, as the Makefile derives it."""
        from json5 import loads

        text = (self.root / "asv.conf.json").read_text(encoding="utf-8")
        return loads(re.sub(r"\bfull\b", self.scale, text))


@contextmanager
def measuring_lock(root: Path) -> Iterator[int]:
    """Hold the lock that cron.sh takes, too, and yield its file descriptor, for children to hold.

    Raises
    ------
    FormatBenchError
        If another run holds it; the message says which.
    """
    path = _asv_folder(root) / "cron.lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip()
            raise FormatBenchError(f"another run holds {path}: {holder or 'unknown'}") from error
        file.truncate(0)
        file.write(f"process {os.getpid()}, since {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n")
        file.flush()
        yield file.fileno()


def _asv_folder(root: Path) -> Path:
    """Return the folder of the lock: the monthly run measures in a clone inside of it."""
    return root.parent if root.parts[-2:] == (".asv", "monthly") else root / ".asv"


def machine_name(root: Path) -> str:
    """Return asv's name for this machine, which is described to asv unless that was done.

    A description is never renewed: with a new kernel asv would begin new graphs.

    Parameters
    ----------
    root : Path
        The folder of asv.conf.json.

    Raises
    ------
    FormatBenchError
        If asv is not installed.
    """
    try:
        from asv.machine import Machine, MachineCollection
        from asv.util import UserError
    except ImportError as error:
        raise FormatBenchError("asv is not installed; try: python -m pip install .[site]") from error
    unique = Machine.get_unique_machine_name()
    try:
        facts = MachineCollection.load(unique)
    except UserError:
        command = [sys.executable, "-m", "asv", "machine", "--yes"]
        subprocess.run(command, cwd=root, check=True, capture_output=True)  # noqa: S603 (our own arguments)
        facts = MachineCollection.load(unique)
    name: str = facts["machine"]
    return name


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


LOG = logging.getLogger(__name__)


@dataclass
class Measuring:
    """Runs suites on commits.

    Parameters
    ----------
    root : Path
        The folder of asv.conf.json.
    scale : str
        "full", "quick" or "tiny".
    suites : sequence of str
        The suites to run.
    lock : int
        The file descriptor of the lock that is held meanwhile.
    """

    root: Path
    scale: str
    suites: Sequence[str]
    lock: int

    def __post_init__(self) -> None:
        self.machine = machine_name(self.root)
        self.log = self.root / ".asv" / self.scale / "history.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        say(f"what asv prints goes to {self.log.relative_to(self.root)}")

    def measure(self, commit: str, past: PastSet, place: str) -> Note:
        """Run the suites that have not ended on a commit, and return the note of it.

        Parameters
        ----------
        commit : str
            The commit.
        past : PastSet
            Its library set.
        place : str
            Which one of how many it is, for who waits, as in "2 of 12".
        """
        configuration = Configuration(self.root, self.scale, commit)
        results_dir = configuration.results_dir
        before = outcomes.newest(results_dir, self.machine, commit)
        note = Note(commit, str(past.day), self.machine, Status.MEASURED, left_out=past.left_out)
        note = replace(note, suites=before.suites if before else [])
        if past.reason:
            note = replace(note, status=Status.UNRESOLVABLE, sentence=past.reason)
            outcomes.write(results_dir, note)
            return note
        for suite in [each for each in self.suites if each not in note.suites]:
            say(f"{past.day} ({place}), {suite}: measuring")
            begin = time.monotonic()
            failure = run(suite, configuration, self.log, self.lock)
            if failure:
                status = Status.FAILED if configuration.installed() else Status.NOT_INSTALLED
                note = replace(note, status=status, sentence=failure, time=time.time())
                outcomes.write(results_dir, note)
                break
            note = replace(note, suites=[*note.suites, suite], time=time.time())
            outcomes.write(results_dir, note)
            say(f"{past.day} ({place}), {suite}: {(time.monotonic() - begin) / 60:.1f} min")
        configuration.remove()
        return note


def say(sentence: str) -> None:
    """Tell who waits, with the time: a history takes hours."""
    LOG.info("%s %s", datetime.now(UTC).strftime("%H:%M:%S"), sentence)
