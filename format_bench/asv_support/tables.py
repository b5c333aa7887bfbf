"""The tables of the asv suites, and the cells that save and read them.

The cells of the compression suite: a table in a format under one choice of codec.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import data_formats
import data_generator
from adapter_core import CannotHoldError, DataFormat, UnavailableError, UnsupportedError
from adapter_core.errors import TooFewRowsError, WrongValuesError
from format_bench.asv_support.cell import Cell
from format_bench.asv_support.run import DATA, missing, prepare
from format_bench.operations.warm_up import warm_up
from format_bench.results.status import WRONG, Status
from format_bench.verification.tables import verify

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
            except UnavailableError as error:
                missing(name).write_text(str(error), encoding="utf-8")
                continue
            df.to_pickle(DATA / name)
            shapes[name] = df.shape
        return shapes

    prepare(module, scale, make)


def _table(name: str, rows: int) -> pd.DataFrame:
    try:
        return data_generator.table(name, rows=rows).df
    except TooFewRowsError:
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
        except CannotHoldError as error:
            raise self.skip(Status.UNSUPPORTED, error) from error

    def warm_up(self, adapter: DataFormat) -> None:
        """Save and read a tiny table."""
        warm_up(adapter)

    def save(self, adapter: DataFormat, path: Path) -> None:
        """Save the table, unmeasured."""
        df = load(self.dataset)
        self.check(adapter, df)
        self.guard(lambda: adapter.save(df, path))


OWN_DEFAULT = "own default"

CHOICES: dict[str, int | None] = {"none": None, OWN_DEFAULT: None, "lz4": None, "zstd level 1": 1}
"""What can be chosen, and its level; the codec is the first word. The thesis' own choices, and what a
user gets who chooses nothing."""


def codec_of(adapter: DataFormat, choice: str) -> tuple[str | None, int | None]:
    """Return codec and level of a format that stand for one of `CHOICES`.

    HDF5 has its codecs inside of Blosc, as in "blosc:lz4".

    Raises
    ------
    UnsupportedError
        If the format has no such codec, or no default of its own.
    """
    if choice == "none":
        return None, None
    if choice == OWN_DEFAULT:
        if adapter.default_codec is None:
            raise UnsupportedError(f"{adapter.label} does not compress unless it is told to, see none")
        return adapter.default_codec, None
    name = choice.partition(" ")[0]
    for codec in adapter.codecs:
        if codec.name in (name, f"blosc:{name}"):
            return codec.name, CHOICES[choice] if codec.levels else None
    raise UnsupportedError(f"{adapter.label} has no codec {name}")


class CompressionCell(TableCell):
    """A table in a format under one choice of codec, the third parameter."""

    file_axes = 3

    def chosen(self, adapter: DataFormat) -> tuple[str | None, int | None]:
        """Return codec and level; skip the cell, with a reason, if the format has no such choice."""
        try:
            return codec_of(adapter, self.params[2])
        except UnsupportedError as error:
            raise self.skip(Status.UNSUPPORTED, error) from error

    def save(self, adapter: DataFormat, path: Path) -> None:
        """Save the table, unmeasured."""
        df = load(self.dataset)
        self.check(adapter, df)
        codec, level = self.chosen(adapter)
        self.guard(lambda: adapter.save(df, path, codec, level))

    def proven_size(self, adapter: DataFormat) -> int:
        """Return the size of the kept file in bytes; remark on a codec that was declined.

        Raises
        ------
        WrongValuesError
            If the table comes back wrong.
        """
        path = self.saved(adapter)
        verdict = verify(load(self.dataset), adapter.read(path), adapter.kept_digits)
        if verdict.errors:
            raise WrongValuesError(WRONG + "; ".join(verdict.errors))
        codec, used = self.chosen(adapter)[0], adapter.codec_used(path)
        if used != codec:
            self.remark(f"{adapter.label} was told to use {codec}; its file shows {used or 'none'}")
        return adapter.size_bytes(path)
