"""Operations on tables."""

from __future__ import annotations

import functools
import pickle
from typing import TYPE_CHECKING

import data_generator
from format_bench.families.operations import CatalogOperations, OpenQuery, warm_up_file
from format_bench.families.remote_measuring import measure_remote
from format_bench.families.scale_measuring import measure_scale
from format_bench.families.tables.queries import TableQuery, query_to
from format_bench.families.tables.subject import tuning_keys
from format_bench.instruments.touch import touch
from format_bench.verification.tables import verify

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from adapter_core import DataFormat
    from format_bench.families.operations import Measured
    from format_bench.results.suites import Step
    from format_bench.verification.diff import Diff


class TableOperations(CatalogOperations):
    """One table format, with or without one of its codecs."""

    family = "tables"
    adapter: DataFormat

    @staticmethod
    def datasets() -> list[str]:
        """Return the names of the generated and the real tables."""
        return data_generator.names()

    @staticmethod
    def tuning_keys(dataset: str) -> tuple[list[str], list[str]]:
        """Return the columns that questions select by."""
        return tuning_keys(dataset)

    @staticmethod
    def generate(dataset: str, size: int | None) -> pd.DataFrame:
        """Return a table of `size` rows."""
        if size is None:
            return data_generator.table(dataset).df
        return data_generator.table(dataset, rows=size).df

    @staticmethod
    def store(data: pd.DataFrame, path: Path) -> tuple[int, int]:
        """Store a table as a pickle, after one of its names; return the number of rows and columns."""
        with path.open("wb") as file:
            pickle.dump(list(data.columns), file)
            data.to_pickle(file)
        return data.shape

    @staticmethod
    def load(path: Path) -> pd.DataFrame:
        """Return the table, shape (rows, columns)."""
        import pandas as pd

        with path.open("rb") as file:
            pickle.load(file)  # noqa: S301 (written by `store`)
            return pd.read_pickle(file)  # noqa: S301

    @staticmethod
    def take(data: pd.DataFrame, positions: Sequence[int]) -> pd.DataFrame:
        """Return the rows at some positions, with the default index."""
        return data.iloc[positions].reset_index(drop=True)

    def expect(self, data: Path) -> None:
        """Note the names of the stored table's columns."""
        with data.open("rb") as file:
            self.column_names: list[str] = pickle.load(file)  # noqa: S301 (written by `store`)

    def warm_up(self) -> None:
        """Save and read a tiny table, and import the codec's own libraries."""
        _warm_up(self.adapter)
        if self.codec is not None:
            self.adapter.codec_availability(self.codec)

    def save(self, data: pd.DataFrame, file: Path) -> None:
        """Save the table, tuned for queries if it has keys for that."""
        if self.tuned:
            self.unchecked.save_tuned(data, file, *self.tuned)
        else:
            self.unchecked.save(data, file, self.codec, self.level)

    def read(self, file: Path) -> pd.DataFrame:
        """Read the table, and touch a mapped one, so that nothing lazy escapes the clock."""
        df: pd.DataFrame = self.adapter.read(file)
        return touch(df) if self.adapter.maps_files else df

    def compare(self, data: pd.DataFrame, found: pd.DataFrame) -> Diff:
        """Compare the tables column by column, in the order of a tuned file if it is one."""
        if self.tuned:
            data = data.sort_values(self.tuned[0], kind="stable", ignore_index=True)
        return verify(data, found, *self.adapter.kept)

    def measure(self, step: Step, file: Path) -> list[Measured] | None:
        """Measure the steps `remote` and `scale` in processes of their own."""
        if step.name == "remote":
            return measure_remote(
                "tables", self.adapter.label, file, step.metrics, link=self.link, bucket=self.bucket
            )
        if step.name == "scale":
            where = self.track, file.parent
            return measure_scale(self.adapter.label, self.subject, *where, step.metrics)
        return None

    def check_query(self, query: str) -> None:
        """Raise `UnsupportedError` if the expected table lacks a column of a query."""
        query_to(self.questions.by_name[query], self.column_names)

    def open_query(self, query: str, file: Path) -> OpenQuery:
        """Return a query to a saved table; each answer opens the file."""
        asked = query_to(self.questions.by_name[query], self.column_names)
        return TableQuery(self.adapter, file, asked)


OPERATIONS = TableOperations


@functools.cache
def _warm_up(adapter: DataFormat) -> None:
    with warm_up_file(adapter.suffix) as path:
        adapter.save(data_generator.table("eq", rows=8).df, path)
        adapter.read(path)
