"""Faults of object stores: the end of a save, its leftovers, and the result of a read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from format_bench.network import object_server as server
from format_bench.network.client import ARRAY, TABLE
from format_bench.network.faults import FAULTS, FaultRow, Saved, fault_results
from format_bench.network.trials import shown
from format_bench.results.display.text import plural
from format_bench.results.status import CellStatus
from format_bench.results.study_rows import StudyForm
from format_bench.studies.declared.blocks import Block
from format_bench.studies.declared.rows import Agenda, Instrument
from format_bench.studies.object_stores import ARRAY_DATASET, trials_of

if TYPE_CHECKING:
    from format_bench.studies.declared.section import Context


def name_of(row: FaultRow) -> str:
    """Return the label of a row, told apart from the other family's."""
    return shown(ARRAY if row.dataset == ARRAY_DATASET else TABLE, row.format)


def cell_of(row: FaultRow) -> str:
    """Return how the save ended and what the reader found, in words."""
    if row.seconds is None:
        return CellStatus.UNAVAILABLE
    saved, found = row.ends
    counts = [(row.objects, "object"), (row.uploads, "upload")]
    left = " + ".join(plural(number, noun) for number, noun in counts if number)
    reader = f"**{found}**" if row.partial else found
    noun = "retry" if row.retries == 1 else "retries"
    retries = f", {row.retries} {noun}" if row.retries else ""
    return f"{saved}, {row.seconds:.1f} s{retries}; {reader}{f' ({left})' if left else ''}"


def error_of(row: FaultRow) -> str:
    """Return the error of a save that neither ended well nor was killed; empty if there is none."""
    if row.ends[0] in {Saved.DONE, Saved.KILLED}:
        return ""
    return row.sentence.partition(": ")[2] or row.sentence


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
        for row in [*fault_results(trial, kind)]
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

INSTRUMENT = Instrument(FORM, measure, name_of)


def table(context: Context) -> Iterator[Block]:
    """Yield a row for each adapter and a column for each fault."""
    found = {(name_of(each), each.fault): cell_of(each) for each in context.rows}
    labels = dict.fromkeys(map(name_of, context.rows))
    rows = [[label, *(found.get((label, fault), "unavailable") for fault in FAULTS)] for label in labels]
    yield Block(header=["format", *FAULTS], rows=rows)


def errors(context: Context, shown: str) -> Iterator[Block]:
    """Yield the sentences of the saves that failed, if they are to be shown."""
    found = [(each, error_of(each)) for each in context.rows]
    items = [f"{name_of(each)}, {each.fault}: {error}" for each, error in found if error]
    if items and shown == str(True):
        yield Block(items=items)
