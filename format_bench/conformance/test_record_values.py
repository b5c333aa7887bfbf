"""Records come back with equal values of all fields, by digest and one by one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import data_generator
from adapter_core import CannotHoldError, UnsupportedError
from adapter_core.entities import ENTITY, PERSON, Address, Entity, Person, Status
from adapter_core.record_digest import digest
from adapter_core.record_set import RecordSet
from data_generator.synthetic.edge_case_records import EDGE_CASE_RECORDS

TEXTS = ["", "x" * 100_000, "\U0001f600\u0301", "a\0b", "057", "\u2028\u0085\x7f", '"\\\n\r\t', "null"]
NUMBERS = [0, -1, 1, 2**31 - 1, -(2**31), 127, -129, 2**16]

PEOPLE = [
    Person(2**31 - 1, "", None, None, Status.UNKNOWN, [], [], None),
    Person(-(2**31), "\0", "", 0, Status.CLOSED, ["", "\U0001f600"], NUMBERS, Address("", 0, "c", "")),
    Person(0, "x" * 70_000, "n", -1, Status.ACTIVE, TEXTS, [0], Address("s", -1, "", None)),
]


def records(name, count) -> RecordSet:
    return data_generator.records(name, count).records


def assert_equal(store, found, expected):
    assert digest(map(store.plain(expected.of), found), expected.of) == expected.digest


@pytest.mark.parametrize("count", [0, 1, 1_500])
def test_entities_come_back(record_store, count, path):
    expected = records("entities", count)
    record_store.save(expected, path)
    found = record_store.read(path)
    assert isinstance(found, list)
    assert len(found) == count
    assert_equal(record_store, found, expected)


def test_extreme_numbers_and_unusual_texts_come_back(record_store, path):
    rows = [
        Entity(*(NUMBERS[(row + i) % 8] for i in range(5)), *(TEXTS[(row + i) % 8] for i in range(5)))
        for row in range(8)
    ]
    for expected in (RecordSet.of_objects(ENTITY, rows), records("entities-edge", 20)):
        record_store.save(expected, path)
        assert_equal(record_store, record_store.read(path), expected)


def test_nulls_lists_enums_and_nested_records_come_back_or_are_refused(record_store, path):
    named = records("entities-nested", 300), records("entities-nested-edge", 20)
    for expected in (RecordSet.of_objects(PERSON, PEOPLE), *named):
        if record_store.refusal(PERSON):
            with pytest.raises(CannotHoldError, match=record_store.label.partition("[")[0]):
                record_store.save(expected, path)
            assert not path.exists()
            continue
        record_store.save(expected, path)
        assert_equal(record_store, record_store.read(path, PERSON), expected)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text2", "x\ud800"),
        ("text2", None),
        ("text2", 7),
        ("text2", b"x"),
        ("number1", None),
        ("number1", 1.5),
        ("number1", True),
        ("number1", "1"),
        ("number1", 2**31),
    ],
    ids=repr,
)
def test_a_value_that_is_not_of_its_type_is_refused(record_store, path, field, value):
    rows = records("entities", 3).objects
    expected = RecordSet.of_objects(ENTITY, [*rows[:2], replace(rows[2], **{field: value})])
    with pytest.raises(CannotHoldError, match=f"the record 2: {field} "):
        record_store.save(expected, path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tags": ["a", "\udfff"]}, "tags has half a character"),
        ({"tags": None}, "tags is no list"),
        ({"scores": [0, None]}, "scores is not of the type int32: None"),
        ({"status": 7}, "status is not of the type enum: 7"),
        ({"address": Address("s", 1, None, None)}, "address.city is not of the type text: None"),
    ],
    ids=repr,
)
def test_a_nested_value_that_is_not_of_its_type_is_refused(record_store, path, change, words):
    if reason := record_store.refusal(PERSON):
        pytest.skip(reason)
    expected = RecordSet.of_objects(PERSON, [replace(PEOPLE[0], **change)])
    with pytest.raises(CannotHoldError, match=re.escape(words)):
        record_store.save(expected, path)
    assert not path.exists()


def test_each_kind_of_field_comes_back_or_is_refused_with_its_name(record_store, path, subtests):
    for words, expected in EDGE_CASE_RECORDS.items():
        with subtests.test(words):
            if reason := record_store.refusal(expected.of):
                assert re.search(r"the field value\S* is of the kind ", reason)
                with pytest.raises(CannotHoldError, match=re.escape(reason)):
                    record_store.save(expected, path)
                assert not path.exists()
                continue
            try:
                record_store.save(expected, path)
            except CannotHoldError as error:
                assert words.startswith(("negative zero", "infinity", "list of NaN"))
                assert re.search("the record 0: value is (-0.0|inf|nan), which", str(error))
                continue
            assert_equal(record_store, record_store.read(path, expected.of), expected)
            record_store.remove(path)


def test_iteration_yields_the_same_records_or_is_refused(record_store, path):
    expected = records("entities", 1_100)
    record_store.save(expected, path)
    if record_store.iterates:
        with pytest.raises(UnsupportedError, match="cannot iterate"):
            record_store.iterate(path)
        return
    found = record_store.iterate(path)
    assert iter(found) is found
    assert_equal(record_store, found, expected)


def test_a_single_record_is_the_one_at_its_position_or_is_refused(record_store, path):
    expected = records("entities", 1_100)
    record_store.save(expected, path)
    if record_store.seeks:
        with pytest.raises(UnsupportedError, match="single record"):
            record_store.entry(path, 0)
        return
    plain = record_store.plain(ENTITY)
    for position in (0, 1_099, 500):
        assert plain(record_store.entry(path, position)) == ENTITY.plain(expected.objects[position])
    for position in (1_100, -1):
        with pytest.raises(IndexError):
            record_store.entry(path, position)


def test_objects_live_on_after_the_file_is_gone(record_store, path):
    expected = records("entities", 700)
    record_store.save(expected, path)
    found = record_store.read(path)
    record_store.remove(path)
    assert_equal(record_store, found, expected)


def test_texts_are_shared_only_if_declared(record_store, path):
    expected = records("entities", 3_000)
    record_store.save(expected, path)
    plain = record_store.plain(ENTITY)
    # Kept, since the number of an object may be used again.
    texts = [text for each in map(plain, record_store.read(path)) for text in each[5:] if len(text) > 1]
    assert (len({id(each) for each in texts}) < len(texts)) == record_store.shares_texts
