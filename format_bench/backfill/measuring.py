"""Measuring the commits of a history, one set after the other, and noting what became of each."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.backfill import notes, suites
from format_bench.backfill.configuration import Configuration
from format_bench.backfill.machine import machine_name
from format_bench.backfill.notes import Note, Status

if TYPE_CHECKING:
    from format_bench.backfill.past_set import PastSet

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
        before = notes.newest(results_dir, self.machine, commit)
        note = Note(commit, str(past.day), self.machine, Status.MEASURED, left_out=past.left_out)
        note = replace(note, suites=before.suites if before else [])
        if past.reason:
            note = replace(note, status=Status.UNRESOLVABLE, sentence=past.reason)
            notes.write(results_dir, note)
            return note
        for suite in [each for each in self.suites if each not in note.suites]:
            say(f"{past.day} ({place}), {suite}: measuring")
            begin = time.monotonic()
            failure = suites.run(suite, configuration, self.log, self.lock)
            if failure:
                status = Status.FAILED if configuration.installed() else Status.NOT_INSTALLED
                note = replace(note, status=status, sentence=failure, time=time.time())
                notes.write(results_dir, note)
                break
            note = replace(note, suites=[*note.suites, suite], time=time.time())
            notes.write(results_dir, note)
            say(f"{past.day} ({place}), {suite}: {(time.monotonic() - begin) / 60:.1f} min")
        configuration.remove()
        return note


def say(sentence: str) -> None:
    """Tell who waits, with the time: a history takes hours."""
    LOG.info("%s %s", datetime.now(UTC).strftime("%H:%M:%S"), sentence)
