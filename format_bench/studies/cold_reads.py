"""Study of cold reads beside warm ones, and of the share of a file that a projection reads.

Before a cold read no page of the file is in the page cache, as mincore(2) proves. The bytes read are
the bytes of the pages present afterwards, the kernel's read-ahead included.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

import data_formats
from adapter_core import DataFormat, Feature
from data_generator.random_words import RandomWords
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.clock import Repeats
from format_bench.instruments.touch import touch

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = 26

# Far apart: read-ahead of one must not bring in the other.
PROJECTION = ("c03", "c17")


@dataclass(frozen=True)
class Reads:
    """Warm and cold reads of one file; seconds are medians of wall time."""

    warm_seconds: float
    cold_seconds: float
    resident_before: float
    """Share of the file's pages in the page cache before a cold read: 0."""
    resident_after: float
    """Share of the file's pages in the page cache after a cold read."""
    projected_share: float | None
    """Share of the pages after a cold read of 2 of 26 columns; None without column projection."""


def equal_columns(rows: int) -> pd.DataFrame:
    """Return 26 columns of random floats, shape (rows, 26), named c00 to c25."""
    import pandas as pd

    names = [f"c{i:02}" for i in range(COLUMNS)]
    return pd.DataFrame({name: RandomWords("cold", name).uniform(rows) for name in names})


def save(label: str, rows: int, path: Path) -> None:
    """Save the table of `equal_columns`."""
    data_formats.get(label).save(equal_columns(rows), path)


def reads(label: str, path: Path, budget_seconds: float) -> Reads:
    """Read a file that `save` has written warm and cold, and two of its columns cold.

    Raises
    ------
    NotColdError
        If the file cannot be evicted from the page cache, or that cannot be proven.
    """
    adapter = data_formats.get(label)
    touch(adapter.read(path))
    warm, cold = Repeats(budget_seconds), Repeats(budget_seconds)
    for stopwatch in warm:
        with stopwatch:
            df = touch(adapter.read(path))
        # Not in the clock; and below, the pages of a file that is still mapped cannot be evicted.
        del df
    shares_before = []
    for stopwatch in cold:
        page_cache.make_cold(path)
        shares_before.append(page_cache.resident_share(path))
        with stopwatch:
            df = touch(adapter.read(path))
        del df
    share_after = page_cache.resident_share(path)
    return Reads(
        warm.wall_seconds,
        cold.wall_seconds,
        statistics.fmean(shares_before),
        share_after,
        _projected_share(adapter, path),
    )


def _projected_share(adapter: DataFormat, path: Path) -> float | None:
    """Return the share of a file that a cold read of `PROJECTION` reads."""
    if Feature.COLUMNS not in adapter.supports:
        return None
    page_cache.make_cold(path)
    touch(adapter.read(path, columns=PROJECTION))
    return page_cache.resident_share(path)


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
            # Apart from the reads: a process that still maps the file would keep its pages in memory.
            outcome = isolation.run(save, label, rows, path, limit_seconds=1800)
            if not outcome.status:
                outcome = isolation.run(reads, label, path, 2.0, limit_seconds=1800)
        click.echo(f"{label:14}{outcome.sentence if outcome.status else _row(outcome.value)}")


def _row(found: Reads) -> str:
    projected = "-" if found.projected_share is None else f"{found.projected_share:.1%}"
    seconds = f"{found.warm_seconds:8.3f} s{found.cold_seconds:8.3f} s"
    return f"{seconds}{found.resident_before:10.1%}{found.resident_after:10.1%}{projected:>10}"
