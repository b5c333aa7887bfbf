"""Study of media: durable saves and cold reads of table formats on several media."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import data_formats
from adapter_core import UnknownNameError
from adapter_core.errors import InvalidRequestError, InvalidResultsError
from data_generator import catalog
from format_bench.families.tables.subject import Subject
from format_bench.instruments import isolation
from format_bench.runner import folders
from format_bench.runner.media import ComparedMedium, Scratch, compared, for_data
from format_bench.studies.storage import trials
from format_bench.studies.storage.estimates import MediumModel
from format_bench.studies.storage.page import page
from format_bench.studies.storage.results import QUESTIONS, StorageCell, StorageResults, read, write

FORMATS = (
    *("CSV", "JSON", "Avro", "Parquet", "Feather", "ORC", "Lance", "Vortex"),
    *("DuckDB", "SQLite", "HDF5.table", "Pickle"),
)
"""Formats of each way to lay out a table: text, rows, columns, pages."""

READ_ROWS = 100
LIMIT_SECONDS = 300.0


class Session:
    """Measures formats on media, round by round, and writes the results after each format.

    Parameters
    ----------
    media : sequence of ComparedMedium
        The media.
    labels : sequence of str
        The formats.
    rows : int
        Rows of the table.
    out : Path
        The file of the results; cells that it contains are not measured again.

    Raises
    ------
    InvalidResultsError
        If the file contains results of other media or other rows.
    """

    def __init__(
        self, media: Sequence[ComparedMedium], labels: Sequence[str], rows: int, out: Path
    ) -> None:
        self._media, self._labels, self._out = media, labels, out
        facts = {each.name: each.metadata for each in media}
        cpus = len(os.sched_getaffinity(0))
        self.results = StorageResults(rows, trials.DATASET, facts, cpus)
        if out.exists():
            earlier = read(out)
            if (earlier.rows, set(earlier.media)) != (rows, set(facts)):
                raise InvalidResultsError(
                    f"{out} has results of {earlier.rows:,} rows on {', '.join(earlier.media)}; name "
                    "another --out"
                )
            self.results = earlier
        self.results.wanted[:] = dict.fromkeys([*self.results.wanted, *labels])

    def run(self, rounds: int, limit_seconds: float = math.inf) -> StorageResults:
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
            df: Any = catalog.table(trials.DATASET, self.results.rows).df
            positions = Subject(trials.DATASET, {"data": df}).positions(READ_ROWS)
            df.to_pickle(data)
            del df
            for number in range(1, rounds + 1):
                for label in self._missing(number):
                    if time.monotonic() > end:
                        click.echo(f"time is up before {label} in round {number}", err=True)
                        return self.results
                    self.results.loads.append(round(os.getloadavg()[0], 2))
                    self._measure(label, data, own, place / f"small-{label}", positions)
                    write(self.results, self._out)
                    left = f"{max(0.0, end - time.monotonic()):.0f} s left"
                    click.echo(f"round {number}: {label}, {left}", err=True)
        return self.results

    def _missing(self, number: int) -> list[str]:
        """Return the formats that lack a time, or a reason, of a round."""
        counted = {
            (each.format, each.question, each.medium): math.inf if each.status else len(each.seconds)
            for each in self.results.cells
        }
        axes = [(question, each.name) for question in QUESTIONS for each in self._media]
        return [
            label
            for label in self._labels
            if min(counted.get((label, *place), 0) for place in axes) < number
        ]

    def _measure(
        self, label: str, data: Path, own: dict[str, Path], small: Path, positions: list[int]
    ) -> None:
        for medium, folder in own.items():
            saved = isolation.run(trials.save, label, data, small, folder, limit_seconds=LIMIT_SECONDS)
            self._add(label, "save", medium, "", saved)
            for question in list(QUESTIONS)[1:]:
                found = saved
                if not saved.status:
                    found = isolation.run(
                        *(trials.read, label, question, small, folder, positions),
                        limit_seconds=LIMIT_SECONDS,
                    )
                engine = trials.engine_of(label) if question == "rows" else ""
                self._add(label, question, medium, engine, found)
            # Its place is for the next format.
            data_formats.find(label).remove(trials.path_of(label, folder))

    def _add(
        self, label: str, question: str, medium: str, engine: str, outcome: isolation.Outcome
    ) -> None:
        earlier = self.results.cell(label, question, medium)
        cell = earlier or StorageCell(label, engine, question, medium)
        if earlier:
            self.results.cells.remove(earlier)
        if outcome.status:
            if not cell.seconds:
                cell = replace(cell, status=outcome.status, sentence=outcome.sentence)
        else:
            taken: trials.Taken = outcome.value
            cell = replace(
                cell,
                seconds=[*cell.seconds, taken.seconds],
                requests=taken.requests,
                read_bytes=taken.read_bytes,
                seeks=taken.seeks,
                file_bytes=taken.file_bytes or cell.file_bytes,
                status="",
                sentence="",
            )
        self.results.cells.append(cell)


@click.command
@click.option(
    "--scratch",
    "scratches",
    multiple=True,
    metavar="[NAME=]FOLDER",
    help="Folder on a medium; at least two.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="JSON file of the results.")
@click.option("--formats", default=",".join(FORMATS), show_default=True, metavar="LABELS")
@click.option("--rows", type=click.IntRange(1000), default=300_000, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=2, show_default=True)
@click.option("--minutes", type=click.FloatRange(0.1), help="Start no format after so long.")
@click.option("--page", "shown", type=click.Path(path_type=Path), help="Print the page of results.")
@click.option("--medium", "further", multiple=True, metavar="NAME=MS,MB/S", help="Estimate it, too.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    scratches: tuple[str, ...],
    out: Path | None,
    formats: str,
    rows: int,
    rounds: int,
    minutes: float | None,
    shown: Path | None,
    further: tuple[str, ...],
) -> None:
    """Save and read tables on several media, and count the requests of the devices.

    Durable saves, and cold reads of the whole table, of two columns and of 100 random rows. The page
    lists the formats whose order turns around, and estimates other media from seeks and bytes.

    \b
    Examples:
      format-bench study media --scratch ssd=/data --scratch /dev/shm --out media.json
      format-bench study media --page media.json > docs/media.md
      format-bench study media --page media.json --medium "tape=5000,300"
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    models = [MediumModel.parse(each) for each in further]
    if shown:
        results = read(shown)
    elif out is None:
        raise click.UsageError("give --out FILE to measure, or --page RESULTS for the page")
    else:
        labels = [each for each in formats.split(",") if each]
        for label in labels:
            if label not in data_formats.names():
                raise UnknownNameError("format", label, data_formats.names())
        media = compared(map(Scratch.parse, scratches))
        if len(media) < 2:  # noqa: PLR2004 (a comparison)
            raise InvalidRequestError("at least two --scratch are needed, each on a medium of its own")
        limit_seconds = math.inf if minutes is None else 60 * minutes
        results = Session(media, labels, rows, out).run(rounds, limit_seconds)
    click.echo(page(results, models), nl=False)
