"""Which of all results a choice is made from: of one family, and perhaps of one data set."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from adapter_core import UnknownNameError
from adapter_core.errors import InvalidWeightError
from format_bench.results.load import Results, suite_of
from format_bench.results.metrics import Measure
from format_bench.results.suites import SUITES, suite_order

if TYPE_CHECKING:
    from format_bench.results.records import Record


def of_dataset(results: Results, dataset: str) -> Results:
    """Return the results of one data set.

    Raises
    ------
    UnknownNameError
        If the results have none of that name.
    """
    known = {record.dataset for record in results.records}
    if dataset not in known:
        raise UnknownNameError(f"data set in {results.name}", dataset, known)
    return replace(results, records=[each for each in results.records if each.dataset == dataset])


def families(results: Results) -> list[str]:
    """Return the families that results have."""
    found = {suite_of(record) for record in results.records}
    return sorted(found, key=suite_order)


def one_family(results: Results, measures: Collection[Measure]) -> Results:
    """Return the results of the first family in which everything that is asked for was measured.

    Where those of tables are of a single one, its compressed cases join them.

    Raises
    ------
    InvalidWeightError
        If there is none.
    """
    wanted = set(measures)
    for family in families(results):
        records = [each for each in results.records if suite_of(each) == family]
        if wanted <= _measured(records):
            if family in SUITES and not SUITES[family].qualifier:
                records += _compressed(results.records, {(each.dataset, each.rows) for each in records})
            return replace(results, records=records)
    raise InvalidWeightError(_lacking(results, wanted))


def _compressed(records: list[Record], tables: set[tuple[str, int]]) -> list[Record]:
    """Return what was measured with codecs on the only table; on several, others were left out."""
    if len(tables) > 1:
        return []
    return [
        each
        for each in records
        if _has_codecs(suite_of(each)) and each.codec and (each.dataset, each.rows) in tables
    ]


def _has_codecs(suite: str) -> bool:
    return suite in SUITES and bool(SUITES[suite].codecs)


def _measured(records: list[Record]) -> set[Measure]:
    return {Measure.of(each).comparable for each in records if each.value is not None}


def _lacking(results: Results, wanted: set[Measure]) -> str:
    measured = _measured(results.records)
    if wanted <= measured:
        together = " and ".join(sorted(each.phrase for each in wanted))
        return f"{results.name} has {together} of different families, never of one"
    lacking = " and ".join(sorted(each.phrase for each in wanted - measured))
    have = ", ".join(sorted(each.option for each in measured)) or "no value at all"
    return f"{results.name} has no values of {lacking}; it has {have}"
