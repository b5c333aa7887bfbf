"""Records: reading, writing, validation, and writers that are killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import asdict, fields, replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from adapter_core.adapter import engine_of
from adapter_core.errors import (
    FormatBenchError,
    InvalidRecordError,
    InvalidResultsError,
    UnknownNameError,
)
from format_bench.results import records
from format_bench.results.export import DICTIONARY, export, flat_rows
from format_bench.results.metrics import METRICS
from format_bench.results.record_form import schema, validate
from format_bench.results.records import Record, append, read, under
from format_bench.results.status import CellStatus
from tests.helpers import ROOT

NAMES = [field.name for field in fields(Record)]
OPTIONAL = {
    "round_sizes", "query", "machine", "cpu_repeats", "loop_repeats", "environment", "schema"
}  # fmt: skip
"""Fields that records of earlier versions lack."""

GOOD = Record(
    suite="tabular.TabularRead",
    format="Parquet[polars]",
    engine="polars",
    dataset="eq",
    rows=50_000,
    columns=12,
    codec="zstd",
    level=3,
    conditions={"cache": "cold", "threads": "all"},
    metric="read time",
    unit="seconds",
    value=0.1,
    repeats=[0.1, 0.2, 0.30000000000000004],
    interval=[0.1, 0.2],
    status=CellStatus.VALUE,
    sentence="",
    run_id="2024-05-01-a",
)
EMPTY = replace(
    GOOD,
    format="Excel",
    engine="",
    codec=None,
    level=None,
    conditions={"threads": "1"},
    metric="size",
    unit="bytes",
    value=None,
    repeats=[],
    interval=None,
    status=CellStatus.UNSUPPORTED,
    sentence='größer als 1,048,576 行, "so"\nit\u2028is\r\u0085not\0held',
)
COUNTED = replace(GOOD, metric="lost columns", unit="columns", value=0, repeats=[0], interval=None)


AXES = ["cache", "threads", "track", "medium"]
COLUMNS = [*NAMES[:8], "lossy", *AXES, *NAMES[9:]]


def record_of(row):
    row.pop("lossy")
    own = {name: row.pop(name) for name in AXES}
    return Record(**row, conditions={name: value for name, value in own.items() if value})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.jsonl"


@pytest.fixture
def filled(path):
    for record in (GOOD, EMPTY, COUNTED):
        append(path, record)
    return path


def test_records_come_back_as_they_were(filled):
    assert read(filled) == [GOOD, EMPTY, COUNTED]
    assert all(type(record.status) is CellStatus for record in read(filled))
    assert filled.read_bytes().count(b"\n") == 3
    assert "größer als 1,048,576 行" in filled.read_text(encoding="utf-8")


@pytest.mark.parametrize("status", CellStatus)
def test_every_status_comes_back(path, status):
    value = 0.1 if status is CellStatus.VALUE else None
    record = replace(GOOD, status=status, value=value, sentence="why")
    append(path, record)
    assert read(path) == [record]


@pytest.mark.parametrize(
    ("label", "engine"),
    [("Parquet[polars]", "polars"), ("Parquet", ""), ("HDF5.table", ""), ("Excel[a-b.c]", "a-b.c")],
)
def test_the_engine_of_a_label(label, engine):
    assert engine_of(label) == engine


def test_an_appended_record_is_on_disk(path, monkeypatch):
    synced = []
    fsync = os.fsync

    def spy(descriptor):
        synced.append((str(Path(f"/proc/self/fd/{descriptor}").readlink()), path.stat().st_size))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", spy)
    append(path, GOOD)
    one = path.stat().st_size
    assert synced == [(str(path.parent), 0), (str(path), one)]
    synced.clear()
    append(path, GOOD)
    assert synced == [(str(path), 2 * one)]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("unit", sorted({*(each.unit for each in METRICS.values()), "ms"}))
def test_a_metric_has_one_unit(metric, unit):
    facts = asdict(replace(GOOD, metric=metric, unit=unit))
    if METRICS[metric].unit == unit:
        validate(facts)
    else:
        with pytest.raises(InvalidRecordError, match=r"^(metric|unit) is "):
            validate(facts)


REFUSED = [
    ({"unit": "minutes"}, "unit is 'minutes', but must be one of"),
    ({"unit": "bytes"}, "metric is 'read time', but must be a metric in bytes, one of"),
    ({"metric": "speed"}, "metric is 'speed', but must be a metric in seconds, one of"),
    ({"value": -0.1}, "value is -0.1, but must be a finite number that is not negative"),
    ({"value": None}, "value is None, but must be a number, for the status is"),
    ({"value": float("nan")}, "value is nan, but must be a finite number"),
    ({"value": float("inf")}, "value is inf, but must be a finite number"),
    ({"value": 10**400}, "value is 1000"),
    ({"value": True}, "value is True, but must be a finite number"),
    ({"value": "0.1"}, "value is '0.1', but must be a finite number"),
    ({"value": np.int64(1)}, "value is "),
    ({"status": "timed out"}, "value is 0.1, but must be null, for the status is not"),
    ({"status": "failed", "value": None}, "sentence is '', but must be a sentence that says why"),
    ({"status": "failed", "value": None, "sentence": " \n"}, "sentence is "),
    ({"status": "fine"}, "status is 'fine', but must be one of"),
    ({"sentence": None}, "sentence is None, but must be text"),
    ({"sentence": "caf\udce9"}, "sentence is "),
    ({"repeats": [0.1, -0.2]}, "repeats[1] is -0.2, but must be a finite number that is not negative"),
    ({"repeats": [0.1, float("nan")]}, "repeats[1] is nan"),
    ({"repeats": [False]}, "repeats[0] is False"),
    ({"repeats": None}, "repeats is None, but must be an array of all samples"),
    ({"interval": [0.2, 0.1]}, "interval is [0.2, 0.1], but must have its lower end first"),
    ({"interval": [0.1]}, "interval is [0.1], but must be an array of two numbers, or null"),
    ({"interval": [0.1, 0.2, 0.3]}, "interval is [0.1, 0.2, 0.3], but must be an array of two"),
    ({"interval": [0.1, float("inf")]}, "interval[1] is inf"),
    ({"interval": [True, 2]}, "interval[0] is True"),
    ({"rows": True}, "rows is True, but must be a whole number"),
    ({"rows": -1}, "rows is -1"),
    ({"rows": 1.0}, "rows is 1.0"),
    ({"columns": -1}, "columns is -1"),
    ({"columns": False}, "columns is False"),
    ({"level": True}, "level is True"),
    ({"level": "3"}, "level is '3'"),
    ({"codec": ""}, "codec is '', but must be text that is not empty, or null"),
    ({"conditions": {"cache": "hot"}}, 'conditions.cache is \'hot\', but must be one of "warm", "cold"'),
    ({"conditions": {"threads": 1}}, 'conditions.threads is 1, but must be one of "1", "all"'),
    ({"conditions": {"link": ""}}, "conditions.link is '', but must be text that is not empty"),
    ({"conditions": []}, "conditions is [], but must be an object of texts by name of an axis"),
    ({"engine": None}, "engine is None"),
    ({"suite": ""}, "suite is '', but must be text that is not empty"),
    ({"format": ""}, "format is ''"),
    ({"dataset": 5}, "dataset is 5"),
    ({"run_id": ""}, "run_id is ''"),
]


@pytest.mark.parametrize(("change", "sentence"), REFUSED)
def test_a_wrong_field_is_named_and_no_record_is_written(filled, change, sentence):
    before = filled.read_bytes()
    with pytest.raises(InvalidRecordError) as caught:
        append(filled, replace(GOOD, **change))
    assert str(caught.value).startswith(sentence)
    assert filled.read_bytes() == before
    assert isinstance(caught.value, FormatBenchError)


@pytest.mark.parametrize("name", [each for each in NAMES if each not in OPTIONAL])
def test_a_missing_field_is_named(name):
    facts = asdict(GOOD)
    del facts[name]
    with pytest.raises(InvalidRecordError, match=f"^the field {name} is missing$"):
        validate(facts)


def test_records_without_the_sizes_of_rounds_can_be_read(tmp_path):
    facts = asdict(GOOD)
    del facts["round_sizes"]
    path = tmp_path / "old.jsonl"
    path.write_text(json.dumps(facts) + "\n", encoding="utf-8")
    assert read(path) == [replace(GOOD, round_sizes=[])]


OLD = {"cache": "cold", "threads": "1", "track": "paper", "medium": "tmpfs"}


@pytest.mark.parametrize("form", [{}, {"schema": 2}])
@pytest.mark.parametrize("own", [OLD, {"cache": None, "threads": "all", "track": "", "medium": ""}])
def test_axes_with_fields_of_their_own_are_read_as_conditions(tmp_path, form, own):
    facts = {**asdict(GOOD), **own, **form}
    del facts["conditions"]
    if not form:
        # Lines of the first form have neither of these.
        facts = {name: value for name, value in facts.items() if name not in {"schema", "medium"}}
    path = tmp_path / "old.jsonl"
    path.write_text(json.dumps(facts) + "\n", encoding="utf-8")
    conditions = {name: value for name, value in own.items() if value and name in facts}
    assert read(path) == [replace(GOOD, conditions=conditions)]
    assert validate(facts) is None
    with pytest.raises(InvalidRecordError, match=r"^conditions.cache is 'hot', but must be one of"):
        validate(facts | {"cache": "hot"})


def test_values_of_an_unknown_axis_have_a_place_and_columns_of_their_own(tmp_path):
    found = under(GOOD, link="20 ms", medium="tmpfs")
    assert found.place == "eq on tmpfs, link 20 ms"
    assert records.key(found) != records.key(under(GOOD, medium="tmpfs"))
    export([GOOD, found], tmp_path / "results.csv")
    assert pd.read_csv(tmp_path / "results.csv")["link"].fillna("").tolist() == ["", "20 ms"]


def test_sizes_of_rounds_split_the_repeats():
    sized = replace(GOOD, repeats=[1.0, 2.0, 3.0], round_sizes=[1, 2])
    validate(asdict(sized))
    assert sized.repeats_by_round == [[1.0], [2.0, 3.0]]
    with pytest.raises(InvalidRecordError, match="must add up to the 3 repeats"):
        validate(asdict(replace(sized, round_sizes=[1, 1])))


def test_an_unknown_field_is_named():
    with pytest.raises(InvalidRecordError, match=r"^'speed' is not a field of a record$"):
        validate({**asdict(GOOD), "speed": 1})


def test_records_from_before_a_suite_had_tracks_are_on_the_first(tmp_path):
    path = tmp_path / "old.jsonl"
    for suite, track in (("query", ""), ("query.QueryTuned", "tuned"), ("tabular", "")):
        append(path, under(replace(GOOD, suite=suite), track=track))
    assert [each.track for each in read(path)] == ["defaults", "tuned", ""]


@pytest.mark.parametrize("facts", [None, [], "record", 1])
def test_a_record_is_an_object(facts):
    with pytest.raises(InvalidRecordError, match=r"^the record is .*, but must be an object$"):
        validate(facts)


def test_the_schema_is_one_and_has_the_fields_of_a_record():
    rules = schema()
    jsonschema.Draft202012Validator.check_schema(rules)
    assert list(rules["properties"]) == NAMES
    assert rules["required"] == [name for name in NAMES if name not in OPTIONAL]
    assert rules["properties"]["status"]["enum"] == list(CellStatus)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"", "Expecting value"),
        (b'{"suite": "a", "for', "Unterminated string"),
        (b'{"suite": "a"}', "the field format is missing"),
        (b"\xff\xfe", "can't decode"),
        (b"[" * 100_000, "recursion"),
        (json.dumps(asdict(replace(GOOD, value=float("nan")))).encode(), "value is nan"),
        (json.dumps({**asdict(GOOD), "unit": "ms"}).encode(), "unit is 'ms'"),
    ],
)
def test_a_bad_line_is_an_error_that_names_file_and_line(filled, line, what):
    lines = filled.read_bytes().splitlines()
    for number in (1, 3):
        filled.write_bytes(b"\n".join([*lines[: number - 1], line, *lines[number:], b""]))
        with pytest.raises(InvalidResultsError) as caught:
            read(filled)
        assert str(caught.value).startswith(f"{filled}, line {number}: ")
        assert what in str(caught.value)


LINES = [
    *(asdict(each) for each in (GOOD, EMPTY, COUNTED)),
    {name: value for name, value in asdict(GOOD).items() if name not in OPTIONAL},
    *({**asdict(GOOD), **change} for change, _ in REFUSED if change != {"value": np.int64(1)}),
    *({**asdict(GOOD), "round_sizes": sizes} for sizes in ([1, 2], [1, 1], [-1, 4], None)),
    *({**asdict(GOOD), "schema": form} for form in (1, "2", None, 2.0)),
    *({k: v for k, v in asdict(GOOD).items() if k != name} for name in NAMES),
    {**asdict(GOOD), "speed": 1},
    {**asdict(GOOD), "repeats": [10**400]},
    {**asdict(EMPTY), "interval": [-(10**400), 0]},
    {**asdict(EMPTY), "sentence": "\u2003"},
    [], None, 1, "record", {},
]  # fmt: skip


@pytest.mark.parametrize("facts", LINES, ids=range(len(LINES)))
def test_the_reader_takes_what_the_schema_takes(path, facts):
    path.write_text(json.dumps(facts) + "\n", encoding="utf-8")
    try:
        validate(facts)
    except InvalidRecordError as error:
        with pytest.raises(InvalidResultsError, match=r", line 1: ") as caught:
            read(path)
        reason = str(error) if "NaN" not in path.read_text(encoding="utf-8") else " is "
        assert reason in str(caught.value)
    else:
        (found,) = read(path)
        assert {name: asdict(found)[name] for name in facts} == facts


def test_numbers_keep_their_kind(path):
    append(path, replace(COUNTED, repeats=[1, 2.0]))
    (found,) = read(path)
    assert [type(each) for each in (found.value, *found.repeats)] == [int, int, float]


def test_records_of_a_newer_form_are_refused_with_both_forms_and_a_remedy(filled):
    lines = filled.read_bytes().splitlines()
    newer = {**json.loads(lines[1]), "schema": 5, "humidity": 0.4, "value": "of another type"}
    filled.write_bytes(b"\n".join([lines[0], json.dumps(newer).encode(), b""]))
    with pytest.raises(InvalidResultsError) as caught:
        read(filled)
    assert str(caught.value) == (
        f"{filled}, line 2: its form of records is 5, and this FormatBench reads forms up to 4; "
        "upgrade it: pip install --upgrade formatbench"
    )


def test_a_record_is_written_with_its_form_and_read_without_one_as_the_first(path):
    append(path, GOOD)
    facts = json.loads(path.read_text(encoding="utf-8"))
    assert facts.pop("schema") == 4
    path.write_text(json.dumps(facts) + "\n", encoding="utf-8")
    assert read(path) == [GOOD]


def test_records_of_form_3_have_no_times_beside_their_repeats(path):
    facts = {**asdict(GOOD), "schema": 3}
    del facts["cpu_repeats"], facts["loop_repeats"]
    path.write_text(json.dumps(facts) + "\n", encoding="utf-8")
    assert read(path) == [replace(GOOD, schema=3)]


@pytest.mark.parametrize("name", ["cpu_repeats", "loop_repeats"])
def test_each_repeat_has_a_time_beside_it_or_none_has(path, name):
    append(path, replace(GOOD, **{name: [0.1, 0.1, 0.2]}))
    with pytest.raises(InvalidRecordError, match=f"{name} has 2 numbers, but must have one for each"):
        append(path, replace(GOOD, **{name: [0.1, 0.1]}))


def test_the_error_of_a_bad_line_names_the_command_that_helps(tmp_path):
    path = tmp_path / "a folder" / "results.jsonl"
    path.parent.mkdir()
    append(path, GOOD)
    path.write_bytes(path.read_bytes() + b"\0" * 9)
    for blocked in (lambda: read(path), lambda: append(path, GOOD)):
        with pytest.raises(InvalidResultsError) as caught:
            blocked()
        assert str(caught.value).endswith(f"; `format-bench repair '{path}'` keeps the good lines")


def test_a_last_line_torn_anywhere_is_ignored_and_then_cut_off(filled):
    whole = filled.read_bytes()
    begin = whole.rstrip(b"\n").rindex(b"\n") + 1
    for end in range(begin, len(whole)):
        filled.write_bytes(whole[:end])
        assert read(filled) == [GOOD, EMPTY]
        append(filled, COUNTED)
        assert filled.read_bytes() == whole


def test_a_torn_first_line_is_cut_off(path):
    path.write_bytes(b'{"suite": "a')
    assert read(path) == []
    append(path, GOOD)
    assert read(path) == [GOOD]


@pytest.mark.parametrize("content", [b"PAR1\0\0PAR1", b"a,b\n1,2", b'{"a": 1}', b"\0\0\0"])
def test_a_file_that_is_not_of_records_is_left_unchanged(path, content):
    path.write_bytes(content)
    with pytest.raises(InvalidResultsError, match=rf"{path}, line \d: "):
        append(path, GOOD)
    assert path.read_bytes() == content
    with pytest.raises(InvalidResultsError, match=rf"{path}, line \d: "):
        read(path)


def test_a_missing_file_is_an_error(path):
    with pytest.raises(FileNotFoundError):
        read(path)


APPENDING = """
import dataclasses, pathlib, sys
from format_bench.results.records import append, read

path, source, first, count, sentence_bytes = sys.argv[1:]
record = dataclasses.replace(read(source)[0], sentence="é" * (int(sentence_bytes) // 2))
for rows in range(int(first), int(first) + int(count)):
    append(path, dataclasses.replace(record, rows=rows))
    print(rows, flush=True)
"""


@pytest.fixture
def appending(path, root):
    """Return a function that starts a process that appends records of rows first, first + 1, ..."""
    source = path.with_name("source.jsonl")
    append(source, GOOD)

    def start(first, count, sentence_bytes):
        arguments = map(str, (path, source, first, count, sentence_bytes))
        command = [sys.executable, "-c", APPENDING, *arguments]
        return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)

    return start


def test_a_killed_writer_loses_no_acknowledged_record(path, appending):
    moments = random.Random(5)
    acknowledged: list[int] = []
    for kill in range(10):
        first = 1_000_000 * kill
        with appending(first, 1_000_000, sentence_bytes=50_000) as child:
            new = [int(child.stdout.readline())]
            time.sleep(moments.uniform(0, 0.1))
            child.send_signal(signal.SIGKILL)
            new += [int(line) for line in child.stdout.read().splitlines()]
        assert child.returncode == -signal.SIGKILL
        acknowledged += new
        found = [record.rows for record in read(path)]
        # The last line may be complete and its acknowledgement not sent.
        assert found in (acknowledged, [*acknowledged, new[-1] + 1])
        acknowledged = found
        append(path, replace(GOOD, rows=first + 999_999))
        acknowledged.append(first + 999_999)
        assert [record.rows for record in read(path)] == acknowledged
    assert len(pd.read_json(path, lines=True)) == len(acknowledged)


def test_a_writer_killed_in_the_middle_of_a_line_leaves_a_torn_one(path, appending):
    append(path, GOOD)
    whole = path.read_bytes()
    for _ in range(20):
        # Long enough to write that a kill, sent when the file begins to grow, falls into it.
        with appending(0, 1, sentence_bytes=40_000_000) as child:
            while path.stat().st_size == len(whole) and child.poll() is None:
                pass
            child.send_signal(signal.SIGKILL)
        if not path.read_bytes().endswith(b"\n"):
            break
        path.write_bytes(whole)
    assert path.stat().st_size > len(whole)
    assert not path.read_bytes().endswith(b"\n")
    assert read(path) == [GOOD]
    append(path, EMPTY)
    assert read(path) == [GOOD, EMPTY]
    assert path.read_bytes().startswith(whole)


def test_processes_that_append_at_once_damage_no_record(path, appending):
    children = [appending(1000 * each, 50, sentence_bytes=50_000) for each in range(3)]
    for child in children:
        child.communicate()
        assert child.returncode == 0
    found = [record.rows for record in read(path)]
    assert sorted(found) == [1000 * each + rows for each in range(3) for rows in range(50)]


def test_pandas_reads_the_file_in_one_line(filled):
    df = pd.read_json(filled, lines=True)
    assert list(df.columns) == [field.name for field in fields(Record)]
    assert df["value"].tolist()[::2] == [0.1, 0.0]
    assert pd.isna(df["value"][1])
    assert df["repeats"].tolist() == [GOOD.repeats, [], [0]]
    assert df["sentence"][1] == EMPTY.sentence
    assert df["status"].tolist() == ["value", "unsupported", "value"]
    assert [each["threads"] for each in df["conditions"]] == ["all", "1", "all"]


def test_an_exported_csv_has_lists_as_json(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("old")
    old = path.stat().st_ino
    export([GOOD, EMPTY, COUNTED], path)
    assert path.stat().st_ino != old
    df = pd.read_csv(path, dtype=str, keep_default_na=False, lineterminator="\n")
    assert list(df.columns) == COLUMNS
    assert [json.loads(text) for text in df["repeats"]] == [GOOD.repeats, [], [0]]
    assert df["interval"].tolist() == ["[0.1, 0.2]", "", ""]
    assert df["value"].tolist() == ["0.1", "", "0"]
    assert df["status"].tolist() == ["value", "unsupported", "value"]
    assert df["sentence"][1] == EMPTY.sentence
    assert [file.name for file in tmp_path.iterdir()] == ["results.csv"]


@pytest.mark.parametrize("rows", [[GOOD, EMPTY, COUNTED], [EMPTY], []])
def test_an_exported_parquet_file_has_lists(tmp_path, rows):
    from pyarrow import parquet

    path = tmp_path / "results.parquet"
    export(iter(rows), path)
    table = parquet.read_table(path)
    assert [record_of(row) for row in table.to_pylist()] == rows
    assert table.schema.names == COLUMNS
    assert str(table.schema.field("value").type) == "double"
    assert str(table.schema.field("level").type) == "int64"
    assert pd.read_parquet(path).shape == (len(rows), len(COLUMNS))


def test_each_column_of_an_exported_file_has_its_own_description():
    names, _ = flat_rows([GOOD])
    assert set(DICTIONARY) == set(names)
    assert len(set(DICTIONARY.values())) == len(names)
    page = (ROOT / "docs" / "reading_results.md").read_text(encoding="utf-8")
    assert [name for name, text in DICTIONARY.items() if f"| `{name}` | {text} |" not in page] == []


@pytest.mark.parametrize("name", ["results.csv", "results.parquet"])
def test_exports_say_what_is_lossy(tmp_path, name):
    jpeg = replace(GOOD, suite="image", format="JPEG", engine="", codec=None, level=None)
    export([jpeg, GOOD], tmp_path / name)
    df = pd.read_csv(tmp_path / name) if name.endswith("csv") else pd.read_parquet(tmp_path / name)
    assert "change" in df["lossy"][0]
    assert df["lossy"].fillna("")[1] == ""


@pytest.mark.parametrize("name", ["results.xlsx", "results", "results.CSV", ".csv"])
def test_another_file_suffix_is_refused(tmp_path, name):
    with pytest.raises(UnknownNameError, match=r"\.csv"):
        export([GOOD], tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["results.csv", "results.parquet"])
def test_an_export_that_fails_leaves_the_earlier_file(tmp_path, name):
    path = tmp_path / name
    export([EMPTY], path)
    before = path.read_bytes()
    with pytest.raises((TypeError, ValueError)):
        export([GOOD, replace(GOOD, repeats=[object()])], path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [name]
