"""RON, the Rusty Object Notation, through python-ron."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from adapter_core.data_format import DataFormat
from adapter_core.tables import row_format
from adapter_core.tables.rows import row_blocks
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import pandas as pd

BEGINNING = "(\nnote: "
"""Of a file, before the note of the table's columns."""

ROWS = "rows: [\n"
"""The line before the rows."""

END = "],\n)\n"
"""Of a file, after the rows."""

LINES_AT_A_TIME = 100
"""Lines that are parsed at a time; several hundred take twice as long for each line."""


class Adapter(DataFormat):
    """RON through `pyron.to_string` and `pyron.loads` of python-ron, one row a line.

    A file is one value, ``(note: {...}, rows: [...])``, of which the note names the columns, their
    dtypes and the number of rows, and each row is a tuple of its values. Rows are written one by one,
    since python-ron takes longer over a list of them, and their line breaks are taken out: it breaks
    no line within text. Datetimes and timedeltas are integers in the unit of the dtype.
    """

    label = "RON"
    suffix = ".ron"
    requires = ("pandas", "pyarrow>=15", "python-ron")
    modules: ClassVar = {"python-ron": "pyron"}
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.SINGLE_FILE})
    refuses: ClassVar = row_format.REFUSED

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import pyron

        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(f"{BEGINNING}{pyron.to_string(row_format.note_of(df))},\n{ROWS}")
            for rows in row_blocks(df):
                file.write(_one_a_line(",\n".join(map(pyron.to_string, rows))) + ",\n")
            file.write(END)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        with path.open(encoding="utf-8", newline="\n") as file:
            note = _note(file)
            df = row_format.table_of(note, _rows(file, note["rows"]))
            if file.read() != END:
                raise ValueError(f"{path.name} has more than {note['rows']:,} rows, or is cut short")
        return df


def _one_a_line(rows: str) -> str:
    """Take the line breaks out of tuples, each value of which is on an indented line of its own."""
    return rows.replace("(\n    ", "(").replace("\n    ", " ").replace("\n)", ")")


def _note(file: TextIO) -> Any:
    """Read a file up to its rows, and return its note."""
    import pyron

    lines: list[str] = []
    for line in file:
        if line == ROWS:
            return pyron.loads("".join([*lines, ROWS, END]), print_errors=False)["note"]
        lines.append(line)
    raise ValueError("the file has no rows after a note of its columns")


def _rows(file: TextIO, number: int) -> Iterator[tuple[Any, ...]]:
    import pyron

    lines = islice(file, number)
    while block := "".join(islice(lines, LINES_AT_A_TIME)):
        yield from pyron.loads(f"[{block}]", print_errors=False)
