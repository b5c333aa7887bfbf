"""N. Ommer's published tables of records as records: 10,000,000 entities in formats of the JVM.

N. Ommer (QAware, 2021). The tables are the CSV files beside this module; each value is one number
without repeats. Sizes and heaps are published in MB, and are MiB: Protobuf's 955.0142479 are exactly the
1,001,405,020 bytes that the published program writes. A label names the published program's own way
where the project has it, marked `seed`, except for SQLite: its columns lose data, so that way has no
values here. Parquet and Avro were each written once, and read as records of two kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from format_bench.results.published.figures import figure, rows_of
from format_bench.results.records import Record

SUITE, DATASET, ROWS, FIELDS = "records", "entities-seed", 10_000_000, 10

# The tables give MiB, records bytes.
MIB = 1_048_576

WRITTEN = {
    "parquet": "Parquet.specific[jvm]",
    "avro": "Avro.specific[jvm]",
    "proto": "Protobuf[jvm-seed]",
    "sqlite": "SQLite[jvm]",
    "json": "JSON.yasson[jvm-seed]",
    "kryo": "Kryo[jvm-seed]",
    "microStream": "MicroStream[jvm-seed]",
}
"""Labels by the names of the published table of writing."""

READ = WRITTEN | {
    "group.parquet": "Parquet.group[jvm]",
    "gen.parquet": "Parquet.specific[jvm]",
    "avro": "Avro.generic[jvm]",
    "gen.avro": "Avro.specific[jvm]",
}
"""Labels by the names of the published table of reading."""

SENTENCE = "published by N. Ommer (QAware, 2021); one value"


def records() -> list[Record]:
    """Return a record for each figure: times of saves and reads, sizes, heaps of the records read."""
    return [replace(each, sentence=SENTENCE, run_id="qaware") for each in (*_written(), *_read())]


def _written() -> Iterator[Record]:
    for row in rows_of("qaware_write"):
        yield _figure(WRITTEN, row["format"], "save time", row["write_time_s"])
        yield _figure(WRITTEN, row["format"], "size", row["file_size_MiB"], MIB)


def _read() -> Iterator[Record]:
    for row in rows_of("qaware_read"):
        yield _figure(READ, row["format"], "read time", row["read_time_s"])
        yield _figure(READ, row["format"], "held memory", row["heap_MiB"], MIB)


def _figure(labels: dict[str, str], name: str, metric: str, text: str, unit: int = 1) -> Record:
    return figure(
        SUITE,
        labels[name.removesuffix(".gzip")],
        DATASET,
        (ROWS, FIELDS),
        metric,
        float(text) * unit,
        # Half of the last digit printed.
        rounding=unit * 10.0 ** -len(text.partition(".")[2]) / 2,
        codec="gzip" if name.endswith(".gzip") else None,
    )
