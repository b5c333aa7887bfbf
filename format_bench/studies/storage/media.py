"""Instrument of the study of media: durable saves and cold reads of table formats on several media."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import data_formats
from adapter_core.errors import InvalidRequestError, InvalidResultsError
from data_generator import catalog
from format_bench.families.tables.subject import Subject
from format_bench.instruments import isolation
from format_bench.instruments.medium import MediumFacts
from format_bench.runner import folders
from format_bench.runner.executor import TimeBudget
from format_bench.runner.media import ComparedMedium, Scratch, compared, for_data
from format_bench.studies.declared.rows import Agenda, Instrument, chosen
from format_bench.studies.storage import trials
from format_bench.studies.storage.results import DATASET, FORM, QUESTIONS, SAVE, StorageCell

# As many as the question in `QUESTIONS` says.
READ_ROWS = 100

# Ends a step that hangs; the others of the round go on.
LIMIT_SECONDS = 300.0

_Cells = dict[tuple[str, str, str], StorageCell]
"""By format, question and medium."""


def measure(  # noqa: PLR0913 (the options of the study)
    agenda: Agenda[StorageCell],
    *,
    scratch: Sequence[str],
    formats: str,
    rows: int,
    rounds: int,
    minutes: float | None,
) -> Iterator[StorageCell]:
    """Return the cells of formats on media, format by format in each round.

    Raises
    ------
    UnknownNameError
        If there is no format of a name.
    InvalidRequestError
        If there are fewer than two media.
    InvalidResultsError
        If the folder has results of other media or other rows.
    """
    labels = chosen(formats, data_formats.names())
    media = compared(map(Scratch.parse, scratch))
    if len(media) < 2:  # noqa: PLR2004 (a comparison)
        raise InvalidRequestError("at least two --scratch are needed, each on a medium of its own")
    return measured(agenda, media, labels, rows, rounds=rounds, minutes=minutes)


def measured(  # noqa: PLR0913 (a plan)
    agenda: Agenda[StorageCell],
    media: Sequence[ComparedMedium],
    labels: Sequence[str],
    rows: int,
    *,
    rounds: int,
    minutes: float | None = None,
) -> Iterator[StorageCell]:
    """Return the cells of formats on media, for errors see `measure`."""
    names = {each.name: each.metadata for each in media}
    cells: _Cells = {(each.format, each.question, each.medium): each for each in agenda.known}
    if others := {(each.rows, each.medium) for each in agenda.known} - {(rows, name) for name in names}:
        known = ", ".join(dict.fromkeys(each.medium for each in agenda.known))
        raise InvalidResultsError(
            f"{agenda.out} has results of {min(others)[0]:,} rows on {known}; name another --out"
        )
    agenda.facts |= {"media": names, "formats": [*labels]}
    if minutes is not None:
        agenda.budget = TimeBudget(60 * minutes)
    return _in_rounds(agenda, media, labels, cells, rows, rounds)


def _in_rounds(  # noqa: PLR0913, PLR0917 (a plan)
    agenda: Agenda[StorageCell],
    media: Sequence[ComparedMedium],
    labels: Sequence[str],
    cells: _Cells,
    rows: int,
    rounds: int,
) -> Iterator[StorageCell]:
    with ExitStack() as stack:
        own = {each.name: stack.enter_context(folders.make(each.folder)) for each in media}
        place = stack.enter_context(folders.make(for_data(media)))
        df: Any = catalog.table(DATASET, rows).df
        positions = Subject(DATASET, {"data": df}).positions(READ_ROWS)
        df.to_pickle(place / "data")
        del df
        for number in range(1, rounds + 1):
            for label in labels:
                known = [cells.get((label, each, name)) for each in QUESTIONS for name in own]
                is_known = all(each and (each.status or len(each.seconds) >= number) for each in known)
                if agenda.has(is_known, round=number, format=label):
                    found = [*_measured(label, place, own, positions)]
                    for cell, outcome in found:
                        key = cell.format, cell.question, cell.medium
                        cells[key] = _joined(cells.get(key, replace(cell, rows=rows)), outcome)
                        yield cells[key]


def _measured(
    label: str, place: Path, own: dict[str, Path], positions: list[int]
) -> Iterator[tuple[StorageCell, isolation.Outcome]]:
    """Save a format on each medium and read it; yield each cell without values, and the outcome."""
    small = place / f"small-{label}"
    for medium, folder in own.items():
        saved = isolation.run(
            trials.save, label, place / "data", small, folder, limit_seconds=LIMIT_SECONDS
        )
        yield StorageCell(label, "", SAVE, medium), saved
        cache = "warm" if MediumFacts.of(folder).is_in_memory else "cold"
        for question in [each for each in QUESTIONS if each != SAVE]:
            found = saved
            if not saved.status:
                what = label, question, small, folder, positions
                found = isolation.run(trials.read, *what, limit_seconds=LIMIT_SECONDS)
            engine = trials.engine_of(label) if question == "rows" else ""
            yield StorageCell(label, engine, question, medium, cache=cache), found
        # Its place is for the next format.
        data_formats.find(label).remove(trials.path_of(label, folder))


def _joined(cell: StorageCell, outcome: isolation.Outcome) -> StorageCell:
    """Return a cell with one more time; a round that fails leaves the times of others."""
    if outcome.status:
        failed = replace(cell, status=outcome.status.value, sentence=outcome.sentence)
        return cell if cell.seconds else failed
    found: dict[str, Any] = asdict(outcome.value)
    seconds = (*cell.seconds, found.pop("seconds"))
    return replace(cell, seconds=seconds, status="", sentence="", **found)


MEDIA = Instrument(
    FORM,
    measure,
    lambda row: f"round {max(1, len(row.seconds))}: {row.format}",
    needs_out=True,
)
