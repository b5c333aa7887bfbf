"""Wrong records that the verifier has to see."""

from __future__ import annotations

import unicodedata
from copy import deepcopy

import pytest

import data_generator
from adapter_core.entities import Status
from adapter_core.record_set import RecordSet
from format_bench.verification import Diff
from format_bench.verification.records import verify_records

COUNT = 40
FLAT, NESTED = "entities", "entities-nested"


def _set(name, change):
    """Return a mutation of a field of a record that has a value there, and no empty one."""

    def mutate(objects):
        one = next(each for each in objects[7:] if getattr(each, name))
        setattr(one, name, change(getattr(one, name)))
        return objects

    return mutate


def _within(change):
    def changed(address):
        change(address)
        return address

    return _set("address", changed)


def _delete(name):
    def mutate(objects):
        delattr(objects[9], name)
        return objects

    return mutate


def _exchange(one, other):
    def mutate(objects):
        each = next(each for each in objects if getattr(each, one) != getattr(each, other))
        before = getattr(each, one)
        setattr(each, one, getattr(each, other))
        setattr(each, other, before)
        return objects

    return mutate


def _of_one(objects):
    objects[3].number3 = True
    return objects


def _moved_letters(objects):
    each = objects[4]
    each.text1, each.text2 = each.text1[:-1], each.text1[-1] + each.text2
    return objects


def _null_of(objects, name, value):
    setattr(next(each for each in objects if getattr(each, name) is None), name, value)
    return objects


def _list_of(objects, change):
    one = next(each for each in objects if len(set(each.tags)) > 1)
    one.tags = change(one.tags)
    return objects


def _letters(objects):
    objects[0].tags = "ab"
    return objects


def _addresses_exchanged(objects):
    one, other = [each for each in objects if each.address is not None][:2]
    one.address, other.address = other.address, one.address
    return objects


def _decomposed(objects):
    objects[0].name = unicodedata.normalize("NFD", objects[0].name)
    return objects


WRONG = {
    FLAT: {
        "a number by one": _set("number1", lambda value: value + 1),
        "a sign": _set("number2", lambda value: -value),
        "a float": _set("number3", float),
        "a text for a number": _set("number3", str),
        "a boolean for a number": _of_one,
        "a null for a number": _set("number3", lambda _: None),
        "a number of more bits": _set("number3", lambda value: value + 2**32),
        "a null for a text": _set("text1", lambda _: None),
        "an empty text": _set("text1", lambda _: ""),
        "bytes": _set("text1", str.encode),
        "another case": _set("text1", str.swapcase),
        "a NUL": _set("text1", lambda value: value + "\0"),
        "a lone surrogate": _set("text1", lambda value: value + "\ud800"),
        "a byte order mark": _set("text1", lambda value: "\ufeff" + value),
        "another field": _exchange("number1", "number2"),
        "another text": _exchange("text1", "text2"),
        "a missing field": _delete("text2"),
        "letters moved to the next field": _moved_letters,
        "a record lost": lambda objects: objects[1:],
        "a record more": lambda objects: [*objects, objects[-1]],
        "a record doubled": lambda objects: [objects[1], *objects[1:]],
        "records reversed": lambda objects: objects[::-1],
        "two records swapped": lambda objects: [objects[1], objects[0], *objects[2:]],
        "no records": lambda _: [],
        "a null for a record": lambda objects: [None, *objects[1:]],
    },
    NESTED: {
        "a default for a null": lambda objects: _null_of(objects, "age", 0),
        "an empty text for a null": lambda objects: _null_of(objects, "nickname", ""),
        "a null for a value": _set("age", lambda _: None),
        "a boolean for an optional number": _set("age", lambda _: True),
        "an enum by one": _set("status", lambda value: Status((value + 1) % 4)),
        "an enum cut from a float": _set("status", lambda value: value + 0.75),
        "an unknown enum": _set("status", lambda _: 9),
        "a list reversed": lambda objects: _list_of(objects, lambda values: values[::-1]),
        "a list cut": lambda objects: _list_of(objects, lambda values: values[:-1]),
        "a list empty": lambda objects: _list_of(objects, lambda _: []),
        "a list null": lambda objects: _list_of(objects, lambda _: None),
        "a list as a set": lambda objects: _list_of(objects, set),
        "a list as a text": _letters,
        "floats in a list": _set("scores", lambda values: [float(each) for each in values]),
        "a nested text": _within(lambda address: setattr(address, "city", address.city + " ")),
        "a nested number": _within(lambda address: setattr(address, "number", address.number + 1)),
        "a nested null": _within(lambda address: setattr(address, "street", None)),
        "a nested record null": _set("address", lambda _: None),
        "nested records exchanged": _addresses_exchanged,
        "decomposed text": _decomposed,
    },
}


def _saved(dataset):
    saved = data_generator.records(dataset, COUNT).records
    objects = [deepcopy(each) for each in saved.objects]
    if dataset == FLAT:
        objects[3].number3 = 1
    else:
        objects[0].name, objects[0].tags = "Zo\u00eb", ["a", "b"]
    return RecordSet.of_objects(saved.of, objects)


@pytest.mark.parametrize(
    ("dataset", "mutation"), [(dataset, name) for dataset, each in WRONG.items() for name in each]
)
def test_wrong_records_are_an_error(dataset, mutation):
    saved = _saved(dataset)
    assert verify_records(saved, deepcopy(saved.objects), saved.of.plain) == Diff()
    found = WRONG[dataset][mutation](deepcopy(saved.objects))
    (sentence,) = verify_records(saved, found, saved.of.plain).errors
    assert "equal values of other types" not in sentence


def test_a_field_that_a_mapping_lacks_is_an_error():
    saved = _saved(FLAT)
    found = [{name: getattr(each, name) for name in saved.of.names} for each in saved.objects]
    assert verify_records(saved, found, saved.of.plain_of_mapping).errors == ()
    del found[5]["number3"]
    (sentence,) = verify_records(saved, found, saved.of.plain_of_mapping).errors
    assert sentence.startswith("record 5 lacks a field: KeyError")
