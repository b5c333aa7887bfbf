"""Faults of object stores: the end of a save, its leftovers, and the result of a read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.network import object_server as server
from format_bench.network.client import ARRAY, TABLE
from format_bench.network.faults import FAULTS, FaultResult, Found, Saved, fault_results
from format_bench.network.trials import shown
from format_bench.results.display.text import plural
from format_bench.results.status import CellStatus
from format_bench.results.study_rows import StudyForm
from format_bench.studies.declared.blocks import Block
from format_bench.studies.declared.rows import Agenda, Instrument
from format_bench.studies.object_stores import ARRAY_DATASET, trials_of

if TYPE_CHECKING:
    from format_bench.network.trials import Trial
    from format_bench.studies.declared.section import Context


@dataclass(frozen=True)
class FaultRow:
    """A save with a fault, and a read without one afterwards."""

    format: str
    dataset: str
    rows: int
    fault: str
    seconds: float | None = None
    """Wall time of the save."""
    requests: int | None = None
    retries: int | None = None
    objects: int | None = None
    """Objects left."""
    uploads: int | None = None
    """Incomplete uploads left."""
    partial: int | None = None
    """1 if the reader took a part for the whole, else 0."""
    sentence: str = ""
    """The ends of save and read, as in "error; absent", and after a colon the error."""
    status: str = ""
    """Why there are no values; empty if there are."""

    @classmethod
    def of(cls, trial: Trial, result: FaultResult) -> FaultRow:
        """Return the row of a result."""
        dataset, _, rows = trial.source.rpartition(":")
        cell = (trial.label, dataset, int(rows), result.fault)
        if result.saved is Saved.UNTRIED:
            return cls(*cell, sentence=result.sentence, status=CellStatus.UNAVAILABLE)
        counts = (result.requests, result.retries, result.objects, result.uploads)
        ends = f"{result.saved}; {result.found}"
        sentence = f"{ends}: {result.sentence}" if result.sentence else ends
        return cls(*cell, result.seconds, *counts, int(result.found is Found.PARTIAL), sentence)

    @property
    def name(self) -> str:
        """The label, told apart from the other family's."""
        return shown(ARRAY if self.dataset == ARRAY_DATASET else TABLE, self.format)

    @property
    def cell(self) -> str:
        """How the save ended and what the reader found, in words."""
        if self.seconds is None:
            return CellStatus.UNAVAILABLE
        saved, found = self.sentence.partition(": ")[0].split("; ")
        counts = [(self.objects, "object"), (self.uploads, "upload")]
        left = " + ".join(plural(number, noun) for number, noun in counts if number)
        reader = f"**{found}**" if self.partial else found
        noun = "retry" if self.retries == 1 else "retries"
        retries = f", {self.retries} {noun}" if self.retries else ""
        return f"{saved}, {self.seconds:.1f} s{retries}; {reader}{f' ({left})' if left else ''}"

    @property
    def error(self) -> str:
        """The error of a save that neither ended well nor was killed; empty if there is none."""
        ended_well = self.sentence.startswith((f"{Saved.DONE};", f"{Saved.KILLED};"))
        return "" if ended_well else self.sentence.partition(": ")[2] or self.sentence


def measure(
    agenda: Agenda[FaultRow], labels: Sequence[str], rows: int, chunks: int
) -> Iterator[FaultRow]:
    """Return the rows of adapters, of all that write to object stores if no labels are given.

    Raises
    ------
    UnknownNameError
        If an adapter of a label does not exist, or writes to no object store.
    """
    trials = trials_of(labels, rows, chunks)
    kind = server.REAL if server.availability() else server.STAND_IN
    return (
        row
        for trial in trials
        if agenda.has(format=trial.label, dataset=trial.source.partition(":")[0])
        for row in [FaultRow.of(trial, each) for each in fault_results(trial, kind)]
    )


FORM = StudyForm(
    suite="faults",
    of=FaultRow,
    values={
        "seconds": "remote save time",
        "requests": "remote save requests",
        "retries": "save retries",
        "objects": "left objects",
        "uploads": "left uploads",
        "partial": "partial reads",
    },
    reason="sentence",
    threads="all",
)

INSTRUMENT = Instrument(FORM, measure, lambda row: row.name)


def table(context: Context) -> Iterator[Block]:
    """Yield a row for each adapter and a column for each fault."""
    found = {(each.name, each.fault): each.cell for each in context.rows}
    labels = dict.fromkeys(each.name for each in context.rows)
    rows = [[label, *(found.get((label, fault), "unavailable") for fault in FAULTS)] for label in labels]
    yield Block(header=["format", *FAULTS], rows=rows)


def errors(context: Context, shown: str) -> Iterator[Block]:
    """Yield the sentences of the saves that failed, if they are to be shown."""
    items = [f"{each.name}, {each.fault}: {each.error}" for each in context.rows if each.error]
    if items and shown == str(True):
        yield Block(items=items)
