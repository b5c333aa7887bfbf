"""Layout of the file that a table is written to, for the queries that it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adapter_core import TableLayout
from adapter_core.errors import InvalidRequestError, UnsupportedError
from format_bench.conditions.axis import Axis
from format_bench.families.cases import Case
from format_bench.families.operations import Operations, registry_of


class Layout(Axis):
    """Order of rows, row groups, pages, codec, encodings and indexes of the first table's file."""

    name = "layout"
    help = "Of files for query engines, as in sort_by=time;codec=zstd."
    order = 23  # after the writer, whose layout it is

    def parse(self, text: str) -> str:
        """Return the layout's text."""
        try:
            return str(TableLayout.parse(text))
        except ValueError as error:
            raise InvalidRequestError(f"{self.option} {text}: {error}") from error

    def why_not(self, value: str, case: Case) -> str:
        """Return why a format has no such layout."""
        if case.family.name != "queries":
            return f"layouts are of files for query engines, which the suite {case.suite} does not ask"
        try:
            registry_of(case.family).find(case.format).format.layout_options(TableLayout.parse(value))
        except UnsupportedError as error:
            return str(error)
        return ""

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Save in this layout."""
        operations.layout = TableLayout.parse(value)  # type: ignore[attr-defined]
        yield
