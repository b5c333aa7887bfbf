"""The tables of the asv suites, and the cells that save and read them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import data_formats
import data_generator
from adapter_core import CannotHold, DataFormat, Unavailable
from data_generator.real.flights import TooFewRows
from format_bench.asv_cell import Cell
from format_bench.asv_run import DATA, missing, prepare
from format_bench.operations.warm_up import warm_up
from format_bench.results.status import Status

if TYPE_CHECKING:
    import pandas as pd


def prepare_tables(names: Sequence[str], rows: int, module: str, scale: str) -> None:
    """Begin a run of a module's suites on tables of so many rows, or of all that a real one has.

    What cannot be had leaves its reason, with which `TableCell.start` skips the cells.
    """

    def make() -> dict[str, tuple[int, int]]:
        shapes: dict[str, tuple[int, int]] = {}
        for name in names:
            try:
                df = _table(name, rows)
            except Unavailable as error:
                missing(name).write_text(str(error), encoding="utf-8")
                continue
            df.to_pickle(DATA / name)
            shapes[name] = df.shape
        return shapes

    prepare(module, scale, make)


def _table(name: str, rows: int) -> pd.DataFrame:
    try:
        return data_generator.table(name, rows=rows).df
    except TooFewRows:
        return data_generator.table(name).df


@functools.cache
def load(dataset: str) -> pd.DataFrame:
    """Return a table that `prepare_tables` made, shape (rows, columns); loaded once in a process."""
    import pandas as pd

    return pd.read_pickle(DATA / dataset)  # noqa: S301 (written by `prepare_tables`)


class TableCell(Cell[DataFormat]):
    """A table in a format."""

    registry = data_formats.registry

    def check(self, adapter: DataFormat, df: pd.DataFrame) -> None:
        """Skip the cell, with a reason, if the format cannot hold the table."""
        try:
            adapter.check(df)
        except CannotHold as error:
            raise self.skip(Status.UNSUPPORTED, error) from error

    def warm_up(self, adapter: DataFormat) -> None:
        """Save and read a tiny table."""
        warm_up(adapter)

    def save(self, adapter: DataFormat, path: Path) -> None:
        """Save the table, unmeasured."""
        df = load(self.dataset)
        self.check(adapter, df)
        self.guard(lambda: adapter.save(df, path))
