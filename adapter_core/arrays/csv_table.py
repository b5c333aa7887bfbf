"""Base class of stores that keep an array as a table in a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ArraySource, Description, Trait
from adapter_core.arrays import coordinate_table
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import pyarrow as pa


VALUES_FILE = "values.csv"
DESCRIPTION_FILE = "description.json"


class CSVTable(coordinate_table.CoordinateTable):
    """A directory of a CSV file with a row for each value and its coordinates, and a description.

    See `adapter_core.arrays.coordinate_table.CoordinateTable`. Floats have the fewest digits that read
    back as the same number, and infinities are `inf`; the sign and payload of NaNs are lost. Times are
    text, e.g. `2020-01-01T06:00:00`, and compared as text, since Polars takes several times longer to
    parse them. Polars writes, in less than half of the time that DuckDB or pyarrow takes.
    """

    suffix = ".csvs"
    file_facts = FileFacts(silent="text names no settings of its writer", threads="all cores")
    keeps_nan_bits = False
    detects_truncation = False
    suite = "foxbench"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})

    def _save(
        self,
        source: ArraySource,
        path: Path,
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        import polars as pl

        path.mkdir()
        with (path / VALUES_FILE).open("wb") as file:
            pl.DataFrame(coordinate_table.schema_of(source, times_as_text=True).empty_table()).write_csv(
                file
            )
            for batch in coordinate_table.batches(source, path, times_as_text=True):
                pl.DataFrame(batch).write_csv(file, include_header=False)
        self._write_description(source, path)

    @staticmethod
    def _write_description(source: ArraySource, path: Path) -> None:
        text = Description.of(source).to_json()
        (path / DESCRIPTION_FILE).write_text(text, encoding="utf-8")


class CSVTableReader(coordinate_table.CoordinateTableReader):
    """An open table in a CSV file."""

    times_as_text = True

    def __init__(self, path: Path) -> None:
        super().__init__(Description.from_json((path / DESCRIPTION_FILE).read_bytes()))

    @property
    def schema(self) -> pa.Schema:
        """The types of the columns; times are text."""
        return coordinate_table.schema_of(self.description, times_as_text=True)
