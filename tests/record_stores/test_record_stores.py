"""Traps of single record formats, hostile files, and sizes in other languages."""

from __future__ import annotations

import json
import pickle
import sqlite3

import pytest

import data_generator
import record_stores
from adapter_core import CannotHoldError, RecordSet, RecordType, Trait
from adapter_core.entities import ENTITY, PERSON
from adapter_core.record_type import Field, FieldKind
from adapter_core.records.jvm import JvmStore
from data_generator.user.records import load_records
from format_bench.verification.records import verify_records


def records(name, count) -> RecordSet:
    return data_generator.records(name, count).records


def ready(label):
    store = record_stores.find(label)
    answer = store.availability()
    if not answer:
        pytest.skip(answer.reason)
    return store


def test_a_store_that_may_run_code_is_safe_nowhere():
    """The page of stores and the trait, from which `recommend` answers, say the same."""
    stores = [record_stores.find(name) for name in record_stores.names()]
    declared = {
        each.label: (Trait.SAFE in each.traits, not each.runs_code)
        for each in stores
        if isinstance(each, JvmStore)
    }
    assert len(declared) > 20
    assert {label for label, (one, other) in declared.items() if one is not other} == set()
    assert declared["EclipseStore[jvm]"] == declared["MicroStream[jvm]"] == (False, False)
    assert declared["Kryo[jvm]"] == (True, True)


class Payload:
    """An object whose pickle calls a function."""

    def __reduce__(self):
        return note, ("code of the file",)


called: list[str] = []


def note(text: str) -> None:
    called.append(text)


def test_a_pickle_runs_code_that_it_names(tmp_path):
    called.clear()
    path = tmp_path / "hostile.pickle"
    path.write_bytes(pickle.dumps([Payload()]))
    assert called == []
    ready("Pickle").read(path)
    assert called == ["code of the file"]


def test_fory_refuses_a_class_that_is_not_registered(tmp_path):
    pyfory = pytest.importorskip("pyfory")
    called.clear()
    store = ready("Fory")
    hostile = pyfory.Fory(xlang=False, ref=False, strict=False).serialize([Payload()])
    path = tmp_path / f"hostile{store.suffix}"
    path.write_bytes(len(hostile).to_bytes(4, "little") + hostile)
    with pytest.raises(Exception, match=r"."):
        store.read(path)
    assert called == []


@pytest.mark.parametrize("label", ["Fory", "JSON[msgspec]", "Protobuf"])
def test_all_types_of_one_process_keep_to_themselves(label, tmp_path):
    store = ready(label)
    for name, of in (("entities", ENTITY), ("entities-nested", PERSON), ("entities", ENTITY)):
        path = tmp_path / f"{name}{store.suffix}"
        expected = records(name, 30)
        store.save(expected, path)
        assert not verify_records(expected, store.read(path, of), store.plain(of)).errors


def test_columns_of_sqlite_keep_texts_of_digits(tmp_path):
    of = RecordType("Code", (Field("code", FieldKind.TEXT, 1),))
    expected = RecordSet.of_objects(of, [of.make(["057"]), of.make(["1e3"])])
    path = tmp_path / "codes.sqlite"
    store = ready("SQLite")
    store.save(expected, path)
    assert store.read(path, of) == [("057",), ("1e3",)]
    # A column declared `string`, as the published program has it, has the affinity NUMERIC.
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE codes (code string)")
        connection.execute("INSERT INTO codes VALUES ('057')")
        assert connection.execute("SELECT code FROM codes").fetchone() == (57,)


def test_bytes_of_delimited_messages_are_those_of_java(tmp_path):
    # protobuf-java writes as many for the first 10,000 of the published entities.
    store = ready("Protobuf[delimited]")
    path = tmp_path / "entities.pb"
    store.save(records("entities-seed", 10_000), path)
    assert store.size_bytes(path) == 1_001_191


def test_a_gzip_file_is_read_by_gzip(tmp_path):
    import gzip

    store = ready("JSON")
    store.save(records("entities", 10), tmp_path / "a.jsonl")
    store.save(records("entities", 10), tmp_path / "b.jsonl", "gzip")
    assert gzip.decompress((tmp_path / "b.jsonl").read_bytes()) == (tmp_path / "a.jsonl").read_bytes()


def test_names_that_pyfory_cannot_encode_are_refused(tmp_path):
    store = ready("Fory")
    for name, is_refused in {"Name": True, "N": True, "Name2": False, "lastName": False}.items():
        of = RecordType("Named", (Field(name, FieldKind.INT32, number=1),))
        rows = RecordSet.of_objects(of, [of.object_class(1)])
        assert (f"no name like '{name}'" in store.refusal(of)) is is_refused
        if not is_refused:
            store.save(rows, tmp_path / name)
            assert list(map(of.plain, store.read(tmp_path / name, of))) == [(1,)]


def own_records(folder, lines, schema=None):
    """Return records of a user's JSON lines."""
    path = folder / "own.jsonl"
    path.write_text(lines, encoding="utf-8")
    if schema:
        (folder / "own.avsc").write_text(json.dumps(schema), encoding="utf-8")
    return load_records(path, schema=folder / "own.avsc" if schema else None).records


def test_a_field_may_be_called_rowid(tmp_path):
    own = own_records(tmp_path, '{"rowid": 2, "name": "a"}\n{"rowid": 1, "name": "b"}\n')
    store = ready("SQLite")
    store.save(own, tmp_path / "own.db")
    found = store.entry(tmp_path / "own.db", 0, own.of)
    assert store.plain(own.of)(found) == store.plain(own.of)(
        next(store.iterate(tmp_path / "own.db", own.of))
    )


@pytest.mark.parametrize("label", ["Pickle", "Fory"])
def test_enums_of_a_users_schema_come_back(label, tmp_path):
    colour = {"type": "enum", "name": "Colour", "symbols": ["A", "B"]}
    schema = {"type": "record", "name": "Own", "fields": [{"name": "colour", "type": colour}]}
    own = own_records(tmp_path, '{"colour": "A"}\n{"colour": "B"}\n', schema)
    store = ready(label)
    store.save(own, tmp_path / "own")
    found = store.read(tmp_path / "own", own.of)
    assert not verify_records(own, found, store.plain(own.of)).errors


def test_the_length_of_a_document_is_no_codec(tmp_path):
    own = own_records(tmp_path, json.dumps({"text": "x" * 35_599}) + "\n")
    store = ready("BSON")
    store.save(own, tmp_path / "own.bson")
    assert (tmp_path / "own.bson").read_bytes()[:2] == b"\x1f\x8b"
    assert len(store.read(tmp_path / "own.bson", own.of)) == 1


def test_a_key_with_nul_is_refused(tmp_path):
    schema = {"type": "map", "values": "long"}
    schema = {"type": "record", "name": "Own", "fields": [{"name": "sizes", "type": schema}]}
    own = own_records(tmp_path, json.dumps({"sizes": {"a\0b": 1}}) + "\n", schema)
    with pytest.raises(CannotHoldError, match="NULL byte"):
        ready("BSON").save(own, tmp_path / "own.bson")
