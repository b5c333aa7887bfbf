"""Which records are compared with each other: those of one data set, size and thread policy."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from format_bench.display.text import printable
from format_bench.report.cells import Entry, Measure, cell_of
from format_bench.report.groups import Family, Group, title_of
from format_bench.results.load import family_of

if TYPE_CHECKING:
    from format_bench.results.load import Results
    from format_bench.results.records import Record

Key = tuple[str, int, str]
"""Data set, rows, thread policy."""


def families(results: Results) -> list[Family]:
    """Return the families in the order in which they were measured."""
    found: dict[str, dict[Key, list[Record]]] = {}
    for record in results.records:
        key = (record.dataset, record.rows, record.threads)
        found.setdefault(family_of(record), {}).setdefault(key, []).append(record)
    datasets = Counter(dataset for keys in found.values() for dataset in {key[0] for key in keys})
    shared = {dataset for dataset, times in datasets.items() if times > 1}
    return [
        Family(name, _groups(by_key, shared, title_of(name).lower())) for name, by_key in found.items()
    ]


def _groups(by_key: dict[Key, list[Record]], shared: set[str], kind: str) -> list[Group]:
    return [
        Group(
            name=_name(key, list(by_key)) + (f", {kind}" if key[0] in shared else ""),
            dataset=printable(key[0]),
            rows=key[1],
            # A case that failed early may not know them.
            columns=max(record.columns for record in records),
            threads=key[2],
            cells={
                (
                    Entry(record.format, record.codec, record.level),
                    Measure(record.metric, record.cache),
                ): cell_of(record)
                for record in records
            },
        )
        for key, records in by_key.items()
    ]


def _name(key: Key, keys: list[Key]) -> str:
    dataset, rows, threads = key
    name = printable(dataset)
    if len({each[1] for each in keys if each[0] == dataset}) > 1:
        name += f", {rows:,} rows"
    if len({each[2] for each in keys}) > 1:
        name += ", 1 thread" if threads == "1" else ", all threads"
    return name
