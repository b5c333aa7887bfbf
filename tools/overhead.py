"""Overhead of adapters: ``python -m tools.overhead [LABEL...] [--family FAMILY] [--out FILE]``.

The calls that benchmarks time take turns, in one process, with calls of the same library alone that do
the same work (`tools.plain_pairs`): the code to paste, as ``format-bench show LABEL --code`` prints it.

Prints the ratio of the CPU times (user and system) of each pair of calls. Exits with 1 if a ratio is
above 1.05, beyond the noise of its pairs, and has no declared cause. With `--out`, each adapter's times
are appended to a file as soon as they are known, and a later call measures the others: all adapters take
a quarter of an hour. `--page` prints the table as a page for docs.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from format_bench.families.operations import registry_of
from format_bench.instruments import isolation
from format_bench.instruments.clock import time_call
from format_bench.instruments.intervals import Interval, median_interval
from format_bench.metadata import machine
from format_bench.results.display.markdown import table_lines
from format_bench.results.suites import FAMILIES
from format_bench.studies.declared.blocks import circumstances
from tools.plain_pairs import PAIRS_OF, Pair

LIMIT = 1.05
"""Largest ratio that needs no cause."""

_UNLIMITED = "h5netcdf looks for the length of an unlimited dimension at each selection"
_OPENING = "opening also finds the variable and the names of dimensions, in half a millisecond"
_GROUP = "opening also reads the metadata of the group, which name the array, in half a millisecond"
_DESCRIBED = "opening also reads the description of the array, in a fifth of a millisecond"
_MOVED = "it also describes the array, and moves the file from another name: 0.2 milliseconds each"
_BY_CHUNKS = "it writes chunk by chunk, so that an array need not fit in memory, and xarray in one piece"
_CHUNKED = "its file has a part for each chunk, and the plain one is one piece"
_PIECES = "of a file that was written chunk by chunk; the library's own calls take longer on it, too"
_PARTS = "images are in lists with their places, so that one is read without the others"
_STREAM = "images are written batch by batch as they come, so that a set need not fit in memory"
_OBJECTS = "its objects are of a class, and those of the plain calls dictionaries"

CAUSES: Mapping[str, str] = {
    "arrays: Feather save": _MOVED,
    "arrays: FITS read whole": "the plain call maps the file, and leaves its values in big-endian order",
    "arrays: GeoTIFF read": _DESCRIBED,
    "arrays: GRIB2 save": "it looks for NaN, which GRIB cannot hold, and copies each message",
    "arrays: HDF5 read": _OPENING,
    "arrays: HDF5 read whole": _OPENING,
    "arrays: N5[tensorstore] read": _GROUP,
    "arrays: NetCDF4[h5netcdf] read": _UNLIMITED,
    "arrays: NetCDF4[h5netcdf] read whole": _UNLIMITED,
    "arrays: NetCDF4[xarray-h5netcdf] read whole": _UNLIMITED,
    "arrays: NetCDF4[xarray-h5netcdf] save": _BY_CHUNKS,
    "arrays: NetCDF4[xarray] save": _BY_CHUNKS,
    "arrays: NPY read": _DESCRIBED,
    "arrays: NPY.memmap read whole": _PIECES,
    "arrays: NPZ read whole": _CHUNKED,
    "arrays: safetensors read": _PIECES,
    "arrays: safetensors read whole": _PIECES,
    "arrays: TIFF read": _DESCRIBED,
    "arrays: TIFF read whole": _CHUNKED,
    "arrays: TIFF save": _MOVED,
    "arrays: Zarr.sharded[tensorstore] read": _GROUP,
    "arrays: Zarr.v2 read": _GROUP,
    "arrays: Zarr[tensorstore] read": _GROUP,
    "images: Feather save": _STREAM,
    "images: HDF5 save": _STREAM,
    "images: LMDB save": _STREAM,
    "images: NumPy read": "it looks for the folder, and names its files, in a tenth of a millisecond",
    "images: OpenEXR read": "its files are read in Python, and decoded in memory",
    "images: Pickle save": _PARTS,
    "images: Pickle read": _PARTS,
    "images: SQLite read": "a function makes each image, and the plain call all in one expression",
    "queries: Parquet[dask] join": "it leaves out rows without a key, and counts values beside a sum, "
    "since in SQL nulls match nothing, and a sum of no values is null",
    "records: Pickle save": _OBJECTS,
    "records: Pickle read": _OBJECTS,
    "tables: Avro[polars] save": "its columns pass through Arrow, where types that Avro lacks change",
    "tables: Blosc2 read": "one more array has the dtypes of pandas",
    "tables: Feather[polars] save": "tables with text or times pass through Arrow, which keeps types",
    "tables: HDF5[h5py] save": "it writes the dtypes of pandas, too, and moves the file",
    "tables: HDF5.rows[h5py] read": "an attribute has the dtypes of pandas: a quarter of a millisecond",
    "tables: IPC.stream save": "it moves the file from another name, in a fifth of a millisecond",
    "tables: Parquet[duckdb] save": "it also writes the pandas metadata, which bring dtypes back",
    "tables: Parquet[duckdb] read": "a second query reads the pandas metadata",
    "tables: Parquet[fastparquet] read": "texts become pandas' own type; fastparquet makes objects",
    "tables: Parquet[polars] read": "a second call reads the pandas metadata, which bring dtypes back",
    "tables: Parquet[polars] save": "it also writes the pandas metadata, which bring dtypes back",
    "tables: Pickle read": "it looks whether the file is compressed, in a tenth of a millisecond",
}
"""Causes of ratios above the limit, by family, label and step."""

PAIRS = 12

# Fewer do not bound a median with 95 %.
LEAST_PAIRS = 6

PROCESSES = 3
"""Processes that measure an adapter if a ratio of the first one would need a cause: memory and code lie
elsewhere in each, so that a process differs from the next by more than its own pairs show."""

LIMIT_SECONDS = 900

PAGE = """\
# Overhead of adapters

{circumstances}

A measured call of an adapter, and the plainest call of its library that does the same work (the code
to paste of `format-bench show LABEL --code`), take turns in one process, one for each adapter. The
ratio is that of their CPU times, user and system, with the interval of the median. Up to {limit} is the
aim; larger ratios have their cause beside them. An adapter with a larger ratio without a cause is
measured in {processes} processes, since these differ, too; the pairs of all count. Made by
`python -m tools.overhead --out FILE --page`.
"""


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
        """Whether the ratio is above the limit, beyond the noise, and without a documented cause."""
        return self.ratio.low > LIMIT and not self.cause

    def joined(self, other: Overhead) -> Overhead:
        """Return the pairs of both."""
        return replace(self, ours=[*self.ours, *other.ours], plain=[*self.plain, *other.plain])

    @property
    def cells(self) -> list[str]:
        remarks = [self.cause if self.ratio.low > LIMIT else "", self.differs]
        return [
            *(self.label, self.data, self.step),
            *(f"{1_000 * statistics.median(each):.2f}" for each in (self.ours, self.plain)),
            f"{statistics.median(self.ratios):.2f}",
            f"{self.ratio.low:.2f} to {self.ratio.high:.2f}",
            "; ".join(filter(None, remarks)),
        ]


HEADER = ["adapter", "data", "step", "adapter ms", "plain ms", "ratio", "interval", "remark"]
ALIGNMENT = "lllrrrrl"


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


@dataclass(frozen=True)
class Compared:
    """Comparisons of one adapter, a line of the file that `--out` names."""

    family: str
    label: str
    rows: int
    """Rows that were asked for."""
    machine: Mapping[str, Any]
    """Facts of the machine, times and load, named as in the metadata of a run."""
    found: Sequence[Overhead]
    sentence: str = ""
    """Why there are none, or not all."""
    failed: bool = False
    """Whether another try may find more."""
    processes: int = 1
    """Processes whose pairs these are."""

    @property
    def is_over(self) -> bool:
        """Whether a ratio would need a cause."""
        return any(each.is_over for each in self.found)

    @property
    def needs_more(self) -> bool:
        """Whether further processes shall measure it; once begun, they are not stopped by a result."""
        return (self.is_over or self.processes > 1) and self.processes < PROCESSES

    def joined(self, other: Compared) -> Compared:
        """Return the pairs of both, named as in the first; its own alone if the other lacks some."""
        found = self.found
        if [each.step for each in other.found] == [each.step for each in found]:
            # Their numbers of rows differ a little, as a pilot chose them.
            found = [one.joined(again) for one, again in zip(found, other.found, strict=True)]
        return replace(self, found=found, processes=self.processes + 1)


def report(compared: Sequence[Compared]) -> Iterator[str]:
    """Yield the lines of a family's table, sorted by ratio, and the adapters that are not in it."""
    found = [one for each in compared for one in each.found]
    ordered = sorted(found, key=lambda each: -statistics.median(each.ratios))
    yield from table_lines(HEADER, [each.cells for each in ordered], ALIGNMENT)
    yield ""
    within = sum(each.ratio.low <= LIMIT for each in found)
    over = sum(each.is_over for each in found)
    yield f"{len(found)} compared; {within} up to {LIMIT}, or within noise; {over} above without a cause"
    without: dict[str, list[str]] = {}
    for each in compared:
        if each.sentence:
            without.setdefault(each.sentence.removeprefix(f"{each.label} is "), []).append(each.label)
    yield from (f"- {', '.join(labels)}: {sentence}" for sentence, labels in without.items())


def compared_before(path: Path | None) -> list[Compared]:
    """Return the comparisons in a file but those that failed; none without it."""
    lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
    found = []
    for line in lines:
        try:
            facts = json.loads(line)
        except ValueError:
            continue  # cut off by an interruption
        overheads = [Overhead(**each) for each in facts.pop("found")]
        if not facts["failed"]:
            found.append(Compared(**facts, found=overheads))
    return found


def append(path: Path, compared: Compared) -> None:
    """Append comparisons to a file, on a line of their own also after one that was cut off."""
    with path.open("a+b") as file:
        is_cut = path.stat().st_size and path.read_bytes()[-1:] != b"\n"
        file.write(b"\n" * bool(is_cut) + json.dumps(asdict(compared)).encode() + b"\n")


def compare(family: str, label: str, rows: int, pairs: int, seconds: float) -> Compared:
    """Compare an adapter in a process of its own."""
    started, load = datetime.now(UTC).isoformat(), machine.load_average()
    outcome = isolation.run(measure, family, label, rows, pairs, seconds, limit_seconds=LIMIT_SECONDS)
    sentence = outcome.sentence
    if not sentence and not outcome.yielded:
        reason = registry_of(FAMILIES[family]).find(label).snippet
        sentence = f"no plain call: {reason}" if isinstance(reason, str) else "no plain call"
    facts = {
        "started": started,
        "system": machine.system(),
        "cpu": machine.cpu(),
        "memory": machine.memory(),
        "load_average": {"start": load, "end": machine.load_average()},
    }
    return Compared(family, label, rows, facts, outcome.yielded, sentence, bool(outcome.status))


@click.command()
@click.argument("labels", nargs=-1, metavar="[LABEL]...")
@click.option("--family", "families", type=click.Choice(list(PAIRS_OF)), multiple=True)
@click.option("--rows", default=100_000, show_default=True, help="Rows; other data in proportion.")
@click.option("--pairs", default=PAIRS, show_default=True, help="Comparisons of each call.")
@click.option("--seconds", default=10.0, show_default=True, help="Time after which six are enough.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="File that keeps the times."
)
@click.option("--page", is_flag=True, help="Print a page for docs.")
def main(  # noqa: PLR0913 (options)
    *,
    labels: tuple[str, ...],
    families: tuple[str, ...],
    rows: int,
    pairs: int,
    seconds: float,
    out: Path | None,
    page: bool,
) -> None:
    """Compare adapters with plain calls of their libraries."""
    known = {(each.family, each.label, each.rows): each for each in compared_before(out)}
    compared: list[Compared] = []
    for family in families or PAIRS_OF:
        for label in registry_of(FAMILIES[family]).names():
            if labels and label not in labels:
                continue
            each = known.get((family, label, rows))
            while each is None or each.needs_more:
                again = compare(family, label, rows, pairs, seconds)
                each = each.joined(again) if each else again
                if out:
                    append(out, each)
                medians = (f"{one.step} {statistics.median(one.ratios):.2f}" for one in each.found)
                line = ", ".join([*medians, *filter(None, [each.sentence])])
                click.echo(f"{family} {label}: {line}", err=True)
            compared.append(each)
    if page:
        sentence = circumstances([dict(each.machine) for each in compared])
        click.echo(PAGE.format(limit=LIMIT, processes=PROCESSES, circumstances=sentence))
    for family, group in groupby(compared, lambda each: each.family):
        click.echo(f"## {FAMILIES[family].title}\n" if page else f"{family}:")
        for line in report([*group]):
            click.echo(line)
        click.echo()
    sys.exit(any(each.is_over for each in compared))


if __name__ == "__main__":
    main()
