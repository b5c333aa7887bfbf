"""The canonical form of tables, and the comparison of what readers print."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adapter_core.errors import CanonicalFormError
from data_generator.synthetic.edge_case_tables import edge_case_tables
from format_bench.verification.canonical import CanonicalTable, Type, digest
from format_bench.verification.sameness import compare


def of_arrow(*arrays):
    """Return a table of Arrow's columns a, b, ..."""
    columns = {chr(97 + place): pd.arrays.ArrowExtensionArray(each) for place, each in enumerate(arrays)}
    return CanonicalTable.of_frame(pd.DataFrame(columns))


def printed(kind, *values):
    """Return a table of one column as a reader would print it."""
    return CanonicalTable((("c", Type.parse(kind)),), [[each] for each in values])


def test_values_are_printed_as_the_manual_says():
    df = pd.DataFrame(
        {
            "n": pd.array([5, None], "Int8"),
            "x": [1.5, -0.0],
            "h": np.array([1.0, np.nan], "float16"),
            "t": ["Zürich\u2028", None],
            "d": [Decimal("1.10"), Decimal("-2.05")],
            "b": [b"\xff\x00", None],
            "day": [dt.date(1970, 1, 3), None],
            "at": pd.Series(pd.to_datetime(["1970-01-01T01:00:01", None]))
            .dt.as_unit("us")
            .dt.tz_localize("Europe/Paris"),
        }
    )
    table = CanonicalTable.of_frame(df)
    assert {name: str(kind) for name, kind in table.columns} == {
        "n": "int8",
        "x": "float64",
        "h": "float16",
        "t": "utf8",
        "d": "decimal(3, 2)",
        "b": "binary",
        "day": "date",
        "at": "timestamp(us, Europe/Paris)",
    }
    assert table.rows == [
        ["5", "3ff8000000000000", "3c00", "Zürich\u2028", "1.10", "/wA=", "2", "1000000"],
        [None, "8000000000000000", None, None, "-2.05", None, None, None],
    ]
    assert table.text.count("\n") == 3
    assert CanonicalTable.parse(table.text) == table


def test_nested_values_are_arrays_and_nan_is_told_from_null():
    point = pa.struct({"y": pa.float32(), 'a "b"': pa.list_(pa.int8())})
    table = of_arrow(
        pa.array([{"y": float("nan"), 'a "b"': [1, None]}, None, {"y": None, 'a "b"': None}], point),
        pa.array([[("k", 1), ("k", None)], [], None], pa.map_(pa.string(), pa.int64())),
        pa.array([[1.0, None], None, [2.0, 3.0]], pa.list_(pa.float32(), 2)),
    )
    assert [str(kind) for _, kind in table.columns] == [
        'struct<"y": float32, "a \\"b\\"": list<int8>>',
        "map<utf8, int64>",
        "list<float32>",
    ]
    assert table.rows == [
        [["nan", ["1", None]], [["k", "1"], ["k", None]], ["3f800000", None]],
        [None, [], None],
        [[None, None], None, ["40000000", "40400000"]],
    ]
    assert CanonicalTable.parse(table.text) == table


def test_every_edge_case_is_printed_and_equals_itself_alone():
    texts = {}
    for name, df in edge_case_tables().items():
        table = CanonicalTable.of_frame(df)
        again = CanonicalTable.parse(table.text)
        assert again == table, name
        assert compare(table, again).sentence == "", name
        texts[name] = table.text
    assert texts["minus zero"].splitlines()[1] == '["8000000000000000", "0"]'
    others = [name for name, text in texts.items() if "other(" in text]
    assert "periods" in others
    assert "decimals" not in others


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1 is no object"),
        ('{"columns": 5, "rows": 1}\n', "line 1 is no object"),
        ('{"columns": [], "rows": 1}\n', "announces 1 rows, but 0 follow"),
        ('{"columns": [{"name": "c", "type": "int7"}], "rows": 0}\n', "'int7' is no type"),
        ('{"columns": [{"name": "c", "type": "int8"}], "rows": 1}\nnull\n', "line 2 is no array"),
        ('{"columns": [{"name": "c", "type": "int8"}], "rows": 1}\n[\n', "line 2 is no JSON"),
    ],
)
def test_other_output_is_refused_with_its_line(text, why):
    with pytest.raises(CanonicalFormError, match=why):
        CanonicalTable.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "list",
        "list<int8",
        "list<int8, int8>",
        "int8<utf8>",
        "struct<a: int8>",
        "int8 x",
        "map<utf8>",
        "<",
    ],
)
def test_other_types_are_refused(text):
    with pytest.raises(CanonicalFormError, match="is no type"):
        Type.parse(text)


@pytest.mark.parametrize(
    "text", ["struct<>", 'list<struct<"a, b>": map<utf8, timestamp(us, UTC)>>>', "decimal(38, 10)"]
)
def test_types_are_read_as_they_are_printed(text):
    assert str(Type.parse(text)) == text


@pytest.mark.parametrize(
    ("saved", "read"),
    [
        (("int64", "5"), ("float64", "4014000000000000")),
        (("float32", "3dcccccd"), ("float64", "3fb999999999999a")),  # 0.1
        (("decimal(3, 2)", "1.10"), ("float64", "3ff199999999999a")),
        (("decimal(3, 2)", "1.10"), ("decimal(38, 10)", "1.1000000000")),
        (("float64", "3fb999999999999a"), ("utf8", "0.1")),
        (("bool", True), ("utf8", "True")),
        (("bool", True), ("int64", "1")),
        (("date", "1"), ("timestamp(ms)", "86400000")),
        (("timestamp(us)", "1500000"), ("utf8", "1970-01-01 00:00:01.500000")),
        (("timestamp(us, Europe/Paris)", "0"), ("utf8", "1970-01-01 01:00:00+01:00")),
        (("timestamp(ns)", "1000"), ("timestamp(us)", "1")),
        (("duration(ns)", "-5"), ("int64", "-5")),
        (("time(us)", "5"), ("duration(ns)", "5000")),
        (("duration(ns)", "3"), ("float64", "4008000000000000")),
        (("duration(ns)", "-5"), ("utf8", "-1 days +23:59:59.999999995")),
        (("time(us)", "1000004"), ("utf8", "00:00:01.000004")),
        (("utf8", "5"), ("int64", "5")),
        (("utf8", "a"), ("binary", "YQ==")),
        (("map<utf8, int64>", [["a", "1"]]), ('list<struct<"k": utf8, "v": int32>>', [["a", "1"]])),
        (("float64", "nan"), ("float64", None)),
        (("int64", None), ("float64", "nan")),
        (("null", None), ("utf8", None)),
    ],
)
def test_the_same_value_of_another_type_is_no_change(saved, read):
    found = compare(printed(*saved), printed(*read))
    assert (found.changed, found.retyped) == (0, 1)
    assert found.sentence.startswith("column c: ")
    assert " came back as " in found.sentence


@pytest.mark.parametrize(
    ("saved", "read"),
    [
        (("int64", "9007199254740993"), ("float64", "4340000000000000")),  # 2**53
        (("float64", "3fb999999999999a"), ("float32", "3dcccccd")),
        (("float64", "8000000000000000"), ("float64", "0000000000000000")),
        (("float64", "8000000000000000"), ("int64", "0")),
        (("utf8", "01"), ("int64", "1")),
        (("utf8", "nan"), ("float64", "nan")),
        (("utf8", "nan"), ("utf8", None)),
        (("utf8", ""), ("utf8", None)),
        (("timestamp(us)", "1"), ("timestamp(ms)", "0")),
        (("timestamp(us)", "0"), ("utf8", "1970-01-01 00:00:01")),
        (("list<int8>", ["1"]), ("list<int8>", ["1", "2"])),
        (("list<int8>", ["1"]), ("utf8", "[1]")),
        (('struct<"a": int8>', [None]), ('struct<"a": int8>', None)),
        (("binary", "/wA="), ("utf8", "\ufffd\0")),
    ],
)
def test_another_value_is_a_change(saved, read):
    found = compare(printed(*saved), printed(*read))
    assert (found.changed, found.retyped) == (1, 0)
    assert found.sentence.startswith("column c, row 0: ")


def test_a_sentence_has_the_first_changes_and_digests_of_long_values():
    saved = printed("utf8", "x" * 1000, "b", "c", "d", "e")
    found = compare(saved, printed("utf8", "y" * 1000, "b", "", "D", None))
    assert found.changed == 4
    first, second, third, more = found.sentence.split("; ")
    assert first.endswith(f"(1,002 characters, digest {digest('y' * 1000)[:8]})")
    assert second == "column c, row 2: 'c' came back as ''"
    assert third == "column c, row 3: 'd' came back as 'D'"
    assert more == "1 more"


def test_other_columns_and_rows_are_changes_of_all_values():
    saved = printed("int8", "1", "2")
    assert compare(saved, printed("int8", "1")).sentence == "2 rows came back as 1"
    renamed = CanonicalTable((("d", Type("int8")),), saved.rows)
    assert compare(saved, renamed) == type(compare(saved, saved))(2, 0, "columns 'c' came back as 'd'")


def test_a_value_that_is_none_of_its_type_is_no_canonical_form():
    with pytest.raises(CanonicalFormError, match=r"'five' .*is no value of"):
        compare(printed("int64", "5"), printed("float64", "five"))


def test_a_map_equals_an_object_with_its_keys():
    saved = printed("map<utf8, float64>", [["a", "3ff0000000000000"], ["b", None]])
    assert (
        compare(saved, printed('struct<"a": int64, "b": null, "c": int64>', ["1", None, None])).changed
        == 0
    )
    assert compare(saved, printed('struct<"a": int64, "c": int64>', ["1", "2"])).changed == 1
    assert compare(saved, printed('struct<"a": int64, "b": null>', ["2", None])).changed == 1
