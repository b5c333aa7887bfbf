"""The thesis whose questions this project takes up, as records.

M. Tarageľ: Column-oriented and Image Data Format Benchmarks, bachelor's thesis, listed in the National
Repository of Grey Literature, https://invenio.nusl.cz. Its tables are the CSV files beside this module.

A megabyte is 1,000,000 bytes and the synthetic tables have 1,000,000 rows: so the sizes of its pickles
follow from the columns, 8 bytes a number, 1 a boolean and 13 a text of 10 letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from format_bench.results.metrics import METRICS
from format_bench.results.published.figures import figure, rows_of
from format_bench.results.records import Record

# Rows and columns of each data set.
SHAPES = {
    **dict.fromkeys(("eq", "int", "float", "bool", "str"), (1_000_000, 8)),
    "webface": (10_000_000, 33),
    # Images, and what a set of them keeps besides: pixels and labels.
    "CIFAR-10": (50_000, 2),
    "ImageNet-100": (126_689, 2),
}

MEGABYTE = 1_000_000

SENTENCE = "published in M. Tarageľ, Column-oriented and Image Data Format Benchmarks; one sample"
DERIVED = f"{SENTENCE}, combined from two tables: the value without compression and what a codec changes"

_METRICS = {
    "save_time": "save time",
    "read_time": "read time",
    "total_size": "size",
    # Two megabytes are no peak of a whole process, so these are growths.
    "save_peak_memory": "save memory",
    "read_peak_memory": "read memory",
}

# Nothing evicts a file between the save and the read.
_WARM = ("read time", "read memory")

# As in the compression suite.
_LEVELS = {"lz4": None, "zstd": 1}


def records() -> list[Record]:
    """Return a record for each figure: tables, compression, images."""
    plain = _plain()
    tabular = [_figure("tabular", *cell, value) for cell, value in plain.items()]
    found = [*tabular, *_compression(plain), *_image()]
    return [replace(each, sentence=each.sentence or SENTENCE, run_id="thesis") for each in found]


def _plain() -> dict[tuple[str, str, str], float]:
    """Return the value of each format, data set and metric without compression."""
    found = {}
    for row in rows_of("thesis_tabular"):
        metric = _METRICS[row["metric"]]
        scale = MEGABYTE if METRICS[metric].unit == "bytes" else 1
        found[row["format"], row["dataset"], metric] = scale * float(row["value"])
    return found


def _compression(plain: dict[tuple[str, str, str], float]) -> Iterator[Record]:
    """Yield the values without codecs, and then with codecs, published as changes of the former."""
    rows = rows_of("thesis_compression")
    metrics = ("save time", "read time", "size")
    for cell in dict.fromkeys((row["format"], row["dataset"]) for row in rows):
        for metric in metrics:
            yield _figure("compression", *cell, metric, plain[*cell, metric])
    for row in rows:
        cell = row["format"], row["dataset"]
        save, read, size = (plain[*cell, metric] for metric in metrics)
        values = {
            "save time": save + float(row["save_time_delta_s"]),
            "read time": read + float(row["read_time_delta_s"]),
            "size": size * float(row["compression_ratio"]),
        }
        codec, level = row["codec"], _LEVELS[row["codec"]]
        for metric, value in values.items():
            record = _figure("compression", *cell, metric, value)
            yield replace(record, codec=codec, level=level, repeats=[], interval=None, sentence=DERIVED)


def _image() -> Iterator[Record]:
    columns = {"save time": "save_time_s", "read time": "read_time_s", "size": "total_size_MB"}
    for row in rows_of("thesis_image"):
        for metric, column in columns.items():
            value = float(row[column]) * (MEGABYTE if metric == "size" else 1)
            yield _figure("image", row["storage"], row["dataset"], metric, value)


def _figure(suite: str, label: str, dataset: str, metric: str, value: float) -> Record:
    # Sizes are rounded to 1 MB, from 1 GB on to 100 MB.
    rounding = (MEGABYTE if value < 1000 * MEGABYTE else 100 * MEGABYTE) / 2
    found = figure(suite, label, dataset, SHAPES[dataset], metric, value, rounding=rounding)
    return replace(found, conditions={"threads": "all", "cache": "warm"}) if metric in _WARM else found
