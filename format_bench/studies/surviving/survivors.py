"""Rows of the study of survival: a format, a way to change its file and a fault, kept as records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from format_bench.results.records import Record
from format_bench.results.status import CellStatus
from format_bench.studies.declared.rows import ShareForm
from format_bench.studies.surviving.moments import Fault
from format_bench.studies.surviving.trials import ChangeTrials, Finding
from format_bench.studies.surviving.ways import Change, Renamed, Way

SUITES = {
    "tables": "survival",
    "images": "survival-images",
    "arrays": "survival-arrays",
    "records": "survival-records",
}
"""Suites of the records by family."""

SILENT = frozenset({Finding.CUT, Finding.DIFFERENT})
"""Verdicts on readers that return neither version without a word."""

ENDED = frozenset({Finding.CRASH, Finding.HANG})

# Messages of a row that its sentence has, the most frequent first.
_MESSAGES = 3


@dataclass(frozen=True)
class SurvivalRow:
    """Reads after a fault at some moments of a change; without a fault, facts of the change."""

    family: str
    format: str
    dataset: str
    rows: int
    """Rows, images, chunks or records of each version."""
    change: str
    renamed: str = ""
    """How a complete file came to its name; empty if the library wrote where it shall be."""
    moments: int = 100
    """Most moments of a fault."""
    fault: str = ""
    neither: tuple[float, ...] = ()
    """For each moment 1 if neither version was there and readable, else 0; no version need be there
    before the first save."""
    silent: tuple[float, ...] = ()
    """1 if the reader returned neither version without an error."""
    cut: tuple[float, ...] = ()
    """1 if that were the first rows of one."""
    absent: tuple[float, ...] = ()
    """1 if there was no file."""
    earlier: tuple[float, ...] = ()
    """1 if the earlier version came back."""
    ended: tuple[float, ...] = ()
    """1 if the reader crashed or hung."""
    hung: tuple[float, ...] = ()
    claimed: tuple[float, ...] = ()
    """1 if the writer reported no error on a full disk, and the new version was not there."""
    undurable: float | None = None
    """1 if a power cut after the last call may undo the change."""
    calls: int | None = None
    """Calls that change files."""
    syncs: int | None = None
    """Calls that bring files to the device."""
    status: str = ""
    """Why there are no reads; empty if there are."""
    sentence: str = ""
    """The reason; else the most frequent messages and the file of all reads, or date and libraries."""

    @property
    def cell(self) -> SurvivalRow:
        """The change, without a fault and facts."""
        own = self.family, self.format, self.dataset, self.rows, self.change, self.renamed, self.moments
        return SurvivalRow(*own)

    @property
    def way(self) -> Way:
        """The way to change the file."""
        return Way(Change(self.change), Renamed(self.renamed))

    @property
    def verdicts(self) -> Counter[Finding]:
        """The number of moments of each verdict."""
        flags = (self.neither, self.silent, self.cut, self.absent, self.earlier, self.ended, self.hung)
        return Counter(_verdict(*each) for each in zip(*flags, strict=True))

    def of(self, fault: Fault, tried: ChangeTrials, evidence: str) -> SurvivalRow:
        """Return the row of the trials of a fault; of one that no call can meet, why there are none."""
        trials = [each for each in tried.trials if each.fault is fault]
        if not trials:
            reason = "no call of this change can meet this fault"
            return replace(self, fault=fault.value, status=CellStatus.UNSUPPORTED, sentence=reason)
        found = [each.verdict for each in trials]
        lost = {*SILENT, *ENDED, Finding.ERROR, *([Finding.ABSENT] if self.way.has_earlier else [])}
        messages = Counter(
            # Semicolons tell the parts of the sentence apart.
            f"{each.verdict}, {each.message.partition('; the writer')[0]}".rstrip(".").replace(";", ",")
            for each in trials
            if each.message and each.verdict in lost
        )
        worst = [f"{count} x {text}" for text, count in messages.most_common(_MESSAGES)]
        claims = [each.claims_success and each.verdict is not Finding.NEW for each in trials]
        return replace(
            self,
            fault=fault.value,
            neither=_flags(found, lost),
            silent=_flags(found, SILENT),
            cut=_flags(found, {Finding.CUT}),
            absent=_flags(found, {Finding.ABSENT}),
            earlier=_flags(found, {Finding.EARLIER}),
            ended=_flags(found, ENDED),
            hung=_flags(found, {Finding.HANG}),
            claimed=tuple(map(float, claims)) if fault is Fault.FULL else (),
            sentence="; ".join([*worst, f"reads in {evidence}"]),
        )

    def facts(self, tried: ChangeTrials, sentence: str) -> SurvivalRow:
        """Return the row of the change itself."""
        last = next(each for each in tried.trials if each.fault is Fault.POWER and each.is_last)
        undurable = float(last.verdict is not Finding.NEW)
        return replace(
            self, undurable=undurable, calls=tried.calls, syncs=tried.syncs, sentence=sentence
        )


def _flags(found: Sequence[Finding], wanted: set[Finding] | frozenset[Finding]) -> tuple[float, ...]:
    return tuple(float(each in wanted) for each in found)


def _verdict(  # noqa: PLR0913, PLR0917 (a flag for each class)
    neither: float, silent: float, cut: float, absent: float, earlier: float, ended: float, hung: float
) -> Finding:
    if absent or earlier:
        return Finding.ABSENT if absent else Finding.EARLIER
    if silent:
        return Finding.CUT if cut else Finding.DIFFERENT
    if ended:
        return Finding.HANG if hung else Finding.CRASH
    return Finding.ERROR if neither else Finding.NEW


class _SurvivalForm(ShareForm[SurvivalRow]):
    """Form of the rows; one without reads is a record of one metric alone."""

    def metric_of(self, row: SurvivalRow, name: str) -> tuple[str, str | None] | None:
        """Return the metric of a value; where nothing could be read, of one alone."""
        return None if row.status and name != "neither" else super().metric_of(row, name)

    def rows(self, found: Iterable[Record]) -> list[SurvivalRow]:
        """Return the rows of records; a change that failed before it succeeded has no failure."""
        values_first = sorted(found, key=lambda each: each.value is None)
        rows = super().rows(values_first)
        return [row if row.calls is None else replace(row, status="") for row in rows]


FORM = _SurvivalForm(
    suite="survival",
    of=SurvivalRow,
    values={
        "neither": "survival neither version",
        "silent": "survival silent loss",
        "cut": "survival cut",
        "absent": "survival nothing there",
        "earlier": "survival earlier version",
        "ended": "survival crashes",
        "hung": "survival hangs",
        "claimed": "survival full disk not noticed",
        "undurable": "survival not durable",
        "calls": "file calls",
        "syncs": "file syncs",
    },
    reason="sentence",
    threads="all",
    suites=SUITES,
)
