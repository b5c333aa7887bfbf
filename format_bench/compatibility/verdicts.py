"""Verdicts on files that others have read: same, another type, different, refused, crash, hang."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from adapter_core.errors import CanonicalFormError
from format_bench.instruments.isolation import Outcome
from format_bench.results.status import CellStatus
from format_bench.verification import sameness
from format_bench.verification.canonical import CanonicalTable
from format_bench.verification.sameness import Sameness


class Verdict(StrEnum):
    """Verdict on a reader's values, from the worst on."""

    CRASH = "crash"
    HANG = "hang"
    DIFFERENT = "silently different"
    REFUSED = "refused"
    RETYPED = "another type"
    """The same values in columns of another type."""
    SAME = "same"
    UNTRIED = "not tried"
    """The writer cannot hold the table, or one of the two is unavailable."""


@dataclass(frozen=True)
class Judgement:
    """Verdict with its figures and its sentence."""

    verdict: Verdict
    sentence: str = ""
    """Begins with the verdict; after a colon the differences, the message, or the reason."""
    changed: int | None = None
    """Values that differ; None if nothing was read."""
    retyped: int | None = None
    """Columns of another type; None if nothing was read."""
    status: CellStatus = CellStatus.VALUE
    error: str = ""
    """Class of the error that a reader has raised, or its exit status."""


def judge(
    saved: CanonicalTable,
    outcome: Outcome,
    compare: Callable[[CanonicalTable, CanonicalTable], Sameness] = sameness.compare,
) -> Judgement:
    """Judge the output of a reader.

    Parameters
    ----------
    saved : CanonicalTable
        The data given to the writer.
    outcome : Outcome
        Of the reader: the canonical form, or why there is none.
    compare : callable
        Compares the two; by default as tables.
    """
    if outcome.status:
        return missed(outcome)
    try:
        found = compare(saved, CanonicalTable.parse(outcome.value))
    except CanonicalFormError as error:
        text = f"{Verdict.REFUSED}: its output is not in canonical form: {error}"
        return Judgement(Verdict.REFUSED, text, status=CellStatus.FAILED, error=type(error).__name__)
    verdict = Verdict.DIFFERENT if found.changed else Verdict.RETYPED if found.retyped else Verdict.SAME
    sentence = f"{verdict}: {found.sentence}" if found.sentence else str(verdict)
    return Judgement(verdict, sentence, found.changed, found.retyped)


_UNTRIED = {CellStatus.UNSUPPORTED, CellStatus.UNAVAILABLE}


def unwritten(outcome: Outcome) -> Judgement:
    """Return the verdict on a file that its writer did not write."""
    status = outcome.status or CellStatus.FAILED
    what = "" if status in _UNTRIED else f"{Verdict.UNTRIED}: writing it failed: "
    return Judgement(Verdict.UNTRIED, f"{what}{outcome.sentence}", status=status)


def missed(outcome: Outcome) -> Judgement:
    """Return the verdict on a file that was not read."""
    status = outcome.status or CellStatus.FAILED
    if status in _UNTRIED:
        return Judgement(Verdict.UNTRIED, outcome.sentence, status=status)
    verdict = Verdict.REFUSED if outcome.error else Verdict.CRASH
    if status is CellStatus.TIMED_OUT:
        verdict = Verdict.HANG
    return Judgement(verdict, f"{verdict}: {outcome.sentence}", status=status, error=outcome.error)


def verdict_of(sentence: str, status: str) -> Verdict:
    """Return the verdict that the sentence of a record begins with."""
    if status in _UNTRIED:
        return Verdict.UNTRIED
    return Verdict(sentence.partition(": ")[0].partition("; ")[0])
