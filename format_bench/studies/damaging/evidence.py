"""Evidence of the study of damage: its trials in a file of JSON lines, and their shares as records.

The file grows by subjects, and is resumed; the records name it.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from adapter_core.errors import InvalidResultsError
from adapter_core.files import content_of
from format_bench.instruments.intervals import share_interval
from format_bench.results import records
from format_bench.results.metrics import METRICS
from format_bench.results.records import Record
from format_bench.results.status import CellStatus
from format_bench.studies.damaging.kinds import Kind
from format_bench.studies.damaging.subjects import Subject  # noqa: TC001 (msgspec resolves the annotations)
from format_bench.studies.damaging.trials import Outcome, Trial

if TYPE_CHECKING:
    from pathlib import Path

FILE = "damage.jsonl"
"""Name of the file of trials in the folder of results."""

SUITES = {"tables": "damage", "images": "damage-images", "arrays": "damage-arrays"}
"""Suites of the records by family."""

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

    subject: Subject
    facts: dict[str, Any] = field(default_factory=dict)
    """File size in bytes, versions of libraries, date, and the reason for missing trials."""
    trials: dict[tuple[Kind, int], Trial] = field(default_factory=dict)
    """By kind and number."""
    cost: Cost | None = None

    def of(self, kind: Kind) -> list[Trial]:
        """Return the trials of a kind in order; damage that a file is unfit for is left out."""
        found = (each for key, each in sorted(self.trials.items()) if key[0] is kind)
        return [each for each in found if each.verdict is not None]

    def outcomes(self, *kinds: Kind) -> Counter[Outcome]:
        """Return the number of trials of each class, of some kinds or of all."""
        return Counter(
            each.verdict.outcome for kind in kinds or Kind for each in self.of(kind) if each.verdict
        )

    def wrong(self, *kinds: Kind) -> int:
        """Return the number of trials that returned wrong values, with or without a message."""
        return sum(each.is_wrong for kind in kinds or Kind for each in self.of(kind))


class Line(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A line of the file: one fact of a subject."""

    subject: Subject
    seed: int
    """Of the damages."""
    trial: Trial | None = None
    cost: Cost | None = None
    facts: dict[str, Any] | None = None


class Evidence:
    """Trials in a folder.

    Parameters
    ----------
    path : Path
        The file, or its folder.
    seed : int, optional
        Seed of the damages, if some are to be added; evidence of another seed is refused.

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
        for number, text in enumerate(whole.splitlines(), 1):
            where = f"{self.path}, line {number}:"
            with content_of(where, InvalidResultsError, "no result of the study of damage"):
                self._add(msgspec.json.decode(text, type=Line))

    def _add(self, line: Line) -> None:
        if self.seed not in {None, line.seed}:
            raise InvalidResultsError(f"{self.path} was made with the seed {line.seed}")
        of = self.of(line.subject)
        if line.trial:
            of.trials[line.trial.kind, line.trial.number] = line.trial
        of.cost = line.cost or of.cost
        of.facts = of.facts if line.facts is None else line.facts

    def of(self, subject: Subject) -> Found:
        """Return the facts of a subject."""
        return self.found.setdefault(subject, Found(subject))

    def append(self, subject: Subject, *facts: Trial | Cost | dict[str, Any]) -> None:
        """Append facts of a subject to the file."""
        if self.seed is None:
            raise ValueError("evidence without a seed is read only")
        lines = []
        for each in facts:
            name = {Trial: "trial", Cost: "cost"}.get(type(each), "facts")
            lines.append(Line(subject, self.seed, **{name: each}))  # type: ignore[arg-type]
        with self.path.open("ab") as file:
            file.writelines(msgspec.json.encode(each) + b"\n" for each in lines)
        for line in lines:
            self._add(line)


def records_of(found: Found, run_id: str) -> Iterator[Record]:
    """Yield the shares of trials without a notice and of ends, by kind, and the costs of checksums."""
    blank = partial(_record, found.subject, run_id)
    for kind in Kind:
        trials = found.of(kind)
        if trials:
            outcomes = ", ".join(f"{number} {each}" for each, number in found.outcomes(kind).items())
            sentence = f"{outcomes}; each trial is in {FILE}"
            wrong = [float(each.is_wrong) for each in trials]
            ended = [float(each.verdict is not None and each.verdict.outcome in ENDS) for each in trials]
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
        suite=SUITES[subject.family],
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
