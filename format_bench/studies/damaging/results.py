"""Results of the study of damage: a file of JSON lines that grows by trials, and is resumed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adapter_core.errors import InvalidResultsError
from adapter_core.files import content_of
from format_bench.studies.damaging.kinds import Kind
from format_bench.studies.damaging.subjects import Subject
from format_bench.studies.damaging.trials import Outcome, Trial, Verdict

FILE = "damage.jsonl"
"""Name of the file in the folder of results."""


@dataclass(frozen=True)
class Cost:
    """Cost of checksums: each value with them, divided by that without."""

    save: float
    """CPU time of saving."""
    read: float
    """CPU time of reading."""
    size: float
    calls: int
    """Calls of each, in turn; the least of each counts."""


@dataclass
class Found:
    """Everything that is known of a subject."""

    facts: dict[str, Any] = field(default_factory=dict)
    """File size in bytes, versions of libraries, date, and the reason for missing trials."""
    trials: dict[tuple[Kind, int], Trial] = field(default_factory=dict)
    """By kind and number."""
    cost: Cost | None = None

    def outcomes(self, kind: Kind) -> Counter[Outcome]:
        """Return the number of trials of each class; damage that a file is unfit for is left out."""
        verdicts = [each.verdict for each in self.trials.values() if each.kind is kind]
        return Counter(each.outcome for each in verdicts if each is not None)


class ResultsFile:
    """Results in a folder.

    Parameters
    ----------
    path : Path
        The file, or its folder.
    seed : int, optional
        Seed of the damages; results of another seed are refused.

    Raises
    ------
    InvalidResultsError
        If a line is damaged, or the seed differs.
    """

    def __init__(self, path: Path, seed: int | None = None) -> None:
        self.path = path / FILE if path.is_dir() else path
        self.seed = seed
        self.found: dict[Subject, Found] = {}
        if self.path.exists():
            self._read()
        elif seed is None:
            raise InvalidResultsError(f"{self.path} does not exist")

    def _read(self) -> None:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content) and self.seed is not None:
            # A run that was killed has left a part of a line.
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        lines = whole.decode(errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            where = f"{self.path}, line {number}:"
            with content_of(where, InvalidResultsError, "no result of the study of damage"):
                self._add(json.loads(line))

    def _add(self, fact: dict[str, Any]) -> None:
        if self.seed not in (None, fact["seed"]):
            raise InvalidResultsError(f"{self.path} was made with the seed {fact['seed']}")
        of = self.of(Subject(**fact["subject"]))
        if "trial" in fact:
            trial = fact["trial"]
            verdict = trial.pop("verdict")
            if verdict is not None:
                verdict = Verdict(**{**verdict, "outcome": Outcome(verdict["outcome"])})
            kind = Kind(trial.pop("kind"))
            of.trials[kind, trial["number"]] = Trial(kind=kind, verdict=verdict, **trial)
        elif "cost" in fact:
            of.cost = Cost(**fact["cost"])
        else:
            of.facts = fact["facts"]

    def of(self, subject: Subject) -> Found:
        """Return what is known of a subject."""
        return self.found.setdefault(subject, Found())

    def append(self, subject: Subject, facts: Iterable[dict[str, Any]]) -> None:
        """Append facts of a subject to the file: each has one key, "facts", "trial" or "cost"."""
        complete = [{"subject": asdict(subject), "seed": self.seed, **each} for each in facts]
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in complete)
        for each in complete:
            self._add(json.loads(json.dumps(each)))
