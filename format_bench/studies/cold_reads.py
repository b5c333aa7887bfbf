"""Study of cold reads beside warm ones, and of the share of a file that a projection reads.

Before a cold read no page of the file is in the page cache, as mincore(2) proves. The bytes read are
those of the pages present afterwards, the kernel's read-ahead included.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

import data_formats
from adapter_core import Feature
from data_generator.random_words import RandomWords
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.clock import repeat
from format_bench.instruments.touch import touch

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = 26
WANTED = ("c03", "c17")
"""The columns of a projection; far apart, so that no read-ahead of one brings in the other."""


@dataclass(frozen=True)
class Reads:
    """Warm and cold reads of one file; seconds are medians of wall time."""

    warm_seconds: float
    cold_seconds: float
    resident_before: float
    """Share of the file's pages in the page cache before a cold read; 0, or it would not be cold."""
    resident_after: float
    projected_share: float | None
    """Share brought in by a cold read of two columns of 26; None without column projection."""


def equal_columns(rows: int) -> pd.DataFrame:
    """Return 26 columns of random floats, shape (rows, 26), named c00 to c25."""
    import pandas as pd

    names = [f"c{i:02}" for i in range(COLUMNS)]
    return pd.DataFrame({name: RandomWords("cold", name).uniform(rows) for name in names})


def save(label: str, rows: int, path: Path) -> None:
    """Save the table of `equal_columns`."""
    data_formats.get(label).save(equal_columns(rows), path)


def reads(label: str, path: Path, budget_seconds: float) -> Reads:
    """Read a file of `save` warm and cold, and two of its columns cold.

    Raises
    ------
    NotColdError
        If the file cannot be proven out of the page cache.
    """
    adapter = data_formats.get(label)
    touch(adapter.read(path))
    before: list[float] = []

    def evict() -> None:
        page_cache.make_cold(path)
        before.append(page_cache.resident_share(path))

    warm = repeat(lambda: touch(adapter.read(path)), budget_seconds)
    cold = repeat(lambda: touch(adapter.read(path)), budget_seconds, before=evict)
    after = page_cache.resident_share(path)
    projected = None
    if Feature.COLUMNS in adapter.supports:
        evict()
        touch(adapter.read(path, columns=WANTED))
        projected = page_cache.resident_share(path)
    return Reads(warm.wall_seconds, cold.wall_seconds, statistics.fmean(before), after, projected)


@click.command
@click.argument("labels", nargs=-1, metavar="[FORMAT]...")
@click.option("--rows", default=1_000_000, show_default=True, help="Rows of the table.")
@click.option(
    "--scratch",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder for the files, on a disk; files on tmpfs cannot be evicted from memory.",
)
def command(labels: tuple[str, ...], rows: int, scratch: Path | None) -> None:
    """Compare cold reads with warm ones.

    The table has 26 columns of random floats. FORMATs are by default CSV and the usual formats that can
    read single columns. Printed are the median times of a warm and a cold read, and the share of the
    file in the page cache before and after a cold read, and after a cold read of 2 of the 26 columns.

    \b
    Examples:
      format-bench study cold-reads
      format-bench study cold-reads Parquet Feather --rows 200000 --scratch /mnt/disk
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(f"{'format':14}{'warm':>10}{'cold':>10}{'before':>10}{'after':>10}{'2 of 26':>10}")
    for label in labels or ("CSV", "Parquet", "Feather", "ORC", "Lance", "HDF5.table"):
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            path = Path(folder, "table")
            outcome = isolation.run(save, label, rows, path, limit_seconds=1800)
            if not outcome.status:
                outcome = isolation.run(reads, label, path, 2.0, limit_seconds=1800)
        click.echo(f"{label:14}{outcome.sentence if outcome.status else _row(outcome.value)}")


def _row(found: Reads) -> str:
    projected = "-" if found.projected_share is None else f"{found.projected_share:.1%}"
    seconds = f"{found.warm_seconds:8.3f} s{found.cold_seconds:8.3f} s"
    return f"{seconds}{found.resident_before:10.1%}{found.resident_after:10.1%}{projected:>10}"
