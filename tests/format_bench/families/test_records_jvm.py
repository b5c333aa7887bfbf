"""Measurements of record stores of the JVM: samples of a JVM, digests, reasons."""

from __future__ import annotations

from dataclasses import replace

import pytest

import data_generator
import record_stores
from adapter_core import CannotHoldError
from adapter_core.errors import WrongValuesError
from format_bench.families.measuring import measure_steps
from format_bench.families.records import jvm_cells
from format_bench.families.records.operations import RecordOperations
from format_bench.instruments.clock import Effort
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from record_stores import JvmRequest

FAMILY = FAMILIES["records"]
EFFORT = Effort(budget_seconds=0.0, min_repeats=1)


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


def measured(operations, file, *names):
    steps = [each for each in FAMILY.steps if each.name in names]
    found = measure_steps(steps, operations, pytest.fail, file, EFFORT)
    return {name: {each.metric: each for each in values} for name, values in found.items()}


def test_metrics_are_samples_of_a_jvm_or_have_a_reason(tmp_path):
    operations = operations_on("Kryo[jvm]", tmp_path, "entities", 500)
    file = tmp_path / "file.kryo"
    found = measured(operations, file, "save", "read", "cold read")
    for step in FAMILY.steps[:3]:
        assert list(found[step.name]) == list(step.metrics)
    assert len(found["save"]["save time"].repeats) == 3
    assert "heap of 4" in found["save"]["save time"].sentence.replace("3.9", "4")
    assert found["save"]["size"].repeats == [file.stat().st_size]
    assert found["save"]["save memory"].status is CellStatus.UNSUPPORTED
    # An object of 5 numbers and 5 references to texts at least.
    assert found["read"]["held memory"].repeats[0] > 500 * 100
    assert "class Entity" in found["read"]["held memory"].sentence
    assert found["read"]["lost fields"].repeats == [0]
    assert "steady state" in found["cold read"]["read time"].sentence


def test_many_records_have_a_larger_heap_and_fewer_calls(tmp_path, monkeypatch):
    monkeypatch.setattr(jvm_cells, "MANY_RECORDS", 400)
    monkeypatch.setattr(jvm_cells, "HEAP_BYTES_PER_RECORD", 5 * 2**30 // 500)
    found = measured(operations_on("Kryo[jvm]", tmp_path, "entities", 500), tmp_path / "file", "save")
    assert len(found["save"]["save time"].repeats) == 1
    assert "heap of 4.8" in found["save"]["save time"].sentence


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
    with pytest.raises(CannotHoldError, match="named data sets"):
        measured(operations, tmp_path / "file.sqlite", "save")


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
