"""`run` and `recommend` with a user's own records: outcomes of stores, one line for what is wrong."""

from __future__ import annotations

import json

import pytest

import record_stores
from format_bench.cli.main import main
from format_bench.results import records
from format_bench.results.load import RESULTS

PEOPLE = [
    {
        "id": n,
        "name": f"person {n}",
        "height": 1.5 + n / 100,
        "active": n % 2 == 0,
        "nickname": None if n % 3 else "",
        "tags": ["a", "b"][: n % 3],
        "home": {"city": "Brno", "at": [[16.6, 49.2], [float(n), 0.0]]},
    }
    for n in range(40)
]


@pytest.fixture
def called(tmp_path, monkeypatch, capfd, libraries_unasked):  # noqa: ARG001 (for what it does)
    """Call a command in a folder with people.jsonl; return its status, its output and its errors."""
    text = "".join(f"{json.dumps(each)}\n" for each in PEOPLE)
    (tmp_path / "people.jsonl").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        said = capfd.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


def outcomes(folder):
    found = {}
    for each in records.read(folder / "out" / RESULTS):
        if each.metric in {"size", "lost fields"}:
            found.setdefault(each.format, {})[each.metric] = (each.status, each.value, each.sentence)
    return found


def test_each_store_measures_own_records_or_says_which_field_it_lacks(called, tmp_path):
    status, out, err = called(
        *("run", "--suite", "records", "--data", "people.jsonl", "--repeats", 1, "--codecs", "none"),
        *("--steps", "save,read", "--out", "out"),
        *("--formats", "JSON,JSON[orjson],Avro,Parquet,MessagePack,Protobuf,FlatBuffers,SQLite,Pickle"),
    )
    assert status == 0, err
    assert "40 records with 9 fields" in out
    assert "home.at list of list of double" in " ".join(out.split())
    found = outcomes(tmp_path)
    for label in ("JSON", "JSON[orjson]", "Avro", "Parquet", "MessagePack", "Pickle"):
        assert found[label]["lost fields"][:2] == ("value", 0), found[label]
    cannot = "cannot store these records: the field"
    sentences = {label: found[label]["size"][2] for label in ("Protobuf", "FlatBuffers", "SQLite")}
    assert sentences == {
        "Protobuf": f"Protobuf {cannot} home.at is of the kind list of lists; a repeated "
        "field has values alone, and is never null",
        "FlatBuffers": f"FlatBuffers {cannot} home.at is of the kind list of lists; a vector "
        "has no vectors for elements",
        "SQLite": f"SQLite {cannot} tags is of the kind list; a table has columns of single values, and "
        "others would need more tables",
    }
    assert {found[label]["size"][0] for label in sentences} == {"unsupported"}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "people.jsonl"]


def test_a_schema_is_part_of_what_is_measured(called, tmp_path):
    fields = [{"name": "id", "type": "int"}, {"name": "at", "type": LONG}]
    (tmp_path / "a.avsc").write_text(json.dumps({"type": "record", "name": "A", "fields": fields}))
    (tmp_path / "a.jsonl").write_text('{"id": 1, "at": "2024-01-02T03:04:05Z"}\n')
    own = ("run", "--suite", "records", "--data", "a.jsonl", "--formats", "Avro,BSON", "--repeats", 1)
    own += ("--codecs", "none", "--steps", "save,read", "--out", "out")
    status, out, err = called(*own, "--schema", "a.avsc")
    assert status == 0, err
    assert "at timestamp" in " ".join(out.split())
    assert outcomes(tmp_path)["Avro"]["lost fields"][:2] == ("value", 0)
    assert (
        "the field at is of the kind timestamp; its dates have" in outcomes(tmp_path)["BSON"]["size"][2]
    )
    status, _, err = called(*own)
    assert status == 2
    assert "contains results of another a; start over with --fresh" in err


LONG = {"type": "long", "logicalType": "timestamp-micros"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "--suite", "records", "--data", "a.csv"), "a.csv: line 1 is no JSON: Expecting value"),
        (("run", "--suite", "records", "--data", "none"), "there is no such file"),
        (
            ("run", "--data", "people.jsonl", "--schema", "a"),
            "--schema needs --data and --suite records",
        ),
        (("run", "--suite", "records", "--schema", "a"), "--schema needs --data and --suite records"),
        (
            ("run", "--suite", "records", "--data", "people.jsonl", "--schema", "a.csv"),
            "a.csv: is no schema: Expecting value (line 1)",
        ),
        (
            ("run", "--suite", "records", "--data", "people.jsonl", "--schema", "none"),
            "none: there is no such file",
        ),
        (
            ("recommend", "--data", "people.jsonl", "--suite", "tabular"),
            "or another --suite than records",
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_what_cannot_be_is_said_in_one_line(called, tmp_path, arguments, words):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    status, out, err = called(*arguments)
    assert status == 2
    assert words in " ".join(err.split())
    assert out == ""
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.csv", "people.jsonl"]


@pytest.mark.jvm
@pytest.mark.costly("adapter_core.records.jvm", "format_bench.families.records.jvm_cells")
def test_stores_of_the_jvm_take_own_records_or_say_why_not(called, tmp_path):
    if not (answer := record_stores.jvm.availability()):
        pytest.skip(f"{answer.reason}; try: {answer.install_hint}")
    fields = [
        {"name": "id", "type": "long"},
        {"name": "at", "type": LONG},
        {"name": "grid", "type": {"type": "array", "items": {"type": "array", "items": "double"}}},
        {"name": "note", "type": ["null", "string"]},
    ]
    (tmp_path / "a.avsc").write_text(json.dumps({"type": "record", "name": "A", "fields": fields}))
    rows = [{"id": n, "at": "2024-01-02T03:04:05Z", "grid": [[1.0], []]} for n in range(20)]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    labels = ("JSON.jackson[jvm]", "Avro.generic[jvm]", "Protobuf[jvm]", "Fory[jvm]")
    status, _, err = called(
        *("run", "--suite", "records", "--data", "a.jsonl", "--schema", "a.avsc", "--repeats", 1),
        *("--codecs", "none", "--steps", "save,read", "--out", "out", "--formats", ",".join(labels)),
    )
    assert status == 0, err
    found = outcomes(tmp_path)
    lost = "at: Instant comes back as String"
    assert found["JSON.jackson[jvm]"]["lost fields"] == ("value", 1, lost)
    assert found["Avro.generic[jvm]"]["lost fields"][:2] == ("value", 0)
    assert {label: found[label]["size"][2].partition(" records: ")[2] for label in labels[2:]} == {
        "Protobuf[jvm]": "the field grid is of the kind list of lists; a repeated field has values "
        "alone, and is never null",
        "Fory[jvm]": "its records here are of classes, which data do not bring",
    }


@pytest.mark.costly("format_bench.racing")
def test_own_records_are_raced(called):
    status, out, err = called(
        *("recommend", "--data", "people.jsonl", "--suite", "records", "--time-budget", "40s"),
        *("--require", "safe", "--explain"),
    )
    assert status == 0, err
    assert "Use " in out
    assert "MicroStream" not in out.partition("excluded")[0]
