"""Measurements of records: every metric, wrong values, first calls, and a planted object."""

from __future__ import annotations

import json

import pytest

import data_generator
import record_stores
from adapter_core.entities import ENTITY, PERSON
from adapter_core.errors import WrongValuesError
from adapter_core.record_digest import digest
from data_generator.synthetic.edge_case_records import EDGE_CASE_RECORDS
from format_bench.families.measuring import measure_step, measure_steps
from format_bench.families.records import first_call, stored
from format_bench.families.records.operations import RecordOperations
from format_bench.instruments import isolation
from format_bench.instruments.clock import Effort
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from format_bench.verification.records import verify_records

FAMILY = FAMILIES["records"]
EFFORT = Effort(budget_seconds=0.0, min_repeats=1)
PLANTED_BYTES = 50_000_000


def records(name, count):
    return data_generator.records(name, count).records


def operations_on(store, path, data, codec=None):
    RecordOperations.store(data, path)
    operations = RecordOperations(store, codec)
    operations.expect(path)
    return operations


def step(name):
    return next(each for each in FAMILY.steps if each.name == name)


@pytest.mark.parametrize(("label", "codec"), [("JSON", None), ("SQLite", "gzip"), ("Pickle", "gzip")])
def test_every_metric_has_values_or_a_reason(label, codec, tmp_path):
    operations = operations_on(
        record_stores.get(label), tmp_path / "data", records("entities", 50), codec
    )
    operations.warm_up()
    file = tmp_path / f"file{operations.adapter.suffix}"
    steps = [each for each in FAMILY.steps if each.name != "cold read"]
    found = measure_steps(steps, operations, lambda: operations.load(tmp_path / "data"), file, EFFORT)
    for each in steps:
        # The peak of the process is reported by asv alone.
        peaks = {f"{step} peak memory" for step in ("save", "read")}
        assert {measured.metric for measured in found[each.name]} - peaks == set(each.metrics)
        for measured in found[each.name]:
            assert measured.repeats or (measured.status is CellStatus.UNSUPPORTED and measured.sentence)
    single = {each.metric: each for each in found["single records"]}
    assert bool(single["entry read time"].repeats) == (label == "SQLite")
    assert bool(single["iteration time"].repeats) == (label != "Pickle")
    (size,) = [each for each in found["save"] if each.metric == "size"]
    assert size.sentence == ""


def test_wrong_values_fail_the_read(tmp_path):
    store = record_stores.get("JSON")
    operations = operations_on(store, tmp_path / "data", records("entities", 20))
    file = tmp_path / "file.jsonl"
    store.save(records("entities", 20), file)
    lines = file.read_text(encoding="utf-8").splitlines()
    broken = {**json.loads(lines[7]), "number3": 1}
    file.write_text("\n".join([*lines[:7], json.dumps(broken), *lines[8:]]), encoding="utf-8")
    with pytest.raises(WrongValuesError, match=r"number3 of record 7: -?\d+ came back as 1"):
        measure_step(step("read"), operations, lambda: records("entities", 20), file, EFFORT)


def test_differences_are_named():
    saved = records("entities", 5)
    plain = ENTITY.plain

    def error(found):
        (sentence,) = verify_records(saved, found, plain).errors
        return sentence

    assert verify_records(saved, saved.objects, plain).errors == ()
    assert error(saved.objects[:4]) == "fewer than 4 of 5 records came back"
    assert error([*saved.objects, saved.objects[0]]) == "more than 5 of 5 records came back"
    assert "record 0 lacks a field: AttributeError" in error([None] * 5)
    floats = saved.take(range(5)).objects
    floats[2].number1 = float(floats[2].number1)
    assert "number1 of record 2" in error(floats)


def test_an_enum_that_comes_back_as_a_number_is_a_loss(tmp_path):
    store = record_stores.get("JSON")
    saved = records("entities-nested", 9)
    store.save(saved, tmp_path / "people.jsonl")
    verdict = verify_records(saved, store.read(tmp_path / "people.jsonl", PERSON), store.plain(PERSON))
    assert verdict.errors == ()
    assert verdict.losses == ("status: Status comes back as int",)


def test_stored_records_are_loaded_again(tmp_path):
    whole = records("entities-nested", 30)
    for data in (whole, whole.take([3, 3, 29])):
        assert RecordOperations.store(data, tmp_path / "data") == (data.count, 8)
        found = RecordOperations.load(tmp_path / "data")
        assert found.objects == data.objects
        assert found.digest == data.digest == stored.facts(tmp_path / "data").digest


def test_a_first_call_imports_the_libraries(tmp_path):
    store = record_stores.get("JSON")
    stored.store(records("entities", 5), tmp_path / "data")
    file = tmp_path / "file.jsonl"
    assert first_call.first_seconds(["save", "JSON", tmp_path / "data", file, "gzip", "1"]) > 0
    assert store.codec_used(file) == "gzip"
    assert first_call.first_seconds(["read", "JSON", tmp_path / "data", file]) > 0
    with pytest.raises(RuntimeError, match="there is no file"):
        first_call.first_seconds(["read", "JSON", tmp_path / "data", tmp_path / "gone.jsonl"])


class Planted(type(record_stores.find("Pickle"))):
    """A store whose records are of known size, whatever the file contains."""

    def _read(self, path, of):  # noqa: ARG002 (as the family calls it)
        return [bytearray(PLANTED_BYTES // 1000) for _ in range(1000)]


def held_bytes(path, file):
    operations = operations_on(Planted(), path, records("entities", 3))
    operations.verify = lambda *_: None
    operations.warm_up()
    found = measure_step(step("read"), operations, lambda: None, file, EFFORT)
    return next(each.repeats[0] for each in found if each and each.metric == "held memory")


def test_a_planted_object_is_found_within_5_percent(tmp_path):
    file = tmp_path / "file.pickle"
    record_stores.get("Pickle").save(records("entities", 3), file)
    outcome = isolation.run(held_bytes, tmp_path / "data", file, limit_seconds=60)
    assert outcome.value == pytest.approx(PLANTED_BYTES, rel=0.05), outcome.sentence


@pytest.mark.parametrize("words", ["timestamp or null", "list of record", "map of lists with nulls"])
def test_own_records_are_stored_as_data_and_loaded_again(words, tmp_path):
    data = EDGE_CASE_RECORDS[words]
    assert RecordOperations.store(data, tmp_path / "data") == (data.count, 2)
    found = RecordOperations.load(tmp_path / "data")
    assert [each.name for each in tmp_path.iterdir()] == ["data"]
    assert list(map(found.of.plain, found.objects)) == list(map(data.of.plain, data.objects))
    assert digest(map(found.of.plain, found.objects), found.of) == data.digest
    operations = operations_on(record_stores.get("JSON"), tmp_path / "data", data)
    operations.warm_up()
    for each in FAMILY.steps[:2]:
        measured = measure_step(each, operations, lambda: found, tmp_path / "file.jsonl", EFFORT)
        assert all(one.repeats for one in measured), each.name


@pytest.mark.parametrize(
    ("label", "words", "loss"),
    [
        ("JSON", "timestamp", "value: datetime comes back as str"),
        ("JSON", "bytes or null", ""),
        ("JSON[orjson]", "decimal", "value: Decimal comes back as str"),
        ("JSON[msgspec]", "timestamp", ""),
        ("MessagePack", "timestamp", "value: datetime comes back as int"),
        ("SQLite", "bool", "value: bool comes back as int"),
        ("SQLite", "bool or null", ""),
        ("Avro", "decimal", ""),
        ("Parquet", "timestamp", ""),
        ("BSON", "decimal", "value: Decimal comes back as Decimal128"),
    ],
)
def test_a_kind_that_comes_back_as_another_one_is_a_loss(label, words, loss, tmp_path):
    saved, store = EDGE_CASE_RECORDS[words], record_stores.get(label)
    store.save(saved, tmp_path / "file")
    verdict = verify_records(saved, store.read(tmp_path / "file", saved.of), store.plain(saved.of))
    assert (verdict.errors, verdict.losses) == ((), (loss,) if loss else ())


def test_values_that_are_not_the_same_are_named():
    for words, wrong, shown in (
        ("negative zero", 0.0, "-0.0 came back as 0.0"),
        ("double", 1, "0.0 came back as 1"),
        ("bool", 1, "True came back as 1"),
        ("int64 or null", 0, "None came back as 0"),
        ("map", {"a": None}, "{} came back as {'a': None}"),
        ("union", 1.0, "1 came back as 1.0"),
        ("list of lists", [[]], "[] came back as [[]]"),
    ):
        saved = EDGE_CASE_RECORDS[words]
        made = saved.of.object_class
        first, *others = saved.objects
        verdict = verify_records(saved, [made(first.first_key, wrong), *others], saved.of.plain)
        assert verdict.errors == (f"value of record 0: {shown}",), words
