"""Writer of files that query engines read, where it is not the format's usual adapter."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import data_formats
from format_bench.conditions.axis import Axis
from format_bench.families.cases import Case
from format_bench.families.operations import Operations, registry_of


class Writer(Axis):
    """Table format whose adapter writes the files of a query engine."""

    name = "writer"
    help = "Adapter that writes the files for query engines, e.g. Parquet[polars]."
    order = 22
    changes_adapter = True

    def values(self) -> Sequence[str]:
        """Return the labels of all table formats."""
        return data_formats.names()

    def parse(self, text: str) -> str:
        """Return the label of a table format."""
        return data_formats.find(text).label

    def why_not(self, value: str, case: Case) -> str:
        """Return why the adapter writes no files for the case."""
        if case.family.name != "queries":
            return f"the suite {case.suite} reads files by the adapter that wrote them"
        read = registry_of(case.family).find(case.format).format
        written = data_formats.find(value).suffix
        return "" if written == read.suffix else f"{value} writes {written}, which is no {read.label}"

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Let the format write, and check the file."""
        operations.unchecked = copy.copy(operations.unchecked)
        operations.unchecked.format = data_formats.get(value).without_check()
        yield
