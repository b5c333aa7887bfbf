"""RON (Rusty Object Notation) through python-ron."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from adapter_core import Snippet, Trait
from adapter_core.tables import row_format
from adapter_core.tables.rows import row_blocks

if TYPE_CHECKING:
    import pandas as pd

# A file is START, the description, a comma, ROWS, one line for each row, and END.
START = "(\nnote: "
ROWS = "rows: [\n"
END = "],\n)\n"

# Parsing several hundred lines at once takes twice as long for each line.
_BLOCK_LINES = 100


class Adapter(row_format.RowFile):
    """RON through `pyron.to_string` and `pyron.loads` of python-ron, one row a line.

    A file is one value, ``(note: {...}, rows: [...])``. The note contains the names of the columns,
    their dtypes and the number of rows; a row is a tuple of values. Rows are written one by one, since
    python-ron takes longer for a list of them. Datetimes and timedeltas are integers in the unit of the
    dtype.
    """

    label = "RON"
    suffix = ".ron"
    requires = ("pandas", "pyarrow>=15", "python-ron")
    modules: ClassVar = {"python-ron": "pyron"}
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.SINGLE_FILE})
    snippet = Snippet(
        imports="import pandas as pd\nimport pyron",
        write="""
            rows = df.astype(object).where(df.notna(), None)
            table = {"names": list(df.columns), "rows": rows.to_numpy().tolist()}
            with open({path}, "w", encoding="utf-8") as file:
                file.write(pyron.to_string(table))
        """,
        read="""
            with open({path}, encoding="utf-8") as file:
                table = pyron.loads(file.read())
            df = pd.DataFrame(table["rows"], columns=table["names"])
        """,
        changes={"int8": "int64", "float32": "float64", "category": "str", "Int64": "float64"},
        lacks=("datetime64[us]",),
        differs="FormatBench's own files start with a description of the dtypes",
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import pyron

        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(f"{START}{pyron.to_string(row_format.describe(df))},\n{ROWS}")
            for rows in row_blocks(df):
                file.write(_one_a_line(",\n".join(map(pyron.to_string, rows))) + ",\n")
            file.write(END)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[tuple[Any, Iterator[tuple[Any, ...]]]]:
        with path.open(encoding="utf-8", newline="\n") as file:
            description = _description(file)
            yield description, _rows(file, description["rows"])


def _one_a_line(rows: str) -> str:
    """Return tuples without the line breaks around their values; text contains none."""
    return rows.replace("(\n    ", "(").replace("\n    ", " ").replace("\n)", ")")


def _description(file: TextIO) -> Any:
    """Read a file up to its rows, and return the description of its columns."""
    import pyron

    lines: list[str] = []
    for line in file:
        if line == ROWS:
            return pyron.loads("".join([*lines, ROWS, END]), print_errors=False)["note"]
        lines.append(line)
    raise ValueError("the file has no rows after the description of its columns")


def _rows(file: TextIO, number: int) -> Iterator[tuple[Any, ...]]:
    import pyron

    lines = islice(file, number)
    while block := "".join(islice(lines, _BLOCK_LINES)):
        yield from pyron.loads(f"[{block}]", print_errors=False)
    if file.read() != END:
        raise ValueError(f"{file.name} has more than {number:,} rows, or is cut short")
