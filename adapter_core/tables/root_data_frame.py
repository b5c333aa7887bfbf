"""Sums and selections by RDataFrame, ROOT's declarative analysis: base class of its adapters."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import ColumnSums, Comparison, Predicate
from adapter_core.column_batches import needed_columns
from adapter_core.predicate import BOOLEANS, NUMBERS
from adapter_core.tables.array_format import DESCRIPTION
from adapter_core.tables.arrays import array_names_of_numbers
from adapter_core.tables.root_native import NativeRoot, cpp_condition, opened, root
from adapter_core.tables.root_uproot import TABLE

if TYPE_CHECKING:
    import numpy as np


class RDataFrameQueries(NativeRoot):
    """A table of a ROOT file that is analysed by one event loop of RDataFrame.

    Conditions are text, which ROOT compiles. The first call of a process compiles for some seconds;
    later ones with the same columns use the code again. RDataFrame uses a thread for each CPU that the
    process may use, and then the order of rows, and of additions, changes from run to run.

    https://root.cern/doc/master/classROOT_1_1RDataFrame.html
    """

    language = "c++"

    def _read_arrays(
        self, path: Path, columns: list[str], where: Predicate | None
    ) -> dict[str, np.ndarray]:
        with _opened_frame(path, columns, where) as (frame, names):
            arrays = _filtered(frame, names, where).AsNumpy([names[each] for each in columns])
            return {column: arrays[names[column]] for column in columns}

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        with _opened_frame(path, columns, where) as (frame, names):
            rows = _filtered(frame, names, where)
            count = rows.Count()
            sums = {column: rows.Sum(names[column]) for column in columns}
            # The first request starts the event loop, which computes all results.
            found = int(count.GetValue())
            return ColumnSums(found, {column: float(each.GetValue()) for column, each in sums.items()})


@contextmanager
def _opened_frame(
    path: Path, columns: list[str], where: Predicate | None
) -> Iterator[tuple[Any, dict[str, str]]]:
    """Open a file; provide its table, and the name of the field or branch of each column."""
    with opened(path) as file:
        described = json.loads(str(file.Get(DESCRIPTION).GetString()))["columns"]
        names = array_names_of_numbers(described, needed_columns(columns, where))
        with all_threads():
            yield root().RDataFrame(TABLE, str(file.GetName())), names


@contextmanager
def all_threads() -> Iterator[None]:
    """Let event loops use a thread for each CPU that the process may use."""
    threads = len(os.sched_getaffinity(0))
    if threads > 1:
        root().EnableImplicitMT(threads)
    try:
        yield
    finally:
        root().DisableImplicitMT()


def _filtered(frame: Any, names: dict[str, str], where: Predicate | None) -> Any:
    if where is None:
        return frame
    return frame.Filter(" && ".join(_condition(frame, names, each) for each in where.comparisons))


def _condition(frame: Any, names: dict[str, str], each: Comparison) -> str:
    name = names[each.column]
    kind = str(frame.GetColumnType(name))
    contents = BOOLEANS if kind.lower().startswith("bool") else NUMBERS
    fitted = each.fitted(contents, is_single=kind.lower().startswith("float"))
    return cpp_condition(fitted, name)
