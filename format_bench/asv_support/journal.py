"""Journal of reasons for cells without a value, beside asv's results, since asv keeps no sentence.

A process under asv may end in any way. So each timed step is watched: before it starts, a note is made;
`faulthandler` fills it with a traceback when the step takes too long or crashes the interpreter. A step
that ends by itself removes its note. A note that is left over is the reason of its cell.
"""

from __future__ import annotations

import faulthandler
import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from format_bench.instruments.memory_limit import OUT_OF_MEMORY
from format_bench.results.status import CellStatus


@dataclass(frozen=True)
class Reason:
    """Why one cell has no value, or, with the status VALUE, a remark on its value."""

    suite: str
    """Module and class of the asv benchmark, e.g. "tabular.Tabular"; the method is unknown in setup.
    The module alone for all cells of a format."""
    params: list[str]
    """The parameters of the benchmark, format and data set first; the format alone for all its cells."""
    status: CellStatus
    sentence: str
    commit: str
    """The commit under test; empty if unknown."""
    time: float
    """When it was written, in seconds since 1970."""

    def names_all_of(self, benchmarks: str, label: str) -> bool:
        """Return whether it is the reason for all cells of a format in the module of some benchmarks."""
        return self.suite == benchmarks.partition(".")[0] and self.params == [label]


class Journal:
    """The reasons of one asv environment, in a folder beside asv's results.

    Parameters
    ----------
    folder : Path
        Where the reasons are; made when first written to.
    environment : str
        Name of the asv environment, as in asv's own file names.
    commit : str
        The commit under test.
    """

    def __init__(self, folder: Path, environment: str, commit: str = "") -> None:
        self.path = folder / f"{environment}.jsonl"
        self.notes = folder / f"{environment}.running"
        self.commit = commit
        self._note: tuple[Path, IO[str]] | None = None

    def write(self, suite: str, params: Sequence[str], status: CellStatus, sentence: str) -> None:
        """Append the reason why a cell has no value, or a remark on its value."""
        self._append(Reason(suite, list(params), status, sentence, self.commit, time.time()))

    def read(self) -> list[Reason]:
        """Return all reasons, oldest first; left-over notes come last."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        reasons = [Reason(**json.loads(line, object_hook=_with_status)) for line in lines]
        return reasons + [self._reason_of(note) for note in self._left_over()]

    def watch(self, suite: str, params: Sequence[str], limit_seconds: float) -> None:
        """Start a step that may hang or crash; end the process if it takes longer than the limit."""
        self.notes.mkdir(parents=True, exist_ok=True)
        path = self.notes / f"{time.time_ns()}-{os.getpid()}.txt"
        # A full disk, or a kill between these lines, leaves no note that nobody can read.
        unfinished = path.with_suffix(".new")
        note = unfinished.open("w", encoding="utf-8")
        head = {
            "suite": suite,
            "params": list(params),
            "limit_seconds": limit_seconds,
            "commit": self.commit,
            "time": time.time(),
        }
        note.write(json.dumps(head) + "\n")
        note.flush()
        unfinished.rename(path)
        faulthandler.enable(note)
        faulthandler.register(OUT_OF_MEMORY, note, all_threads=False, chain=True)
        faulthandler.dump_traceback_later(limit_seconds, exit=True, file=note)
        self._note = path, note

    def unwatch(self) -> None:
        """End the step that `watch` started, if any."""
        if self._note is None:
            return
        path, note = self._note
        faulthandler.cancel_dump_traceback_later()
        faulthandler.unregister(OUT_OF_MEMORY)
        faulthandler.disable()
        note.close()
        path.unlink()
        self._note = None

    def settle(self, module: str) -> None:
        """Record the left-over notes of earlier runs as reasons, and remove them.

        So a run of some cells takes no sentence from the others.

        Parameters
        ----------
        module : str
            Module of the suites that start, e.g. "tabular"; notes of others stay.
        """
        for note in self._left_over():
            reason = self._reason_of(note)
            if reason.suite.startswith(f"{module}."):
                self._append(reason)
                note.unlink()

    def ended_badly(self, suite: str, params: Sequence[str]) -> Reason | None:
        """Return why an earlier process hung or crashed in this run, if one did.

        Parameters
        ----------
        suite : str
            The suite of that process.
        params : sequence of str
            The first of its parameters, format and data set in any case.
        """
        for note in self._left_over():
            reason = self._reason_of(note)
            if reason.suite == suite and reason.params[: len(params)] == list(params):
                return reason
        return None

    def _append(self, reason: Reason) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(reason)) + "\n")

    def _left_over(self) -> list[Path]:
        own = self._note[0] if self._note else None
        return sorted(note for note in self.notes.glob("*.txt") if note != own)

    def _reason_of(self, note: Path) -> Reason:
        head, _, traceback = note.read_text(encoding="utf-8").partition("\n")
        facts = json.loads(head)
        status, sentence = CellStatus.FAILED, "its process was killed from outside"
        if traceback.startswith("Timeout"):
            status = CellStatus.TIMED_OUT
            sentence = f"not finished after {facts['limit_seconds']:.0f} seconds, {_place(traceback)}"
        elif traceback.startswith("Fatal Python error"):
            sentence = f"{traceback.splitlines()[0]}, {_place(traceback)}"
        elif traceback:
            sentence = f"it took the memory that this machine has, {_place(traceback)}"
        return Reason(facts["suite"], facts["params"], status, sentence, facts["commit"], facts["time"])


def _with_status(facts: dict[str, Any]) -> dict[str, Any]:
    return {**facts, "status": CellStatus(facts["status"])}


def _place(traceback: str) -> str:
    """Return the innermost line of a traceback that faulthandler wrote, without the folder."""
    for line in traceback.splitlines():
        if line.lstrip().startswith("File "):
            _, path, rest = line.split('"', 2)
            return f"at {Path(path).name}{rest}"
    return "at an unknown place"
