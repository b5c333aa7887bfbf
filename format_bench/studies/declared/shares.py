"""Form of rows of trials, whose values are shares of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from format_bench.instruments.intervals import share_interval
from format_bench.results.records import Record
from format_bench.results.study_rows import StudyForm

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)
else:
    Row = TypeVar("Row")


@dataclass(frozen=True)
class ShareForm(StudyForm[Row]):
    """Form of rows with a tuple of 0 and 1, one for each trial, per class of outcomes."""

    def records(self, row: Row, run_id: str) -> Iterator[Record]:
        """Yield the records of a row, with the intervals of shares."""
        flags = {self._metric_of_flags(row, name) for name in self.values}
        for each in super().records(row, run_id):
            if each.metric in flags and each.repeats:
                interval = [*share_interval(int(sum(each.repeats)), len(each.repeats))]
                yield replace(each, value=fmean(each.repeats), interval=interval)
            else:
                yield each

    def _metric_of_flags(self, row: Row, name: str) -> str:
        metric = self.metric_of(row, name)
        return metric[0] if metric and isinstance(getattr(row, name), tuple) else ""
