"""Study of published findings on array stores: confirmed or not by measured results.

S. Gardoll (Institut Pierre-Simon Laplace, 2023) compared NumPy files, HDF5, Zarr in a directory and in a
ZIP archive, and tar, each with 7 codecs and the codecs of Blosc, on 8.27 GB of ERA5 in chunks of
3 x 560 x 1440 float32, with caches evicted before each read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

from adapter_core.errors import InvalidResultsError
from format_bench.display.markdown import table_lines
from format_bench.display.text import format_ratio, joined, plural, quantity
from format_bench.results.load import Results, load
from format_bench.results.metrics import Measure

STORES = {
    "NPY": "NumPy",
    "NPY.tar": "tar",
    "HDF5": "HDF5",
    "Zarr.dir": "Zarr in a directory",
    "Zarr.zip": "Zarr in a ZIP archive",
}
"""Labels of the compared stores, and their names in the study."""

SAVE = Measure("save time")
READ = Measure("read time", "cold")
RANDOM = Measure("random read time per chunk", "cold")
SIZE = Measure("size")
COLUMNS = {
    "save": SAVE,
    "read in order": READ,
    "random chunk": RANDOM,
    "partitions": Measure("partition read time per chunk", "cold"),
    "random partitions": Measure("random partition read time per chunk", "cold"),
    "size": SIZE,
}

# Beyond this ratio two times count as different: the study repeated what spread by more than 5 %.
MARGIN = 1.1

# A codec is unsuitable for training if reading takes so many times as long as without it.
UNSUITABLE = 3.0

NO_CODEC = "none"

# HDF5 has a name of its own for the codec.
_ALIASES = {"bzip2": "bz2"}

Cells = dict[tuple[str, str], dict[Measure, float]]
"""Values per chunk by store and codec."""

# Measures of the whole array, which are divided by the number of its chunks.
_TOTALS = (SAVE, READ, SIZE)


class Verdict(NamedTuple):
    """Answer of the results to a finding."""

    confirmed: bool | None
    """None if the results lack a value that it needs."""
    numbers: str

    def __str__(self) -> str:
        return {True: "confirmed", False: "not confirmed", None: "not measured"}[self.confirmed]


def cells_of(results: Results, dataset: str) -> Cells:
    """Return the values per chunk of the compared stores on a data set.

    Slow codecs may be measured on fewer chunks; of several numbers of them the largest counts.
    """
    found: Cells = {}
    for record in sorted(results.records, key=lambda each: each.rows):
        if record.dataset == dataset and record.format in STORES and record.value is not None:
            measure = Measure.of(record)
            chunks = record.rows if measure in _TOTALS else 1
            key = record.format, _ALIASES.get(record.codec or NO_CODEC, record.codec or NO_CODEC)
            found.setdefault(key, {})[measure] = record.value / chunks
    return found


def _value(cells: Cells, store: str, codec: str, measure: Measure) -> float:
    try:
        return cells[store, codec][measure]
    except KeyError:
        raise LookupError(f"{store} with {codec} has no {measure.phrase}") from None


def _blosc_is_faster(cells: Cells) -> Verdict:
    words, verdicts = [], []
    for measure in (READ, RANDOM):
        plain = _value(cells, "NPY", NO_CODEC, measure)
        blosc = {
            codec: values[measure]
            for (store, codec), values in cells.items()
            if store == "NPY" and codec.startswith("blosc:") and measure in values
        }
        if not blosc:
            raise LookupError("NPY has no codec of Blosc")
        best = min(blosc, key=blosc.__getitem__)
        verdicts.append(blosc[best] < plain)
        words.append(
            f"{measure.phrase} {quantity(blosc[best], 'seconds')} with {best}, "
            f"{quantity(plain, 'seconds')} without a codec"
        )
    return Verdict(all(verdicts), "; ".join(words))


def _best_codec(cells: Cells, expected: str, measures: tuple[Measure, ...]) -> Verdict:
    """Judge by the geometric mean of the measures, each relative to no codec, over the stores."""
    codecs = sorted({codec for _, codec in cells})
    means = {}
    for codec in codecs:
        ratios = [
            values[measure] / _value(cells, store, NO_CODEC, measure)
            for (store, own), values in cells.items()
            if own == codec
            for measure in measures
            if measure in values
        ]
        if ratios:
            means[codec] = math.exp(sum(map(math.log, ratios)) / len(ratios))
    if expected not in means:
        raise LookupError(f"no store has {expected}")
    order = sorted(means, key=means.__getitem__)
    shown = ", ".join(f"{codec} {format_ratio(means[codec])}" for codec in order[:4])
    names = joined([each.phrase for each in measures])
    numbers = f"geometric means of {names}, relative to no codec: {shown}"
    return Verdict(means[expected] <= MARGIN * means[order[0]], numbers)


def _random_order(cells: Cells) -> Verdict:
    stores = ["NPY", "Zarr.dir", "Zarr.zip", "HDF5"]
    times = [_value(cells, store, NO_CODEC, RANDOM) for store in stores]
    npy, folder, archive, hdf5 = times
    confirmed = npy < folder < archive and 1 / MARGIN <= archive / hdf5 <= MARGIN
    shown = ", ".join(
        f"{store} {quantity(time, 'seconds')}" for store, time in zip(stores, times, strict=True)
    )
    return Verdict(confirmed, shown)


def _unsuitable(cells: Cells) -> Verdict:
    words, verdicts = [], []
    for codec in ("lzma", "bz2"):
        read = _value(cells, "NPY", codec, READ) / _value(cells, "NPY", NO_CODEC, READ)
        save = _value(cells, "NPY", codec, SAVE) / _value(cells, "NPY", NO_CODEC, SAVE)
        verdicts.append(read > UNSUITABLE)
        words.append(
            f"NPY with {codec} reads {format_ratio(read)} and saves {format_ratio(save)} "
            "times as long as without a codec"
        )
    return Verdict(all(verdicts), "; ".join(words))


def _large_buffers(_: Cells) -> Verdict:
    """Try to compress a buffer of 2 GiB with Blosc."""
    import numcodecs
    import numpy as np

    values = np.zeros(2**31, np.uint8)
    try:
        numcodecs.Blosc("lz4", 1, 1).encode(values)
    except ValueError as error:
        return Verdict(confirmed=True, numbers=f"Blosc refuses 2 GiB: {error}")
    return Verdict(confirmed=False, numbers="Blosc compresses a buffer of 2 GiB")


FINDINGS: dict[str, Callable[[Cells], Verdict]] = {
    "Blosc reads faster than uncompressed NumPy, in order and at random": _blosc_is_faster,
    "LZ4 in Blosc is the best compromise": lambda cells: _best_codec(
        cells, "blosc:lz4", (SAVE, READ, RANDOM, SIZE)
    ),
    "LZ4HC in Blosc is the best if writing does not count": lambda cells: _best_codec(
        cells, "blosc:lz4hc", (READ, RANDOM, SIZE)
    ),
    "Random chunks: NumPy is faster than Zarr in a directory, which is faster than Zarr in a ZIP "
    "archive and HDF5": _random_order,
    "LZMA and bzip2 are unsuitable": _unsuitable,
    "Buffers of over 2 GB are impossible": _large_buffers,
}


def page(results: Results, dataset: str) -> str:
    """Return the page in Markdown.

    Raises
    ------
    InvalidResultsError
        If the results have no value of the compared stores on the data set.
    """
    cells = cells_of(results, dataset)
    if not cells:
        raise InvalidResultsError(f"{results.name} has no values of {joined(STORES)} on {dataset}")
    return "\n".join([*_head(results, dataset), *_findings(cells), *_table(cells)]) + "\n"


def _head(results: Results, dataset: str) -> Iterator[str]:
    chunks = sorted({each.rows for each in results.records if each.dataset == dataset})
    yield "# Published findings on array stores\n"
    yield (
        "S. Gardoll (Institut Pierre-Simon Laplace, 2023) compared five ways to keep 8.27 GB of ERA5,\n"
        "in 896 chunks of 3 x 560 x 1440 32-bit floats, for deep learning. Caches were evicted before\n"
        "each read. These are the study's findings, with the same stores through today's libraries, on "
        f"`{dataset}`, {joined([plural(each, 'chunk') for each in chunks])}.\n"
        "Made by `format-bench study ipsl`.\n"
    )


def _findings(cells: Cells) -> Iterator[str]:
    rows = []
    for finding, judge in FINDINGS.items():
        try:
            verdict = judge(cells)
        except LookupError as error:
            verdict = Verdict(None, str(error))
        rows.append([finding, f"**{verdict}**", verdict.numbers])
    yield from table_lines(["published finding", "here", "numbers"], rows, alignment="lll")


def _table(cells: Cells) -> Iterator[str]:
    yield "\n## Values\n"
    yield "All values are per chunk; reads are cold.\n"
    ordered = sorted(cells, key=lambda key: (list(STORES).index(key[0]), key[1] != NO_CODEC, key[1]))
    rows = [
        [
            store,
            codec,
            *(
                quantity(cells[store, codec][each], each.unit) if each in cells[store, codec] else "-"
                for each in COLUMNS.values()
            ),
        ]
        for store, codec in ordered
    ]
    yield from table_lines(["store", "codec", *COLUMNS], rows, alignment="ll" + "r" * len(COLUMNS))


@click.command
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--dataset", default="era5-like", show_default=True, help="The data set to judge by.")
def command(results: Path, dataset: str) -> None:
    """Judge published findings on array stores.

    RESULTS is a folder or file of results of the suite `chunks` with cold reads. Prints a Markdown page.

    \b
    Example:
      format-bench run --suite chunks --datasets era5-like --rows 896 --cold --out reports/ipsl \\
          --formats NPY,NPY.tar,HDF5,Zarr.dir,Zarr.zip --codecs none,blosc:lz4,blosc:lz4hc,bz2,lzma
      format-bench study ipsl reports/ipsl > docs/ipsl.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(page(load(results), dataset), nl=False)
