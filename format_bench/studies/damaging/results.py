"""Results of the study of damage: records of its shares, and the trials behind them as evidence.

The trials are in a file of JSON lines beside the records, which name it; it grows by subjects, and is
resumed.
"""

from __future__ import annotations

import json
import statistics
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from adapter_core.errors import InvalidResultsError
from adapter_core.files import content_of
from format_bench.instruments.intervals import share_interval
from format_bench.results import records
from format_bench.results.load import RESULTS
from format_bench.results.metrics import METRICS
from format_bench.results.records import Record
from format_bench.results.status import CellStatus
from format_bench.studies.damaging.kinds import Kind
from format_bench.studies.damaging.subjects import Subject
from format_bench.studies.damaging.trials import Outcome, Trial, Verdict

FILE = "damage.jsonl"
"""Name of the file of trials in the folder of results."""

SUITE = "damage"

ENDS = {Outcome.CRASH, Outcome.HANG}
"""Outcomes without a reader that lives on."""


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
        self._recorded: dict[records.Key, Record] | None = None
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
        """Return the facts of a subject."""
        return self.found.setdefault(subject, Found())

    def append(self, subject: Subject, facts: Iterable[dict[str, Any]]) -> None:
        """Append facts of a subject to the file: each has one key, "facts", "trial" or "cost"."""
        complete = [{"subject": asdict(subject), "seed": self.seed, **each} for each in facts]
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in complete)
        for each in complete:
            self._add(json.loads(json.dumps(each)))

    def record(self) -> None:
        """Add the records that the folder lacks, or has of other trials."""
        path, run_id = self.path.with_name(RESULTS), uuid.uuid4().hex
        if self._recorded is None:
            self._recorded = {records.key(each): each for each in _read(path)}
        for subject, found in self.found.items():
            for each in _records(subject, found, run_id):
                known = self._recorded.get(records.key(each))
                if known is None or (known.value, known.sentence) != (each.value, each.sentence):
                    records.append(path, each)
                    self._recorded[records.key(each)] = each


def _read(path: Path) -> list[Record]:
    return records.read(path) if path.exists() else []


def _records(subject: Subject, found: Found, run_id: str) -> Iterator[Record]:
    """Yield the shares of trials without a notice and of ends, by kind, and the costs of checksums."""
    blank = partial(_record, subject, run_id)
    for kind in Kind:
        verdicts = [
            each.verdict
            for (of_kind, _), each in sorted(found.trials.items())
            if of_kind is kind and each.verdict
        ]
        if verdicts:
            outcomes = ", ".join(f"{number} {each}" for each, number in found.outcomes(kind).items())
            sentence = f"{outcomes}; each trial is in {FILE}"
            wrong = [float(each.right is False) for each in verdicts]
            ended = [float(each.outcome in ENDS) for each in verdicts]
            yield blank("damage not noticed", wrong, sentence, damage=kind.value)
            yield blank("damage crashes", ended, sentence, damage=kind.value)
    if found.cost:
        sentence = f"least of {found.cost.calls} calls in turn, by the least without checksums"
        yield blank("save CPU with checksums", [found.cost.save], sentence)
        yield blank("read CPU with checksums", [found.cost.read], sentence)
        yield blank("size with checksums", [found.cost.size], sentence)
    if not found.trials and found.facts.get("sentence"):
        yield blank("damage not noticed", [], str(found.facts["sentence"]))


def _record(
    subject: Subject, run_id: str, metric: str, samples: list[float], sentence: str, **conditions: str
) -> Record:
    checksums = {"checksums": "on"} if subject.checksums else {}
    is_share = len(samples) > 1
    status = CellStatus.VALUE
    if not samples:
        known, _, reason = sentence.partition(": ")
        is_known = known in set(CellStatus)
        status, sentence = (CellStatus(known), reason) if is_known else (CellStatus.FAILED, sentence)
    return Record(
        suite=SUITE,
        format=subject.format,
        engine=records.engine_of(subject.format),
        dataset=subject.dataset,
        rows=subject.rows,
        columns=0,
        codec=subject.codec,
        level=None,
        conditions={"threads": "all", **checksums, **conditions},
        metric=metric,
        unit=METRICS[metric].unit,
        value=statistics.fmean(samples) if samples else None,
        repeats=samples,
        interval=[*share_interval(int(sum(samples)), len(samples))] if is_share else None,
        status=status,
        sentence=sentence,
        run_id=run_id,
    )
