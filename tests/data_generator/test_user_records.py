"""A user's own records: their types, their values, and lines that are refused with their numbers."""

from __future__ import annotations

import gzip
import json
import pickle
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import record_stores
from adapter_core import Field, FieldKind, RecordSet, RecordType
from adapter_core.errors import InvalidDataError
from adapter_core.record_schema import avro_of
from adapter_core.records.documents import documents
from data_generator.synthetic.edge_case_records import EDGE_CASE_RECORDS
from data_generator.user.load import load_data
from data_generator.user.records import load_records
from data_generator.user.summary import RecordsDescription
from tests.factories.record_types import lines_of, objects_of, record_types

QUICK = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def written(folder, *lines, name="people.jsonl"):
    path = folder / name
    text = "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines)
    path.write_text(text, encoding="utf-8")
    return path


def schema_file(folder, schema):
    path = folder / "people.avsc"
    path.write_text(schema if isinstance(schema, str) else json.dumps(schema), encoding="utf-8")
    return path


def record(*fields):
    given = [{"name": name, "type": kind} for name, kind in fields]
    return {"type": "record", "name": "Person", "fields": given}


def kinds(of):
    """Return the kinds of all fields by their paths."""
    return {path: str(kind) for path, kind in of.features()}


def loaded(path, **options):
    return load_records(path, **options).records


def test_types_follow_from_all_values(tmp_path):
    path = written(
        tmp_path,
        {"id": 1, "score": 2, "name": "a", "active": True, "tags": [], "at": "2024-01-02T03:04:05Z"},
        {"id": 2**63 - 1, "score": 2.5, "name": None, "active": False, "tags": ["x"], "at": "z"},
        {
            "id": -3,
            "score": 1e3,
            "active": True,
            "tags": ["y", None],
            "home": {"city": "c", "at": [1, 2]},
        },
    )
    found = load_records(path)
    of = found.records.of
    assert kinds(of) == {
        "id": "int64",
        "score": "double",
        "name": "text",
        "active": "bool",
        "tags": "list with nulls",
        "tags[]": "text",
        "at": "text",
        "home": "record",
        "home.city": "text",
        "home.at": "list",
        "home.at[]": "int64",
    }
    assert [each.name for each in of.fields if each.optional] == ["name", "at", "home"]
    plain = list(map(of.plain, found.records.objects))
    assert plain[0] == (1, 2.0, "a", True, [], "2024-01-02T03:04:05Z", None)
    assert plain[2] == (-3, 1000.0, None, True, ["y", None], None, ("c", [1, 2]))
    assert isinstance(plain[0][1], float)
    assert found.remarks == (
        "missing fields count as null: name, at, home",
        "whole numbers become doubles where others have a fraction: score",
    )
    assert found.name == "people"


def test_what_the_values_do_not_tell_is_said(tmp_path):
    path = written(
        tmp_path, {"a": None, "b": [], "c": {}, "d": 1, "first name": 2, "class": 3, "D": 4, "\u4e2d": 5}
    )
    found = load_records(path)
    assert kinds(found.records.of) == {
        "a": "text",
        "b": "list",
        "b[]": "text",
        "d": "int64",
        "first_name": "int64",
        "class_": "int64",
        "D_2": "int64",
        "field": "int64",
    }
    assert found.remarks[:3] == (
        "fields that are always null count as text: a",
        "lists that are always empty count as lists of text: b",
        "objects without a field are left out: c",
    )
    assert found.remarks[3].startswith(
        "names that classes cannot have are changed: 'first name' is first_name"
    )
    (only,) = found.records.objects
    assert found.records.of.plain(only) == (None, [], 1, 2, 3, 4, 5)


def test_scalars_of_several_types_make_a_union(tmp_path):
    rows = [{"a": 1, "b": 1}, {"a": "1", "b": 2.5}, {"a": 1.0, "b": None}, {"a": True}]
    found = load_records(written(tmp_path, *rows))
    assert kinds(found.records.of) == {"a": "union", "b": "double"}
    branches = [str(each.kind) for each in found.records.of.fields[0].branches]
    assert branches == ["bool", "int64", "double", "text"]
    values = [each.a for each in found.records.objects]
    assert [(type(each), each) for each in values] == [(int, 1), (str, "1"), (float, 1.0), (bool, True)]
    assert "values of several types make a union: a" in found.remarks
    schema = schema_file(tmp_path, record(("a", ["null", "double", "string"])))
    path = written(tmp_path, {"a": 1}, {"a": "1"}, {"a": 0.5}, {"a": None}, name="b.jsonl")
    values = [each.a for each in loaded(path, schema=schema).objects]
    assert [(type(each), each) for each in values][:3] == [(float, 1.0), (str, "1"), (float, 0.5)]
    with pytest.raises(InvalidDataError, match="line 1: a is not of the type union: True"):
        load_records(written(tmp_path, {"a": True}), schema=schema)


def test_a_sample_is_of_lines_in_their_order_and_blank_ones_are_none(tmp_path):
    path = written(tmp_path, *[{"n": n} if n % 3 else " " for n in range(100)])
    assert [each.n for each in loaded(path).objects] == [n for n in range(100) if n % 3]
    some = [each.n for each in loaded(path, sample=10).objects]
    assert some == sorted(set(some))
    assert len(some) == 10
    assert some == [each.n for each in loaded(path, sample=10).objects]


def test_a_file_may_be_compressed_and_have_a_byte_order_mark(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress('\ufeff{"a": "\u00e9"}\r\n'.encode()))
    found = load_data(tmp_path / "a.jsonl.gz", as_records=True)
    assert (found.name, found.records.objects[0].a) == ("a", "\u00e9")


DEEP = "[" * 40 + "]" * 40


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((), "contains no records, so there is nothing to measure"),
        (("  ",), "contains no records"),
        (("{}",), "contains objects without any value"),
        (('{"a": 1}', "{"), "line 2 is no JSON: Expecting property name"),
        (
            ('{"a": 1}', "[1]"),
            "line 2 is an array, and no object; records are read from a file with one",
        ),
        (("null",), "line 1 is null, and no object"),
        (("a,b",), "line 1 is no JSON: Expecting value (column 1)"),
        (('{"a": NaN}',), "line 1 is no JSON: NaN is none of its numbers"),
        (('{"a": 1e999}',), "line 1 is no JSON: 1e999 is beyond the range of a double"),
        (('{"a": 1, "a": 2}',), "line 1 is no JSON: an object has the key 'a' twice"),
        (('{"a": 9223372036854775808}',), "line 1: a needs more than 64 bits: 9223372036854775808"),
        (
            ('{"a": 9007199254740993}', '{"a": 0.5}'),
            "line 1: a is not of the type double: 90071992547409",
        ),
        (('{"a": "\\ud800"}',), "line 1: a has half a character, a lone surrogate"),
        (
            ('{"a": {"b": 1}}', '{"a": "x"}'),
            "has objects and texts in the field a; its values are",
        ),
        (('{"a": {"b": [1, [2]]}}',), "has arrays and numbers in the field a.b[]"),
        ((f'{{"a": {DEEP}}}',), "has more than 32 levels of objects and arrays"),
        (("[" * 100_000,), "line 1 is no JSON: it is nested too deeply"),
        (tuple({f"k{n}": n} for n in range(1_001)), "has objects of more than 1,000 keys, e.g. 'k1000'"),
        (('{"a": ' + "9" * 5_000 + "}",), "line 1 is no JSON: Exceeds the limit"),
    ],
    ids=lambda each: None if isinstance(each, tuple) else each[:40],
)
def test_what_is_no_record_is_refused_in_one_line(tmp_path, lines, words):
    path = written(tmp_path, *lines)
    with pytest.raises(InvalidDataError) as caught:
        load_records(path)
    line = str(caught.value).removeprefix(f"{path}: ")
    assert line.startswith(words)
    assert len(line) < 300
    assert line.isprintable()


def test_other_files_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"a": "\xff"}\n')
    with pytest.raises(InvalidDataError, match="is not UTF-8: byte 7"):
        load_records(tmp_path / "a.jsonl")
    with pytest.raises(InvalidDataError, match="is a folder; records are read"):
        load_records(tmp_path)
    with pytest.raises(InvalidDataError, match="there is no such file"):
        load_records(tmp_path / "none.jsonl")
    with pytest.raises(InvalidDataError, match="leave out ::b"):
        load_records(f"{tmp_path / 'a.jsonl'}::b")
    with pytest.raises(ValueError, match="a sample cannot have 0 records"):
        load_records(tmp_path / "a.jsonl", sample=0)


LOGICAL = record(
    ("id", "int"),
    ("size", "float"),
    ("photo", "bytes"),
    ("at", {"type": "long", "logicalType": "timestamp-millis"}),
    ("price", {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}),
    ("level", ["null", {"type": "enum", "name": "level", "symbols": ["LOW", "HIGH"]}]),
    ("links", {"type": "map", "values": "double"}),
)
GIVEN = {
    "id": 7,
    "size": 0.5,
    "photo": "AP8=",
    "at": "2024-01-02T03:04:05.25+01:00",
    "price": 1.5,
    "level": "HIGH",
    "links": {"a": 1, "b c": 2.5},
}


def test_a_schema_gives_kinds_that_json_lacks(tmp_path):
    found = loaded(
        written(tmp_path, GIVEN, {**GIVEN, "level": None}), schema=schema_file(tmp_path, LOGICAL)
    )
    first, second = found.objects
    assert (first.id, first.size, first.photo) == (7, 0.5, b"\0\xff")
    assert first.at == datetime(2024, 1, 2, 2, 4, 5, 250_000, UTC)
    assert first.at.tzinfo is UTC
    assert (str(first.price), type(first.price)) == ("1.50", Decimal)
    assert (first.level.name, second.level) == ("HIGH", None)
    assert first.links == {"a": 1.0, "b c": 2.5}
    assert kinds(found.of)["links[]"] == "double"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": 2**31}, "id needs more than 32 bits: 2147483648"),
        ({"id": 1.5}, "id is not of the type int32: Decimal('1.5')"),
        ({"id": None}, "id is not of the type int32: None"),
        ({"id": True}, "id is not of the type int32: True"),
        ({"size": 0.1}, "size needs more than 32 bits: 0.1"),
        ({"photo": "AP8"}, "photo is not of the type bytes: 'AP8'"),
        ({"at": "2024-01-02T03:04:05"}, "at has no time zone"),
        ({"at": "2024-01-02T03:04:05.0000001Z"}, "at is not of the type timestamp"),
        ({"at": 1704164645}, "at is not of the type timestamp: 1704164645"),
        ({"price": 1.555}, "price has 3 digits after the point instead of 2: 1.555"),
        ({"price": 12345}, "price is not of the type decimal: 12345"),
        ({"price": "NaN"}, "price is no number: NaN"),
        ({"level": "MIDDLE"}, "level is not of the type enum: 'MIDDLE'"),
        ({"links": [1]}, "links is no map: [1]"),
        ({"links": {"a": "x"}}, "links is not of the type double: 'x'"),
        ({"more": 1}, "the schema has no field 'more'"),
    ],
    ids=repr,
)
def test_a_value_that_is_not_as_the_schema_says_is_refused(tmp_path, change, words):
    path = written(tmp_path, GIVEN, {**GIVEN, **change})
    with pytest.raises(InvalidDataError) as caught:
        load_records(path, schema=schema_file(tmp_path, LOGICAL))
    assert str(caught.value).startswith(f"{path}: line 2: {words}")


def test_a_key_that_the_schema_lacks_is_found_in_nested_records_too(tmp_path):
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}]}
    schema = schema_file(tmp_path, record(("a", {"type": "array", "items": inner})))
    assert loaded(written(tmp_path, {"a": [{"x": 1}]}), schema=schema).objects[0].a[0].x == 1
    with pytest.raises(InvalidDataError, match="line 1: the schema has no field 'y' in a"):
        load_records(written(tmp_path, {"a": [{"x": 1, "y": 2}]}), schema=schema)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("{", "is no schema: Expecting property name enclosed in double quotes (line 1); known are"),
        ("[1]", "cannot be used: it is no Avro schema of a record"),
        ({"type": "string"}, "cannot be used: it is no Avro schema of a record"),
        (record(), "cannot be used: the record: the record Person has no fields"),
        (record(("a", "text")), "cannot be used: a: there is no type 'text'"),
        (record(("a", 5)), "cannot be used: a: 5 is no type of Avro"),
        (record(("a", "int"), ("a", "int")), "two fields 'a'"),
        (
            record(("a", ["int", "bytes"])),
            "a: it is a union of int and bytes; one here is of a boolean, a whole number",
        ),
        (record(("a", ["int", "long"])), "a: it is a union of int and long"),
        (record(("a", ["null"])), "a: it is a union of nothing"),
        (record(("a", {"type": "array", "items": "Person"})), "a[]: Person contains itself"),
        (record(("a", {"type": "int", "logicalType": "date"})), "a: records here have no date of int"),
        (record(("a", {"type": "enum", "name": "e", "symbols": []})), "a: symbols of the enum e"),
        (
            record(("a", {"type": "bytes", "logicalType": "decimal", "precision": 50})),
            "a: a decimal has up to 38 digits, not 50",
        ),
        (
            json.dumps(record(("a", "DEEP"))).replace('"DEEP"', '{"type":' * 50 + '"int"' + "}" * 50),
            "levels",
        ),
        (
            record(*((f"f{n}", "int") for n in range(1_001))),
            "cannot be used: it has more than 1,000 fields",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_schema_that_cannot_be_used_is_refused_in_one_line(tmp_path, schema, words):
    path = schema_file(tmp_path, schema)
    with pytest.raises(InvalidDataError) as caught:
        load_records(written(tmp_path, {"a": 1}), schema=path)
    line = str(caught.value)
    assert line.startswith(f"{path}: ")
    assert words in line
    assert len(line) - len(str(path)) < 300


@QUICK
@given(record_types().flatmap(lambda of: st.tuples(st.just(of), objects_of(of))))
def test_lines_that_the_reference_store_writes_are_loaded_by_their_schema(tmp_path, drawn):
    of, objects = drawn
    store, saved = record_stores.find("JSON"), RecordSet.of_objects(of, objects)
    path = tmp_path / "people.jsonl"
    store.save(saved, path)
    assert list(map(store.plain(of), store.read(path, of))) == list(map(of.plain, objects))
    found = loaded(path, schema=schema_file(tmp_path, avro_of(of)))
    assert found.of.names == of.names
    assert found.digest == saved.digest


@QUICK
@given(lines_of())
def test_values_of_any_lines_come_back(tmp_path, rows):
    found = loaded(written(tmp_path, *rows))
    assert list(documents(found.objects, found.of)) == [filled(each, found.of) for each in rows]


def filled(row: dict[str, object], of: RecordType) -> dict[str, object]:
    """Return an object with nulls for the keys that it lacks."""
    return {each.name: filled_value(row.get(each.key or each.name), each) for each in of.fields}


def filled_value(value, of: Field):
    if value is None:
        return None
    if of.record is not None:
        return filled(value, of.record)
    return [filled_value(each, of.element) for each in value] if of.element else value


@pytest.mark.parametrize("words", EDGE_CASE_RECORDS)
def test_a_type_is_the_same_after_it_was_an_avro_schema(words, tmp_path):
    of = EDGE_CASE_RECORDS[words].of
    found = avro_of(of)
    (tmp_path / "a.avsc").write_text(json.dumps(found), encoding="utf-8")
    lines = record_stores.find("JSON")
    # Symbols of enums are numbers there, and JSON of users has no infinities.
    is_readable = FieldKind.ENUM not in {kind for _, kind in of.features()}
    if is_readable and "infinity" not in words and "NaN" not in words:
        lines.save(EDGE_CASE_RECORDS[words], tmp_path / "a.jsonl")
        again = loaded(tmp_path / "a.jsonl", schema=tmp_path / "a.avsc")
        assert avro_of(again.of) == found
        assert again.digest == EDGE_CASE_RECORDS[words].digest


def test_a_summary_is_plain_data_for_other_processes(tmp_path):
    found = load_records(written(tmp_path, {"a": 1, "b": {"c": ["x"]}})).records
    summary = RecordsDescription.of_records(found)
    assert pickle.loads(pickle.dumps(summary)).of == found.of
    assert RecordsDescription.from_dict(json.loads(json.dumps(summary.to_dict()))) == summary
    with pytest.raises(ValueError, match="no Avro schema"):
        RecordsDescription.from_dict({"records": 1, "schema": []})
