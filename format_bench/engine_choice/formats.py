"""The engines of each format, compared with each other alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from format_bench.report.model import Family, families
from format_bench.results.load import Results, family_of

if TYPE_CHECKING:
    from format_bench.results.records import Record

SUITES = ("tabular", "engines")
"""Both measure tables alike, on tables of the same name, number and seed."""

_AFTER_NAME = re.compile(r"[.\[]")
"""Begins what a label says beyond the format: the engine, or the layout, as in HDF5.table."""

_FEWEST = 2


def format_of(label: str) -> str:
    """Return the format that a label names, as in "CSV" of "CSV[polars]"."""
    return _AFTER_NAME.split(label, maxsplit=1)[0]


def by_format(results: Results) -> Iterator[Family]:
    """Yield a family for each format of which at least two engines have values on some data set.

    Records with a codec are left out: codecs are compared elsewhere.
    """
    found: dict[str, list[Record]] = {}
    for record in results.records:
        if family_of(record) in SUITES and record.codec is None:
            one_suite = replace(record, suite=SUITES[0])
            found.setdefault(format_of(record.format), []).append(one_suite)
    for name in sorted(found, key=str.casefold):
        for family in families(replace(results, records=found[name])):
            groups = [group for group in family.groups if len(group.entries) >= _FEWEST]
            if groups:
                yield Family(name, groups)
