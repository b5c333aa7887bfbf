"""Saving and reading tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import data_formats
import data_generator
from adapter_core.errors import WrongValuesError
from format_bench.instruments.touch import touch
from format_bench.operations.cases import Measured
from format_bench.operations.warm_up import warm_up
from format_bench.operations.work import Work
from format_bench.results.status import WRONG
from format_bench.verification.tables import verify

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import DataFormat
    from format_bench.operations.cases import Case


def make_table(dataset: str, rows: int, path: Path) -> tuple[int, int]:
    """Generate a table and leave it at `path`; return how many rows and columns it has."""
    df = data_generator.table(dataset, rows=rows).df
    return leave_table(df, path)


def leave_table(df: pd.DataFrame, path: Path) -> tuple[int, int]:
    """Leave a table at `path` for `TableWork.load`; return how many rows and columns it has."""
    df.to_pickle(path)
    return df.shape


class TableWork(Work):
    """One table format, with the codec and level of the case."""

    adapter: DataFormat

    def __init__(self, case: Case) -> None:
        self.adapter = data_formats.get(case.format)
        self.codec, self.level = case.codec, case.level
        warm_up(self.adapter)
        if self.codec is not None:
            # It imports what only the codec requires, which no call shall pay for.
            self.adapter.codec_availability(self.codec)

    def load(self, data: Path) -> pd.DataFrame:
        """Return the table."""
        import pandas as pd

        return pd.read_pickle(data)  # noqa: S301 (written by `leave_table`)

    def check(self, data: pd.DataFrame) -> None:
        """Raise `CannotHoldError` if the format cannot hold the table."""
        self.adapter.check(data)

    def save(self, data: pd.DataFrame, file: Path) -> None:
        """Save the table."""
        self.adapter.save(data, file, self.codec, self.level)

    def read(self, file: Path) -> pd.DataFrame:
        """Read the table and touch it, so that nothing lazy escapes the clock."""
        df: pd.DataFrame = touch(self.adapter.read(file))
        return df

    def verify(self, data: pd.DataFrame, found: pd.DataFrame) -> Measured:
        """Return the number of columns that lost something, and what, in words."""
        verdict = verify(data, found, self.adapter.kept_digits)
        if verdict.errors:
            raise WrongValuesError(WRONG + "; ".join(verdict.errors))
        return Measured("lost columns", [verdict.lost_columns], "; ".join(verdict.losses))

    def about(self, file: Path) -> list[Measured]:
        """Return the size, with a remark on a codec that was asked for and not used, or reversely."""
        remark = ""
        used = self.adapter.codec_used(file)
        if self.adapter.codecs and used != self.codec:
            told = f"{self.adapter.label} was told to use {self.codec or 'none'}"
            remark = f"{told}; its file shows {used or 'none'}"
        return [Measured("size", [self.adapter.size_bytes(file)], remark)]
