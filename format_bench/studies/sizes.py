"""How large tables are in formats, side by side, and which order they put the formats into.

``python -m format_bench.studies.sizes eq core`` prints it in Markdown for named tables
of 1,000,000 rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import click

import data_formats
import data_generator
from adapter_core.errors import FormatBenchError

if TYPE_CHECKING:
    import pandas as pd


class Case(NamedTuple):
    """A format, and what compresses it."""

    label: str
    codec: str | None = None

    def __str__(self) -> str:
        return f"{self.label}, {self.codec}" if self.codec else self.label


CASES = (
    Case("CSV"),
    Case("Feather"),
    Case("Lance"),
    Case("ORC"),
    Case("Parquet"),
    Case("Parquet", "snappy"),
    Case("Parquet", "zstd"),
    Case("Vortex"),
)


def size_bytes(df: pd.DataFrame, case: Case) -> int | str:
    """Return the size of a table in a format, or a sentence that says why there is none."""
    try:
        adapter = data_formats.get(case.label)
        with TemporaryDirectory() as folder:
            path = Path(folder, f"table{adapter.suffix}")
            adapter.save(df, path, codec=case.codec)
            return adapter.size_bytes(path)
    except FormatBenchError as error:
        return str(error)


def sizes(df: pd.DataFrame, cases: Sequence[Case] = CASES) -> dict[Case, int | str]:
    """Return the size of a table in each case; see `size_bytes`."""
    return {case: size_bytes(df, case) for case in cases}


def places(found: dict[Case, int | str]) -> dict[Case, int]:
    """Return the place of each case that has a size, from 1, the smallest first."""
    order = sorted((size, case) for case, size in found.items() if isinstance(size, int))
    return {case: place for place, (_, case) in enumerate(order, 1)}


def page(names: Sequence[str], rows: int | None = None) -> Iterator[str]:
    """Yield a table in Markdown: megabytes of named tables in each format, and the format's place."""
    found = {name: sizes(data_generator.table(name, rows).df) for name in names}
    order = {name: places(each) for name, each in found.items()}
    yield f"| format | {' | '.join(f'{name}, MB | place' for name in names)} |"
    yield f"| --- {'| ---: | ---: ' * len(names)}|"
    for case in CASES:
        cells = []
        for name in names:
            size = found[name][case]
            cells += [
                f"{size / 1e6:.1f}" if isinstance(size, int) else size,
                f"{order[name].get(case, '')}",
            ]
        yield f"| {case} | {' | '.join(cells)} |"


if __name__ == "__main__":
    click.echo("\n".join(page(sys.argv[1:])))
