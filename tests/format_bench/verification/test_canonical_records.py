"""Records in canonical form: a column for each field, values of the types that the fields declare."""

from __future__ import annotations

import pytest

from data_generator.synthetic.edge_case_records import EDGE_CASE_RECORDS
from format_bench.verification import sameness
from format_bench.verification.canonical import CanonicalTable
from format_bench.verification.canonical_records import of_records


def canonical(words: str) -> CanonicalTable:
    saved = EDGE_CASE_RECORDS[words]
    return CanonicalTable.parse(of_records(saved.of, map(saved.of.plain, saved.objects)).text)


def column(words: str) -> tuple[str, list[object]]:
    table = canonical(words)
    return str(table.columns[1][1]), table.values(1)


def test_values_are_exact():
    assert column("int64 or null")[1][-3:] == [str(2**63 - 1), str(-(2**63)), None]
    assert column("negative zero of 32 bits") == ("float32", ["80000000", "00000000"])
    assert column("bytes")[1][:2] == ["", "AP8="]
    assert column("decimal") == ("decimal(18, 2)", ["0.00", "-1.50", "1234567890123456.25"])
    kind, (first, *_) = column("timestamp")
    assert (kind, first) == ("timestamp(us, UTC)", "0")


def test_nested_fields_are_nested_types():
    kind, rows = column("list of lists of records")
    assert kind == 'list<list<struct<"x": float64, "label": utf8>>>'
    assert rows[1][0] == [["3ff8000000000000", None], ["8000000000000000", ""]]
    assert column("map of records")[1][1][0][0] == "a"
    assert column("map")[1][1] == [["", "3ff8000000000000"], ["a b", "8000000000000000"]]


@pytest.mark.parametrize("words", EDGE_CASE_RECORDS)
def test_each_edge_case_equals_itself_and_no_other_rows(words):
    table = canonical(words)
    assert sameness.compare(table, table).sentence == ""
    fewer = CanonicalTable(table.columns, table.rows[:-1])
    assert sameness.compare(table, fewer).changed


def test_unions_tell_kinds_apart():
    kind, rows = column("union")
    assert kind == "other(union)"
    assert len({*map(str, rows)}) == len(rows)
