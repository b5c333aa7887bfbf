"""Instrument of the study of media: durable saves and cold reads of table formats on several media."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

import data_formats
from adapter_core import UnknownNameError
from adapter_core.errors import InvalidRequestError, InvalidResultsError
from data_generator import DEFAULT_SEED, catalog
from format_bench.families.tables.subject import Subject
from format_bench.instruments import isolation
from format_bench.instruments.medium import MediumFacts
from format_bench.metadata import run_metadata
from format_bench.results.load import RESULTS, Results, without_unasked
from format_bench.results.study_rows import StudyFile
from format_bench.runner import folders
from format_bench.runner.media import ComparedMedium, Scratch, compared, for_data
from format_bench.studies.storage import trials
from format_bench.studies.storage.results import (
    DATASET,
    FORM,
    QUESTIONS,
    SAVE,
    StorageCell,
    StorageResults,
    read,
    stored,
)

# As many as the question in `QUESTIONS` says.
READ_ROWS = 100

# Ends a step that hangs; the others of the round go on.
LIMIT_SECONDS = 300.0


class Session:
    """Measures formats on media, round by round, and keeps the results of each format.

    Parameters
    ----------
    media : sequence of ComparedMedium
        The media.
    labels : sequence of str
        The formats.
    rows : int
        Rows of the table.
    out : Path
        The folder of the results; cells that it contains are not measured again. Results in a file of
        JSON, of an earlier version, go on in the folder of its name without the ending.

    Raises
    ------
    InvalidResultsError
        If there are results of other media or other rows.
    """

    def __init__(
        self, media: Sequence[ComparedMedium], labels: Sequence[str], rows: int, out: Path
    ) -> None:
        self._media, self._labels, self._rows = media, labels, rows
        self.out = out.with_suffix("") if out.suffix == ".json" else out
        self._file: StudyFile[StorageCell] | None = None
        self._cells: dict[tuple[str, str, str], StorageCell] = {}
        self._metadata: dict[str, Any] = {
            "media": {each.name: each.metadata for each in media},
            "loads": [],
            "formats": list(labels),
        }
        has_records = (self.out / RESULTS).exists()
        if not (has_records or out.is_file()):
            return
        earlier = read(self.out if has_records else out)
        if (earlier.rows, set(earlier.media)) != (rows, set(self._metadata["media"])):
            raise InvalidResultsError(
                f"{out} has results of {earlier.rows:,} rows on {', '.join(earlier.media)}; name "
                "another --out"
            )
        self._cells = {(each.format, each.question, each.medium): each for each in earlier.cells}
        if not has_records:
            self._metadata["loads"] += earlier.loads
            self._metadata["formats"] = list(dict.fromkeys([*earlier.wanted, *labels]))
            self._keep(earlier.cells)

    def run(self, rounds: int, limit_seconds: float = math.inf) -> None:
        """Measure all cells in each round; start no format after the limit.

        Parameters
        ----------
        rounds : int
            Times that each cell is measured, each in a fresh process.
        limit_seconds : float
            Wall time after which no format starts.
        """
        end = time.monotonic() + limit_seconds
        with ExitStack() as stack:
            own = {each.name: stack.enter_context(folders.make(each.folder)) for each in self._media}
            place = stack.enter_context(folders.make(for_data(self._media)))
            data = place / "data"
            df: Any = catalog.table(DATASET, self._rows).df
            positions = Subject(DATASET, {"data": df}).positions(READ_ROWS)
            df.to_pickle(data)
            del df
            for number in range(1, rounds + 1):
                for label in self._missing(number):
                    if time.monotonic() > end:
                        click.echo(f"time is up before {label} in round {number}", err=True)
                        return
                    self._metadata["loads"].append(round(os.getloadavg()[0], 2))
                    small = place / f"small-{label}"
                    self._keep([*self._measured(label, data, own, small, positions)])
                    left = f"{max(0.0, end - time.monotonic()):.0f} s left"
                    click.echo(f"round {number}: {label}, {left}", err=True)

    @property
    def results(self) -> StorageResults:
        """All results of the folder."""
        return read(self.out)

    def _missing(self, number: int) -> list[str]:
        """Return the formats that lack a time, or a reason, of a round."""
        counted = {
            place: math.inf if each.status else len(each.seconds) for place, each in self._cells.items()
        }
        axes = [(question, each.name) for question in QUESTIONS for each in self._media]
        return [
            label
            for label in self._labels
            if min(counted.get((label, *place), 0) for place in axes) < number
        ]

    def _measured(
        self, label: str, data: Path, own: dict[str, Path], small: Path, positions: list[int]
    ) -> Iterator[StorageCell]:
        for medium, folder in own.items():
            saved = isolation.run(trials.save, label, data, small, folder, limit_seconds=LIMIT_SECONDS)
            yield self._cell(StorageCell(label, "", SAVE, medium, rows=self._rows), saved)
            cache = "warm" if MediumFacts.of(folder).is_in_memory else "cold"
            for question in [each for each in QUESTIONS if each != SAVE]:
                found = saved
                if not saved.status:
                    found = isolation.run(
                        *(trials.read, label, question, small, folder, positions),
                        limit_seconds=LIMIT_SECONDS,
                    )
                engine = trials.engine_of(label) if question == "rows" else ""
                new = StorageCell(label, engine, question, medium, rows=self._rows, cache=cache)
                yield self._cell(new, found)
            # Its place is for the next format.
            data_formats.find(label).remove(trials.path_of(label, folder))

    def _cell(self, new: StorageCell, outcome: isolation.Outcome) -> StorageCell:
        """Return a cell with one more time; a round that fails leaves the times of others."""
        cell = self._cells.get((new.format, new.question, new.medium), new)
        if outcome.status:
            failed = replace(cell, status=outcome.status.value, sentence=outcome.sentence)
            return cell if cell.seconds else failed
        found: dict[str, Any] = asdict(outcome.value)
        seconds = (*cell.seconds, found.pop("seconds"))
        return replace(cell, seconds=seconds, status="", sentence="", **found)

    def _keep(self, cells: Iterable[StorageCell]) -> None:
        """Write cells, after the metadata of this session with the loads so far."""
        if self._file is None:
            self._file = StudyFile(FORM, self.out)
            place, scale = for_data(self._media), f"{self._rows:,} rows"
            self._metadata |= run_metadata.collect(place, seed=DEFAULT_SEED, scale=scale, threads="all")
        run_metadata.write(self._metadata, self.out / f"{self._file.run_id}-threads-all.json")
        for each in cells:
            self._cells[each.format, each.question, each.medium] = each
            self._file.append(each)


class Media:
    """The instrument of the study: saves and reads on media, and the requests of their devices."""

    needs_out = True
    facts = None

    @staticmethod
    def run(  # noqa: PLR0913 (the options of the study)
        out: Path,
        *,
        scratch: Sequence[str],
        formats: str,
        rows: int,
        rounds: int,
        minutes: float | None,
    ) -> tuple[list[StorageCell], Results]:
        """Measure the cells that a folder lacks, and return all that it has.

        Raises
        ------
        UnknownNameError
            If there is no format of a name.
        InvalidRequestError
            If there are fewer than two media.
        """
        labels = [each for each in formats.split(",") if each]
        for label in labels:
            if label not in data_formats.names():
                raise UnknownNameError("format", label, data_formats.names())
        media = compared(map(Scratch.parse, scratch))
        if len(media) < 2:  # noqa: PLR2004 (a comparison)
            raise InvalidRequestError("at least two --scratch are needed, each on a medium of its own")
        session = Session(media, labels, rows, out)
        session.run(rounds, math.inf if minutes is None else 60 * minutes)
        return Media.read(session.out)

    @staticmethod
    def read(*paths: Path) -> tuple[list[StorageCell], Results]:
        """Return the cells of folders, or of files of an earlier version, and the results they make.

        Raises
        ------
        InvalidResultsError
            If there are none.
        """
        cells, metadata = list[StorageCell](), list[dict[str, Any]]()
        for path in paths:
            found, facts = stored(path)
            cells += found
            metadata += facts
        records = [record for each in cells for record in FORM.records(each, "")]
        return cells, Results(FORM.suite, without_unasked(records), metadata)
