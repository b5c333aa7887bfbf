"""Cells of results for `format-bench show`: facts, and a script that measures one again."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

from adapter_core.array_source import ArraySource
from adapter_core.errors import UnsupportedError
from adapter_core.files import write_atomically
from adapter_core.text import visible
from format_bench.cli.options import load_source
from format_bench.families import plain_files
from format_bench.families.operations import operations_of
from format_bench.recommendation.script import script_of, why_none
from format_bench.results import cells
from format_bench.results.display.text import plural, quantity
from format_bench.results.load import Results, suite_of
from format_bench.results.records import Record
from format_bench.results.suites import family_of_suite
from format_bench.runner import user_data

SCRIPT = "script.py"


class Cell(NamedTuple):
    """A cell of results, as a command line names it."""

    source: str
    name: str
    results: Results
    record: Record


def cell_of(source: str, name: str) -> Cell:
    """Return a cell of results.

    Raises
    ------
    UnknownNameError
        If there is none; the message names near ones.
    """
    results = load_source(source)
    if name.count("/") < len(cells.CellName._fields) - 1:
        example = next(iter(cells.by_name(results.records)))
        raise click.UsageError(
            f"--cell {name}: a cell is named SUITE/DATA/FORMAT/METRIC, e.g. {shlex.quote(str(example))}"
        )
    return Cell(source, name, results, cells.find(results.records, name))


def facts(record: Record) -> Iterator[tuple[str, str]]:
    """Yield the facts of a record that it has, each with its name."""
    value = "" if record.value is None else quantity(record.value, record.unit)
    ends = [quantity(end, record.unit) for end in record.interval or ()]
    found = {
        "value": value,
        "median of": plural(len(record.repeats), "sample") if record.repeats else "",
        "interval": " to ".join(ends),
        "status": "" if value else str(record.status),
        "remark" if value else "reason": record.sentence,
        "rows": f"{record.rows:,}",
        "conditions": ", ".join(f"{name} {each}" for name, each in record.conditions.items()),
        "environment": record.environment,
        "run": record.run_id,
        "script": f"none: {reason}" if (reason := why_none(record)) else "--script prints it",
    }
    yield from ((name, visible(text)) for name, text in found.items() if text)


def script(cell: Cell, own: str | None = None, out: Path | None = None) -> str:
    """Return the script that measures a cell again; with a folder, write it and its data there.

    Parameters
    ----------
    cell : Cell
        The cell.
    own : str, optional
        The user's file that the results are of.
    out : Path, optional
        The folder, which is made if it is missing.

    Raises
    ------
    UnsupportedError
        If there is no script; the message is the reason. Nothing is written then.
    """
    try:
        return _script(cell, own, out)
    except UnsupportedError as error:
        raise UnsupportedError(f"{cell.name} has no script: {error}") from error


def _script(cell: Cell, own: str | None, out: Path | None) -> str:
    record = cell.record
    family = family_of_suite(suite_of(record))
    if cell.results.is_sample(record):
        raise UnsupportedError("it is of a sample of the rows, which is drawn anew for each run")
    if reason := why_none(record):
        raise UnsupportedError(reason)
    is_own = record.dataset not in operations_of(family).datasets()
    if own and not is_own:
        raise click.UsageError(f"--data {own}: {record.dataset} is generated, and needs no file")
    further = "--data YOUR_FILE --out ." if is_own else "--out ."
    found = f"{cell.name} of {cell.results.name}", cells.command(cell.source, cell.name, further)
    if out is None and (is_own or family.name != "arrays"):
        return script_of(record, *found)
    with _data_of(record, own, is_own=is_own) as data:
        array = data if isinstance(data, ArraySource) else None
        text = script_of(record, *found, array)
        if out is None:
            return text
        out.mkdir(parents=True, exist_ok=True)
        target = out / plain_files.file_name(family.name, record.dataset, record.rows)
        digest = plain_files.write(family.name, data, target)
    text = script_of(record, *found, array, digest)
    with write_atomically(out / SCRIPT) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return text


@contextmanager
def _data_of(record: Record, own: str | None, *, is_own: bool) -> Iterator[Any]:
    """Provide the data of a record: generated, or the user's, read as `run --data` reads them."""
    family = family_of_suite(suite_of(record))
    operations = operations_of(family)
    if not is_own:
        yield operations.generate(record.dataset, record.rows)
        return
    if own is None:
        raise UnsupportedError(f"{record.dataset} is your own data: name the file by --data")
    with tempfile.TemporaryDirectory() as folder:
        source = user_data.Source(own, as_records=family.name == "records")
        prepared = user_data.prepare(source, Path(folder))
        if (prepared.name, prepared.rows) != (record.dataset, record.rows):
            here = f"{prepared.name} with {prepared.rows:,} rows"
            raise UnsupportedError(f"{own} is {here}, not {record.dataset} with {record.rows:,}")
        yield operations.load(prepared.place.value[0])
