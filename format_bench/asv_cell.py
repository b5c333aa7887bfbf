"""One (format, dataset) of an asv suite: its table, its file, and what is said when it has no value.

All processes of a suite share one working directory for the whole run. There `prepare` puts every
table once, and the first benchmark of a cell that saves leaves its file for the others.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import data_formats
import data_generator
from adapter_core import CannotHold, Unavailable, UnknownName
from format_bench.journal import Journal, Status

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import DataFormat

TABLES = Path("tables")
FILES = Path("files")


def journal(scale: str) -> Journal:
    """Return the journal beside asv's results of that scale, or one here if asv is not running."""
    root = os.environ.get("ASV_CONF_DIR")
    folder = Path(root, ".asv", scale, "results", "reasons") if root else Path("reasons")
    environment = os.environ.get("ASV_ENV_NAME", "none")
    return Journal(folder, environment, os.environ.get("ASV_COMMIT", ""))


def prepare(names: Sequence[str], rows: int, module: str, scale: str) -> None:
    """Generate the tables, once for a whole run of a module's suites, into the working directory."""
    journal(scale).clear_notes(module)
    TABLES.mkdir()
    FILES.mkdir()
    for name in names:
        _table(name, rows).to_pickle(TABLES / name)


def _table(name: str, rows: int) -> pd.DataFrame:
    return data_generator.table(name, rows=rows).df


@functools.cache
def load(dataset: str) -> pd.DataFrame:
    """Return a table that `prepare` made, shape (rows, columns); loaded once in a process."""
    import pandas as pd

    return pd.read_pickle(TABLES / dataset)  # noqa: S301 (written by `prepare`)


class Cell:
    """What the benchmarks of one suite do with one (format, dataset).

    Parameters
    ----------
    suite : str
        Module and class of the benchmark, as in "tabular.Tabular".
    label, dataset : str
        The parameters of the benchmark.
    scale : str
        The scale, which says where results are.
    limit_seconds : float
        How long the process may take before it is ended as timed out.
    """

    def __init__(self, suite: str, label: str, dataset: str, scale: str, limit_seconds: float) -> None:
        self.name = (suite, label, dataset)
        self.label, self.dataset = label, dataset
        self.journal = journal(scale)
        self.limit_seconds = limit_seconds

    def start(self, *suites_before: str) -> DataFormat:
        """Begin: return the adapter, warmed up; skip the cell, with a reason, if there is none.

        Parameters
        ----------
        *suites_before : str
            Suites that this one builds on. If the cell hung or crashed there, or here, earlier in this
            run, it fails at once instead of waiting again.

        Raises
        ------
        NotImplementedError
            asv's sign that a cell is skipped.
        """
        try:
            adapter = data_formats.get(self.label)
        except (Unavailable, UnknownName) as error:
            raise self._skip(Status.UNAVAILABLE, error) from error
        for suite in (self.name[0], *suites_before):
            earlier = self.journal.ended_badly(suite, self.label, self.dataset)
            if earlier:
                self.journal.write(self.name, earlier.status, earlier.sentence)
                raise RuntimeError(earlier.sentence)
        spent_seconds = time.monotonic() - _process_start()
        self.journal.watch(self.name, max(1.0, self.limit_seconds - spent_seconds))
        self._guard(lambda: _warm_up(adapter))
        return adapter

    def check(self, adapter: DataFormat, df: pd.DataFrame) -> None:
        """Skip the cell, with a reason, if the format cannot hold the table."""
        try:
            adapter.check(df)
        except CannotHold as error:
            raise self._skip(Status.UNSUPPORTED, error) from error

    def path(self, adapter: DataFormat) -> Path:
        """Return where the cell's file is, or will be."""
        return FILES / f"{self.dataset}-{self.label}{adapter.suffix}"

    def saved(self, adapter: DataFormat) -> Path:
        """Return the path of the cell's file; save it now if no benchmark has done so before."""
        path = self.path(adapter)
        if not path.exists():
            df = load(self.dataset)
            self.check(adapter, df)
            self._guard(lambda: adapter.save(df, path))
        return path

    def end(self) -> None:
        """End; called by asv's teardown, also while an error passes through, which is written down."""
        self.journal.unwatch()
        error = sys.exception()
        if error is not None:
            self._write_failure(error)

    def _guard(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as error:
            self.journal.unwatch()
            self._write_failure(error)
            raise

    def _write_failure(self, error: BaseException) -> None:
        sentence = " ".join(f"{type(error).__name__}: {error}".split())
        self.journal.write(self.name, Status.FAILED, sentence[:500])

    def _skip(self, status: Status, error: Exception) -> NotImplementedError:
        self.journal.unwatch()
        self.journal.write(self.name, status, str(error))
        return NotImplementedError(str(error))


@functools.cache
def _process_start() -> float:
    """Return the time of the first call in this process, by the monotonic clock."""
    return time.monotonic()


@functools.cache
def _warm_up(adapter: DataFormat) -> None:
    """Save and read a tiny table, so that no import of a library falls into a measured call."""
    df = _table("eq", rows=8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"warm{adapter.suffix}")
        try:
            adapter.save(df, path)
        except CannotHold:
            return
        adapter.read(path)
