"""Counts of the study of damage: rows of a file and a kind of damage, kept as records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from adapter_core.errors import InvalidResultsError
from adapter_core.files import content_of
from format_bench.results.records import Record
from format_bench.results.status import CellStatus
from format_bench.studies.damaging.damaged_reads import ENDS, DamageOutcome, DamageTrial, ReadVerdict
from format_bench.studies.damaging.kinds import Kind
from format_bench.studies.declared.rows import ShareForm

SUITES = {"tables": "damage", "images": "damage-images", "arrays": "damage-arrays"}
"""Suites of the records by family."""

NO_CODEC = "none"


@dataclass(frozen=True)
class DamageRow:
    """Reads of a file after one kind of damage; without a kind, facts of the intact file."""

    family: str
    format: str
    """Label of the adapter."""
    codec: str
    dataset: str
    rows: int
    """Rows, images or chunks."""
    checksums: str = ""
    """"on" if the format's optional checksums are written and verified."""
    seed: int = 1
    """Of the damages."""
    damage: str = ""
    """The kind."""
    effect: tuple[float, ...] = ()
    """For each read 1 if it differed from one of the intact file, else 0."""
    wrong: tuple[float, ...] = ()
    """1 if it returned wrong values, with or without a message."""
    printed: tuple[float, ...] = ()
    """1 if it returned values, right or wrong, and printed a message."""
    ended: tuple[float, ...] = ()
    """1 if the reader crashed or hung."""
    hung: tuple[float, ...] = ()
    summed: tuple[float, ...] = ()
    """1 if the program of the published table would have printed another sum, or none; empty of
    other data."""
    missed: tuple[float, ...] = ()
    """1 if it would have printed another sum without a word; empty of other data."""
    size: int | None = None
    """Bytes of the intact file."""
    save_cost: float | None = None
    """CPU time of saving with checksums, divided by the time without; the others alike."""
    read_cost: float | None = None
    size_cost: float | None = None
    status: str = ""
    """Why there are no reads; empty if there are."""
    sentence: str = ""
    """The reason; else the ends with their messages and the file of all reads, or of the intact file
    the date and the libraries."""

    @property
    def name(self) -> str:
        """The label with codec and checksums, e.g. "Parquet, zstd, with checksums"."""
        codec = "" if self.codec == NO_CODEC else self.codec
        return ", ".join(filter(None, [self.format, codec, self.checksums and "with checksums"]))

    @property
    def file(self) -> DamageRow:
        """The cell of the intact file, without facts."""
        own = self.family, self.format, self.codec, self.dataset, self.rows, self.checksums, self.seed
        return DamageRow(*own)

    @property
    def outcomes(self) -> Counter[DamageOutcome]:
        """The number of reads of each class."""
        flags = zip(self.effect, self.wrong, self.printed, self.ended, self.hung, strict=True)
        return Counter(_outcome(*each) for each in flags)

    @property
    def published_outcomes(self) -> tuple[int, int, int]:
        """Reads without effect, noticed and undetected, as the published table defines them."""
        noticed = [bool(end) or error for end, error in zip(self.ended, self._noticed, strict=True)]
        wrong = sum(bool(each) and not seen for each, seen in zip(self.summed, noticed, strict=True))
        return len(noticed) - sum(noticed) - wrong, sum(noticed), wrong

    @property
    def _noticed(self) -> list[bool]:
        """Whether each read raised or printed something."""
        flags = zip(self.effect, self.wrong, self.printed, self.ended, self.hung, strict=True)
        return [_outcome(*each) in {DamageOutcome.ERROR, DamageOutcome.PRINTED} for each in flags]

    def of(self, kind: Kind, trials: Iterable[DamageTrial], evidence: str) -> DamageRow:
        """Return the row of trials of this file; damage that it is unfit for is left out."""
        found = [each.verdict for each in trials if each.verdict is not None]
        if not found:
            reason = "the file is too small or too uniform for this damage"
            return replace(self, damage=kind.value, status=CellStatus.UNSUPPORTED, sentence=reason)
        ways = Counter(
            # Semicolons tell the parts of the sentence apart.
            f"{each.outcome}, {' '.join(each.message.split())}".rstrip(".").replace(";", ",")
            for each in found
            if each.outcome in ENDS
        )
        return replace(
            self,
            damage=kind.value,
            effect=tuple(float(each.outcome is not DamageOutcome.NONE) for each in found),
            wrong=tuple(float(each.right is False) for each in found),
            printed=tuple(float(each.outcome is DamageOutcome.PRINTED) for each in found),
            ended=tuple(float(each.outcome in ENDS) for each in found),
            hung=tuple(float(each.outcome is DamageOutcome.HANG) for each in found),
            summed=_summed(found),
            missed=_missed(found),
            sentence="; ".join([*(f"{n} x {way}" for way, n in ways.items()), f"reads in {evidence}"]),
        )


def _summed(found: Sequence[ReadVerdict]) -> tuple[float, ...]:
    """Return 1 for each read without the usual sum; nothing of data of which no sum is printed."""
    if all(each.same_sum is None for each in found):
        return ()
    return tuple(float(not each.same_sum) for each in found)


def _missed(found: Sequence[ReadVerdict]) -> tuple[float, ...]:
    """Return 1 for each read with another sum, of which the reader did not notice anything."""
    silent = DamageOutcome.NONE, DamageOutcome.UNDETECTED
    return tuple(
        float(bool(changed) and each.outcome in silent)
        for changed, each in zip(_summed(found), found, strict=False)
    )


def _outcome(effect: float, wrong: float, printed: float, ended: float, hung: float) -> DamageOutcome:
    if not effect:
        return DamageOutcome.NONE
    if ended:
        return DamageOutcome.HANG if hung else DamageOutcome.CRASH
    if printed:
        return DamageOutcome.PRINTED
    return DamageOutcome.UNDETECTED if wrong else DamageOutcome.ERROR


class _DamageForm(ShareForm[DamageRow]):
    """Form of counts, whose values are shares of the reads."""

    def metric_of(self, row: DamageRow, name: str) -> tuple[str, str | None] | None:
        """Return the metric of a value; where nothing could be read, of one alone."""
        return None if row.status and name != "wrong" else super().metric_of(row, name)

    def rows(self, found: Iterable[Record]) -> list[DamageRow]:
        """Return the rows of records, in order; those beside an earlier file are in that file."""
        ends = f"each trial is in {self.earlier}", "by the least without checksums"
        return super().rows(each for each in found if not each.sentence.endswith(ends))

    def earlier_rows(self, path: Path) -> list[DamageRow]:
        """Return the rows of a file of trials; a last line without its end is of a killed run."""
        files: dict[DamageRow, _EarlierFile] = {}
        content = path.read_bytes()
        for number, text in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), 1):
            where = f"{path}, line {number}:"
            with content_of(where, InvalidResultsError, "no result of the study of damage"):
                line = msgspec.json.decode(text, type=_EarlierLine)
            file = line.subject.row(line.seed)
            files.setdefault(file, _EarlierFile()).add(line)
        return [row for file, each in files.items() for row in each.rows(file, path.name)]

    def joined(self, earlier: Sequence[DamageRow], recorded: Sequence[DamageRow]) -> list[DamageRow]:
        """Return all rows; the records of a cell count in place of the earlier file."""
        return [*{(each.file, each.damage): each for each in (*earlier, *recorded)}.values()]


class _EarlierSubject(msgspec.Struct, forbid_unknown_fields=True):
    family: Literal["tables", "images", "arrays"]
    format: str
    codec: str | None
    checksums: bool
    dataset: str
    rows: int

    def row(self, seed: int) -> DamageRow:
        codec, checksums = self.codec or NO_CODEC, "on" if self.checksums else ""
        return DamageRow(self.family, self.format, codec, self.dataset, self.rows, checksums, seed)


class _EarlierCost(msgspec.Struct, forbid_unknown_fields=True):
    save: float
    read: float
    size: float
    calls: int


class _EarlierFacts(msgspec.Struct):
    sentence: str = ""
    date: str = ""
    libraries: dict[str, str] = {}
    size: int | None = None


class _EarlierLine(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the file: one fact of a subject."""

    subject: _EarlierSubject
    seed: int
    trial: DamageTrial | None = None
    cost: _EarlierCost | None = None
    facts: _EarlierFacts | None = None


class _EarlierFile:
    """All facts of a subject; of several of one kind the last counts."""

    def __init__(self) -> None:
        self.trials: dict[tuple[Kind, int], DamageTrial] = {}
        self.cost: _EarlierCost | None = None
        self.facts = _EarlierFacts()

    def add(self, line: _EarlierLine) -> None:
        if line.trial:
            self.trials[line.trial.kind, line.trial.number] = line.trial
        self.cost, self.facts = line.cost or self.cost, line.facts or self.facts

    def rows(self, file: DamageRow, name: str) -> Iterator[DamageRow]:
        if not self.trials and self.facts.sentence:
            known, _, reason = self.facts.sentence.partition(": ")
            is_known = known in set(CellStatus)
            found = (known, reason) if is_known else (CellStatus.FAILED, self.facts.sentence)
            yield replace(file, status=found[0], sentence=found[1])
            return
        cost = self.cost
        costs = (cost.save, cost.read, cost.size) if cost else (None, None, None)
        facts = facts_sentence(self.facts.date, self.facts.libraries)
        yield replace(
            file,
            size=self.facts.size,
            save_cost=costs[0],
            read_cost=costs[1],
            size_cost=costs[2],
            sentence=facts,
        )
        for kind in Kind:
            of_kind = [each for key, each in sorted(self.trials.items()) if key[0] is kind]
            if of_kind:
                yield file.of(kind, of_kind, name)


def facts_sentence(date: str, libraries: Mapping[str, str]) -> str:
    """Return the sentence of an intact file."""
    return f"{date}; {' '.join(f'{name} {version}' for name, version in libraries.items())}"


FORM = _DamageForm(
    suite="damage",
    suites=SUITES,
    of=DamageRow,
    values={
        "effect": "damage with effect",
        "wrong": "damage not noticed",
        "printed": "damage printed only",
        "ended": "damage crashes",
        "hung": "damage hangs",
        "summed": "damage of the printed sum",
        "missed": "damage missed by the printed sum",
        "size": "size",
        "save_cost": "save CPU with checksums",
        "read_cost": "read CPU with checksums",
        "size_cost": "size with checksums",
    },
    reason="sentence",
    threads="all",
    earlier="damage.jsonl",
)
