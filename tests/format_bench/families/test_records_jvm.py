"""Measurements of record stores of the JVM: samples of a JVM, digests, reasons."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import data_generator
import record_stores
from adapter_core import CannotHoldError, RecordSet
from adapter_core.entities import PERSON
from adapter_core.errors import WrongValuesError
from format_bench.families.measuring import measure_steps
from format_bench.families.records import jvm_cells
from format_bench.families.records.operations import RecordOperations
from format_bench.instruments.clock import Effort
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from record_stores import JvmRequest

FAMILY = FAMILIES["records"]
ONE_CALL = Effort(budget_seconds=0.0, min_repeats=1)
SIX_CALLS = Effort(budget_seconds=0.0, min_repeats=3)


def operations_on(label, tmp_path, dataset, count):
    store = record_stores.find(label)
    if not (answer := store.availability()):
        pytest.skip(answer.reason)
    data = data_generator.records(dataset, count).records
    RecordOperations.store(data, tmp_path / "data")
    operations = RecordOperations(store)
    operations.expect(tmp_path / "data")
    operations.warm_up()
    return operations


def measured(operations, file, *names, effort=ONE_CALL):
    steps = [each for each in FAMILY.steps if each.name in names]
    found = measure_steps(steps, operations, pytest.fail, file, effort)
    return {name: {each.metric: each for each in values} for name, values in found.items()}


def test_metrics_are_samples_of_a_jvm_or_have_a_reason(tmp_path):
    operations = operations_on("Kryo[jvm]", tmp_path, "entities", 500)
    file = tmp_path / "file.kryo"
    found = measured(operations, file, "save", "read", "cold read", effort=SIX_CALLS)
    for step in FAMILY.steps[:3]:
        assert list(found[step.name]) == list(step.metrics)
    save = found["save"]["save time"]
    assert re.match(
        r"\d calls? of warm-up(, and not steady: the 3 measured ones vary by .*%)?; ", save.sentence
    )
    assert "heap of 4" in save.sentence.replace("3.9", "4")
    # Half of the six calls, unless five happen to agree.
    assert len(save.repeats) == len(save.cpu) in {3, 5}
    assert save.cpu == found["save"]["save CPU time"].repeats
    assert found["save"]["size"].repeats == [file.stat().st_size]
    assert found["save"]["save memory"].status is CellStatus.UNSUPPORTED
    # An object of 5 numbers and 5 references to texts at least.
    assert found["read"]["held memory"].repeats[0] > 500 * 100
    assert "class Entity" in found["read"]["held memory"].sentence
    assert found["read"]["lost fields"].repeats == [0]
    assert "steady state" in found["cold read"]["read time"].sentence


def test_without_a_budget_one_call_follows_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr(jvm_cells, "HEAP_BYTES_PER_RECORD", 5 * 2**30 // 500)
    found = measured(operations_on("Kryo[jvm]", tmp_path, "entities", 500), tmp_path / "file", "save")
    save = found["save"]["save time"]
    assert len(save.repeats) == 1
    assert save.sentence.startswith("1 call of warm-up, and one measured: not known to be steady; ")
    assert "heap of 4.8" in save.sentence


@pytest.mark.parametrize(
    ("is_steady", "variation", "words"),
    [
        (True, 0.013, "7 calls of warm-up"),
        (False, 0.123, "7 calls of warm-up, and not steady: the 5 measured ones vary by 12.3%"),
    ],
)
def test_the_warm_up_is_put_into_words(is_steady, variation, words):
    answers = [{"event": "call", "number": number} for number in range(1, 13)]
    facts = {"calls": 7, "is_steady": is_steady, "variation": variation}
    answers = [{"event": "ready"}, *answers, {"event": "warm-up", **facts}, {"event": "end"}]
    assert [each["number"] for each in jvm_cells.steady_calls(answers)] == [8, 9, 10, 11, 12]
    assert jvm_cells.warm_up_words(answers) == words


def test_another_digest_fails_the_read(tmp_path):
    operations = operations_on("Kryo[jvm]", tmp_path, "entities", 20)
    file = tmp_path / "file.kryo"
    operations.save(operations.load(tmp_path / "data"), file)
    operations.stored = replace(operations.stored, digest="0" * 64)
    with pytest.raises(WrongValuesError, match="the digest of 20 records differs"):
        measured(operations, file, "read")


def test_records_that_a_jvm_cannot_make_or_keep_are_refused(tmp_path):
    operations = operations_on("SQLite[jvm]", tmp_path, "entities-nested", 3)
    with pytest.raises(CannotHoldError, match="cannot store these records"):
        measured(operations, tmp_path / "file.sqlite", "save")
    operations.stored = replace(operations.stored, name="")
    with pytest.raises(CannotHoldError, match=r"the field status|the field tags"):
        measured(operations, tmp_path / "file.sqlite", "save")


def test_own_records_are_given_to_the_jvm_and_need_a_larger_heap_than_others(tmp_path, monkeypatch):
    store = record_stores.find("MessagePack[jvm]")
    if not (answer := store.availability()):
        pytest.skip(answer.reason)
    named = data_generator.records("entities-nested", 200).records
    RecordOperations.store(RecordSet.of_objects(PERSON, named.objects), tmp_path / "data")
    operations = RecordOperations(store)
    operations.expect(tmp_path / "data")
    size = (tmp_path / "data").stat().st_size
    monkeypatch.setattr(jvm_cells, "HEAP_BYTES_PER_BYTE", 5 * 2**30 // size)
    found = measured(operations, tmp_path / "file", "save", "read")
    assert "heap of 4.8" in found["save"]["save time"].sentence
    assert "class LinkedHashMap" in found["read"]["held memory"].sentence
    assert found["read"]["lost fields"].repeats == [0]
    # Written once, for all JVMs.
    assert sorted(each.name for each in tmp_path.iterdir()) == ["data", "data.fields", "file"]


@pytest.mark.parametrize(
    ("python", "jvm"),
    [
        ("Avro", "Avro.specific[jvm]"),
        ("JSON[orjson]", "JSON.jackson[jvm]"),
        ("Protobuf[delimited]", "Protobuf[jvm]"),
    ],
)
def test_the_jvm_reads_files_of_python(python, jvm, tmp_path):
    reader, writer = record_stores.find(jvm), record_stores.find(python)
    if not (answer := reader.availability()):
        pytest.skip(answer.reason)
    data = data_generator.records("entities", 100).records
    file = tmp_path / f"file{reader.suffix}"
    writer.save(data, file)
    answers = reader.run(JvmRequest("check", "entities", 100, file), 60)
    assert [each["digest"] for each in answers if each["event"] == "check"] == [data.digest], answers
