"""Overhead of adapters: ``python -m tools.overhead [LABEL...] [--family FAMILY]``.

The calls that benchmarks time take turns, in one process, with calls of the same library alone that do
the same work (`tools.plain_pairs`): the code to paste, as ``format-bench show LABEL --code`` prints it.

Prints the ratio of the CPU times (user and system) of each pair of calls. Exits with 1 if a ratio is
above 1.05, beyond the noise of its pairs, and has no declared cause.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from format_bench.families.operations import registry_of
from format_bench.instruments import isolation
from format_bench.instruments.clock import time_call
from format_bench.instruments.intervals import Interval, median_interval
from format_bench.results.display.markdown import table_lines
from format_bench.results.suites import FAMILIES
from tools.plain_pairs import PAIRS_OF, Pair

LIMIT = 1.05
"""Largest ratio that needs no cause."""

_UNLIMITED = "h5netcdf looks for the length of an unlimited dimension at each selection"
_OPENING = "opening also finds the variable and the names of dimensions, in half a millisecond"
_PARTS = "images are in lists with their places, so that one is read without the others"
_STREAM = "images are written batch by batch as they come, so that a set need not fit in memory"
_OBJECTS = "its objects are of a class, and those of the plain calls dictionaries"

CAUSES: Mapping[str, str] = {
    "arrays: HDF5 read": _OPENING,
    "arrays: HDF5 read whole": _OPENING,
    "arrays: NetCDF4[h5netcdf] read": _UNLIMITED,
    "arrays: NetCDF4[h5netcdf] read whole": _UNLIMITED,
    "images: Feather save": _STREAM,
    "images: HDF5 save": _STREAM,
    "images: Pickle save": _PARTS,
    "images: Pickle read": _PARTS,
    "records: Pickle save": _OBJECTS,
    "records: Pickle read": _OBJECTS,
    "tables: Parquet[polars] save": "it also writes the pandas metadata, which bring dtypes back",
    "tables: Zarr read": "it looks for every chunk, since zarr-python reads missing ones as zeros",
}
"""Causes of ratios above the limit, by family, label and step."""

PAIRS = 12

# Fewer do not bound a median with 95 %.
LEAST_PAIRS = 6

LIMIT_SECONDS = 900


@dataclass(frozen=True)
class Overhead:
    """CPU seconds of both calls of a pair, in the order taken."""

    family: str
    label: str
    data: str
    step: str
    ours: Sequence[float]
    plain: Sequence[float]
    differs: str = ""

    @property
    def ratio(self) -> Interval:
        """Interval of the median ratio."""
        return median_interval(self.ratios)

    @property
    def ratios(self) -> list[float]:
        return [one / other for one, other in zip(self.ours, self.plain, strict=True)]

    @property
    def cause(self) -> str:
        return CAUSES.get(f"{self.family}: {self.label} {self.step}", "")

    @property
    def is_over(self) -> bool:
        """Whether the ratio is above the limit, beyond the noise, and nobody has said why."""
        return self.ratio.low > LIMIT and not self.cause

    @property
    def cells(self) -> list[str]:
        remarks = [self.cause if self.ratio.low > LIMIT else "", self.differs]
        return [
            *(self.label, self.data, self.step),
            *(f"{1_000 * statistics.median(each):.2f}" for each in (self.ours, self.plain)),
            f"{statistics.median(self.ratios):.2f}",
            f"{self.ratio.low:.2f} to {self.ratio.high:.2f}",
            "; ".join(filter(None, remarks)).replace("|", "\\|"),
        ]


HEADER = ["adapter", "data", "step", "adapter ms", "plain ms", "ratio", "interval", "remark"]


def compared(family: str, label: str, pair: Pair, pairs: int, seconds: float) -> Overhead:
    """Call both sides of a pair in turn.

    Parameters
    ----------
    family, label : str
        The adapter.
    pair : Pair
        Both calls.
    pairs : int
        Number of comparisons.
    seconds : float
        Wall time after which six comparisons are enough.
    """
    pair.prepare()
    differs = pair.differs(pair.ours(), pair.plain())
    samples: tuple[list[float], list[float]] = ([], [])
    start = time.monotonic()
    for turn in range(pairs):
        if turn >= LEAST_PAIRS and time.monotonic() - start > seconds:
            break
        pair.prepare()
        # The first caller pays for memory that the second one reuses, hence the alternation.
        for caller in (turn % 2, 1 - turn % 2):
            samples[caller].append(time_call((pair.ours, pair.plain)[caller]).cpu_seconds)
    return Overhead(family, label, pair.data, pair.step, *samples, differs)


def measure(family: str, label: str, size: int, pairs: int, seconds: float) -> Iterator[Overhead]:
    """Compare an adapter, for `isolation.run`."""
    yield from measured(family, registry_of(FAMILIES[family]).get(label), size, pairs, seconds)


def measured(family: str, adapter: Any, size: int, pairs: int, seconds: float) -> Iterator[Overhead]:
    """Yield the comparisons of an adapter; none if there is nothing to compare with."""
    with tempfile.TemporaryDirectory() as folder:
        for pair in PAIRS_OF[family](adapter, size, Path(folder)):
            yield compared(family, adapter.label, pair, pairs, seconds)


def report(found: Sequence[Overhead], without: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the table, sorted by ratio, and the adapters that are not in it."""
    ordered = sorted(found, key=lambda each: -statistics.median(each.ratios))
    yield from table_lines(HEADER, [each.cells for each in ordered])
    yield ""
    within = sum(each.ratio.low <= LIMIT for each in found)
    over = sum(each.is_over for each in found)
    yield f"{len(found)} compared; {within} up to {LIMIT}, or within noise; {over} above without a cause"
    for label, reason in without.items():
        yield f"- {label}: {reason}"


@click.command()
@click.argument("labels", nargs=-1, metavar="[LABEL]...")
@click.option("--family", "families", type=click.Choice(list(PAIRS_OF)), multiple=True)
@click.option("--rows", default=100_000, show_default=True, help="Rows; other data in proportion.")
@click.option("--pairs", default=PAIRS, show_default=True, help="Comparisons of each call.")
@click.option("--seconds", default=10.0, show_default=True, help="Time after which six are enough.")
def main(
    labels: tuple[str, ...], families: tuple[str, ...], rows: int, pairs: int, seconds: float
) -> None:
    """Compare adapters with plain calls of their libraries."""
    found: list[Overhead] = []
    without: dict[str, str] = {}
    for family in families or PAIRS_OF:
        registry = registry_of(FAMILIES[family])
        for label in registry.names():
            if labels and label not in labels:
                continue
            arguments = family, label, rows, pairs, seconds
            outcome = isolation.run(measure, *arguments, limit_seconds=LIMIT_SECONDS)
            found += outcome.yielded
            if outcome.status or not outcome.yielded:
                reason = registry.find(label).snippet
                plain = f"no plain call: {reason}" if isinstance(reason, str) else "no plain call"
                without[f"{label} ({family})"] = outcome.sentence or plain
            medians = (f"{each.step} {statistics.median(each.ratios):.2f}" for each in outcome.yielded)
            line = ", ".join([*medians, *filter(None, [outcome.sentence])])
            click.echo(f"{family} {label}: {line}", err=True)
    for line in report(found, without):
        click.echo(line)
    sys.exit(any(each.is_over for each in found))


if __name__ == "__main__":
    main()
