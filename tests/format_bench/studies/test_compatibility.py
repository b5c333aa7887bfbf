"""The study of compatibility: planted faults of readers are found, judged and reduced."""

from __future__ import annotations

import sys
from importlib.metadata import version
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from adapter_core.errors import InvalidRequestError, UnknownNameError
from format_bench.cli.main import format_bench
from format_bench.compatibility import features, foreign
from format_bench.compatibility.verdicts import Verdict
from format_bench.results import flat_csv
from format_bench.results.load import load
from format_bench.results.shipped import FeatureReading
from format_bench.results.status import CellStatus
from format_bench.runner.shards import merge
from format_bench.studies.compatibility import INSTRUMENT
from format_bench.studies.compatible import matrix_pages
from format_bench.studies.compatible.feature_pages import readings
from format_bench.studies.compatible.matrix_rows import CompatibilityRow
from tests.factories import foreign_toys
from tests.factories.library_sets import make_library_set

TABLE = "text like integers, later not"
"""1, 2, 3 and x beside the numbers of the rows."""
OTHER = "text with blanks around"
FEATURES = [each.name for each in features.find("CSV").features]


@pytest.fixture
def readers(tmp_path, monkeypatch):
    folder = tmp_path / "readers"
    monkeypatch.setattr(foreign, "FOLDER", folder)
    return folder


def measured(out, **options):
    readers = ",".join(["CSV", *foreign.names()])
    usual = {
        "formats": "CSV",
        "features": "",
        "readers": readers,
        "sets": "",
        "tables": (TABLE,),
        "limit": 20.0,
        "reductions": 9,
    }
    rows, _ = INSTRUMENT.run(out, **(usual | options))
    return {(row.writer, row.reader, row.dataset): row for row in rows}


def test_planted_faults_are_judged_and_reduced(readers, tmp_path):
    foreign_toys.make(readers, "honest", "lying", "refusing", "crashing", "babbling")
    foreign_toys.declare(readers / "toolless", 'run = ["x"]', "[needs]", 'no-such-tool = "install it"')
    found = measured(tmp_path / "out", tables=(TABLE, OTHER))
    rows = {reader: row for (_, reader, table), row in found.items() if table == TABLE}
    smallest = "smallest table: column 'c', 1 row from row 3, in smallest/CSV-read-by-{}-"
    assert rows["CSV"].verdict is Verdict.SAME
    assert rows["honest"].verdict is Verdict.RETYPED
    assert rows["honest"].sentence == "another type: column row: int64 came back as utf8"
    assert (rows["lying"].verdict, rows["lying"].changed) == (Verdict.DIFFERENT, 1)
    told, _, part = rows["lying"].sentence.partition("; smallest")
    assert told.startswith("silently different: column c, row 3: 'x' came back as 'y'")
    assert f"smallest{part}".startswith(smallest.format("lying"))
    assert rows["refusing"].sentence.startswith("refused: NoXError: there is an x; ")
    assert smallest.format("refusing") in rows["refusing"].sentence
    assert rows["crashing"].sentence.startswith("crash: its process crashed (SIGSEGV); ")
    assert (rows["crashing"].status, rows["crashing"].changed) == (CellStatus.FAILED, None)
    assert "its output is not in canonical form: line 1 is no object" in rows["babbling"].sentence
    assert rows["toolless"].status == CellStatus.UNAVAILABLE
    assert rows["toolless"].sentence.endswith("no-such-tool is not installed; try: install it")
    (kept,) = (tmp_path / "out").glob("smallest/CSV-read-by-lying-*")
    assert kept.read_text().splitlines() == ["c", "x"]
    # Without an x nothing is wrong.
    assert found["CSV", "lying", OTHER].verdict is Verdict.RETYPED
    page = (
        CliRunner()
        .invoke(format_bench, ["study", "compatibility", "--page", str(tmp_path / "out")])
        .output
    )
    assert "| CSV | 2 same | 2 refused | 1 another type, 1 **crash** | 2 another type |" in page
    assert "- CSV read by crashing, text like integers, later not: crash: " in page
    assert "| 2 | toolless is unavailable: no-such-tool is not installed; try: install it |" in page


def test_writers_and_readers_of_equal_counts_are_together_on_the_page():
    rows = [
        CompatibilityRow("CSV", TABLE, 4, reader, of_set, sentence=verdict)
        for of_set in ("", "2024-03")
        for reader, verdict in (
            *(("CSV", "same"), ("CSV@2024-03", "same"), ("CSV[polars]@2024-03", "same")),
            *(("go", "refused: no"), ("rust", "refused: never")),
        )
    ]
    context = SimpleNamespace(rows=rows)
    *_, table = matrix_pages.matrix(context)
    assert table.text == "2 writers, 5 readers."
    assert [*table.header[1:]] == ["read by CSV, @2024-03, CSV[polars]@2024-03", "read by go, rust"]
    assert table.rows == [["CSV, @2024-03", "1 same", "1 refused"]]
    (worst,) = matrix_pages.worst(context)
    assert worst.items[0] == f"CSV read by go, {TABLE}: refused: no (2 cells of this reader and verdict)"


def test_a_reader_that_hangs_is_ended_and_the_others_go_on(readers, tmp_path):
    foreign_toys.make(readers, "hanging")
    found = measured(tmp_path / "out", limit=1.0, reductions=0, tables=(TABLE, OTHER))
    hung = found["CSV", "hanging", TABLE]
    assert (hung.verdict, hung.status) == (Verdict.HANG, CellStatus.TIMED_OUT)
    assert hung.sentence == "hang: not finished after 1 seconds"
    assert found["CSV", "hanging", OTHER].verdict is Verdict.RETYPED


def test_a_reader_of_several_files_starts_again_after_one_that_ends_it(readers, tmp_path):
    names = "honest", "admitting", "refusing", "crashing", "hanging"
    foreign_toys.make(readers, *names, takes="{files}")
    tables = OTHER, TABLE, "empty text"
    found = measured(tmp_path / "out", limit=2.0, reductions=0, tables=tables, readers=",".join(names))
    verdicts = {name: [found["CSV", name, table].verdict for table in tables] for name in names}
    like_text = Verdict.RETYPED  # the plain column
    assert verdicts["honest"] == [like_text] * 3
    for name, verdict in (
        *(("admitting", Verdict.REFUSED), ("refusing", Verdict.REFUSED)),
        *(("crashing", Verdict.CRASH), ("hanging", Verdict.HANG)),
    ):
        assert verdicts[name] == [like_text, verdict, like_text], name
        assert found["CSV", name, TABLE].sentence.startswith(f"{verdict}: ")
    told = found["CSV", "admitting", TABLE].sentence
    assert told == "refused: NoXError: there is an x in toys.Table$Cell"
    starts = {name: len((readers / name / "starts").read_text()) for name in names}
    assert starts == {"honest": 1, "admitting": 1, "refusing": 3, "crashing": 3, "hanging": 3}


def test_results_are_records_that_resume_and_merge(readers, tmp_path):
    foreign_toys.make(readers, "refusing", "lying")
    out = tmp_path / "out"
    first = measured(out)
    lines = (out / "results.jsonl").read_text().splitlines()
    assert measured(out) == first
    assert (out / "results.jsonl").read_text().splitlines() == lines  # a refusal is a result, too
    records = load(out).records
    assert {each.suite for each in records} == {"compatibility"}
    assert {each.conditions["reader"] for each in records} == {"CSV", "refusing", "lying"}
    changed = {each.conditions["reader"]: each for each in records if each.metric == "changed values"}
    assert (changed["lying"].value, changed["refusing"].status) == (1, CellStatus.FAILED)
    merge(tmp_path / "merged", [out])
    assert {each.name for each in (tmp_path / "merged/smallest").iterdir()} == {
        each.name for each in (out / "smallest").iterdir()
    }


def test_the_worst_findings_are_reduced_when_all_cells_are_known(readers, tmp_path):
    foreign_toys.make(readers, "refusing", "lying", "crashing")
    out = tmp_path / "out"
    whole = measured(out, reductions=0)
    assert not [row for row in whole.values() if "smallest table" in row.sentence]
    # Also of a run before: the refusal is the least of the three.
    found = measured(out, reductions=2)
    reduced = {reader for (_, reader, _), row in found.items() if "smallest table" in row.sentence}
    assert reduced == {"crashing", "lying"}
    assert {each.verdict for each in found.values()} == {each.verdict for each in whole.values()}
    assert measured(out, reductions=2) == found
    assert len(list((out / "smallest").iterdir())) == 2


def test_foreign_writers_are_read_by_all_and_are_of_no_library_set(readers, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    make_library_set(tmp_path / "cache/formatbench/library_sets/old", tmp_path / "ran")
    foreign_toys.make_writer(readers, "toy")
    foreign_toys.declare(
        readers / "toolless", 'run = ["x"]', 'write = { CSV = ["x"] }', "[needs]", 'no-tool = "get"'
    )
    tables = OTHER, TABLE, "text with nulls", "complex128 column"
    writers = "CSV,CSV[toy],CSV[toolless]"
    found = measured(tmp_path / "out", formats=writers, readers="CSV,toy", tables=tables, sets="old")
    assert {writer for writer, *_ in found} == {*writers.split(","), "CSV@old"}
    rows = {table: found["CSV[toy]", "CSV", table] for table in tables}
    assert rows[OTHER].verdict is Verdict.SAME
    assert found["CSV[toy]", "toy", OTHER].verdict is Verdict.RETYPED
    # An error is no statement on the table, and no verdict on its readers.
    assert rows[TABLE].sentence == "not tried: writing it failed: NoXError: there is an x"
    assert (rows[TABLE].verdict, rows[TABLE].status) == (Verdict.UNTRIED, CellStatus.FAILED)
    assert rows["text with nulls"].status == CellStatus.UNSUPPORTED
    assert rows["text with nulls"].sentence == "CSV[toy]: CSV has no empty values here"
    assert found["CSV[toolless]", "CSV", OTHER].status == CellStatus.UNAVAILABLE
    with pytest.raises(UnknownNameError, match=r"CSV\[toy\]"):
        measured(None, formats="CSV[toi]")


def test_files_of_another_library_set_are_read_here_and_the_other_way_round(
    readers, tmp_path, monkeypatch
):
    del readers
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    make_library_set(tmp_path / "cache/formatbench/library_sets/old", tmp_path / "ran")
    found = measured(
        None, formats="Pickle", readers="Pickle", sets="old,absent", tables=("NaN", "text with nulls")
    )
    verdicts = {(writer, reader): row.verdict for (writer, reader, _), row in found.items()}
    here = {"Pickle", "Pickle@old"}
    assert {verdicts[pair] for pair in verdicts if {*pair} <= here} == {Verdict.SAME}
    assert {verdicts[pair] for pair in verdicts if "Pickle@absent" in pair} == {Verdict.UNTRIED}
    reasons = {row.sentence for (writer, *_), row in found.items() if writer == "Pickle@absent"}
    assert all("the library set absent is unavailable: it is not installed" in each for each in reasons)


def test_features_are_read_by_libraries_and_by_other_languages(readers, tmp_path):
    foreign_toys.make(readers, "honest", "lying")
    out = tmp_path / "out"
    found = measured(out, features="CSV", readers="pandas,honest,lying", reductions=0)
    pandas = f"pandas-{version('pandas')}"
    by_feature = {(row.reader, row.feature): row.verdict for row in found.values()}
    by_feature |= {(row.reader, row.feature): row.verdict for row in INSTRUMENT.read(out)[0]}
    assert {reader for reader, _ in by_feature} == {pandas, "honest", "lying"}
    assert by_feature[pandas, "defaults"] is Verdict.SAME
    assert by_feature[pandas, "semicolons"] is Verdict.DIFFERENT
    assert by_feature["honest", "defaults"] is Verdict.RETYPED
    assert by_feature["lying", "line breaks"] is Verdict.RETYPED  # without an x it tells the truth
    records = load(out).records
    assert {each.conditions.get("feature") for each in records} == {*FEATURES}
    assert {each.format for each in records} == {"CSV"}
    lines = (out / "results.jsonl").read_text().splitlines()
    measured(out, features="CSV", readers="pandas,honest,lying", reductions=0)
    assert (out / "results.jsonl").read_text().splitlines() == lines
    shown = CliRunner().invoke(format_bench, ["study", "compatibility", "--page", str(out)]).output
    assert f"| feature | {pandas} | honest | lying |" in shown
    assert "| defaults | same | another type | another type |" in shown
    summary = ["study", "compatibility", "--facts", str(out)]
    facts = flat_csv.from_csv(FeatureReading, CliRunner().invoke(format_bench, summary).output)
    assert {(each.reader, each.feature): each.verdict for each in facts} == by_feature


def test_a_library_that_a_set_lacks_is_unavailable_and_no_finding(readers, tmp_path):
    del readers
    out = tmp_path / "out"
    measured(out, features="CSV", readers="pandas", sets="absent")
    missing = [row for row in INSTRUMENT.read(out)[0] if row.reader == "pandas@absent"]
    assert {row.verdict for row in missing} == {Verdict.UNTRIED}
    assert missing[0].sentence == "pandas is unavailable: the library set absent has none"
    assert {each.reader for each in readings(INSTRUMENT.read(out)[0], "")} == {
        f"pandas-{version('pandas')}"
    }


def test_wrong_options_are_refused_before_anything_is_written(tmp_path):
    for options in (
        {"formats": "Parket"},
        {"readers": "Parket"},
        {"features": "Parket"},
        {"tables": ("no such table",)},
        {"sets": "../x"},
    ):
        with pytest.raises((UnknownNameError, InvalidRequestError)):
            measured(tmp_path / "out", **options)
    assert not (tmp_path / "out" / "results.jsonl").exists()


def of_family(family, out=None, **options):
    usual = {"readers": "", "sets": "", "tables": (), "limit": 20.0, "reductions": 0}
    rows, _ = INSTRUMENT.run(out, family=family, **(usual | options))
    return {(row.writer, row.reader, row.dataset): row for row in rows}


def test_arrays_are_read_by_all_stores_of_their_format(readers, tmp_path):
    del readers
    cases = ("int16 values", "attributes: text")
    formats = "Zarr.dir,Zarr.v2,HDF5,NetCDF4"
    found = of_family("arrays", tmp_path / "out", formats=formats, tables=cases)
    verdicts = {(writer, reader, case): row.verdict for (writer, reader, case), row in found.items()}
    for writer in formats.split(","):
        assert {verdicts[writer, writer, case] for case in cases} == {Verdict.SAME}
    assert verdicts["Zarr.dir", "Zarr[tensorstore]", "attributes: text"] is Verdict.SAME
    assert verdicts["Zarr.dir", "Zarr[zarrs]", "int16 values"] is Verdict.SAME
    # TensorStore's driver is for format 3.
    assert verdicts["Zarr.v2", "Zarr[tensorstore]", "int16 values"] is Verdict.REFUSED
    # The files of netCDF-4 are HDF5's, and its names of dimensions are those of scales.
    assert verdicts["HDF5", "NetCDF4", "int16 values"] is Verdict.DIFFERENT
    assert "dims, value 0: 'dim_0' came back as" in found["HDF5", "NetCDF4", "int16 values"].sentence
    records = load(tmp_path / "out").records
    assert {(each.suite, each.conditions.get("family")) for each in records} == {
        ("compatibility-arrays", None)
    }
    lines = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    assert of_family("arrays", tmp_path / "out", formats=formats, tables=cases) == found
    assert (tmp_path / "out" / "results.jsonl").read_text().splitlines() == lines
    page = (
        CliRunner()
        .invoke(format_bench, ["study", "compatibility", "--page", str(tmp_path / "out")])
        .output
    )
    assert "### Zarr (arrays)" in page


def test_an_array_is_reduced_to_its_first_attribute_or_step(tmp_path, monkeypatch):
    folder = tmp_path / "readers"
    monkeypatch.setattr(foreign, "FOLDER", folder)
    # Knows neither attributes nor dimensions.
    program = (
        "import json, sys, numpy as np\n"
        "values = np.load(sys.argv[1])\n"
        "facts = {'shape': ['int64', values.shape], 'values': ['int64', values.ravel().tolist()]}\n"
        "facts['values'][1][-1] += 1\n"
        "columns = [{'name': n, 'type': f'list<{t}>'} for n, (t, _) in facts.items()]\n"
        "print(json.dumps({'columns': columns, 'rows': 1}))\n"
        "print(json.dumps([[str(each) for each in values] for _, values in facts.values()]))\n"
    )
    place = folder / "off_by_one"
    foreign_toys.declare(
        place, f'run = ["{sys.executable}", "read.py", "{{file}}"]', 'families = ["arrays"]'
    )
    declared = (place / "reader.toml").read_text().replace('".csv"', '".npy"')
    (place / "reader.toml").write_text(declared)
    (place / "read.py").write_text(program)
    found = of_family(
        "arrays",
        tmp_path / "out",
        formats="NPY.memmap",
        tables=("smallest and largest integers", "shape: 2-d"),
        reductions=5,
    )
    row = found["NPY.memmap", "off_by_one", "smallest and largest integers"]
    assert row.changed == 1
    assert row.sentence.startswith(
        "silently different: values, value 3: 0 came back as 1; smallest table"
    )
    assert "1 row from row 3, in smallest/NPY.memmap-read-by-off_by_one" in row.sentence
    assert found["NPY.memmap", "NPY.memmap", "shape: 2-d"].verdict is Verdict.SAME


def test_records_are_read_by_all_stores_of_their_format(readers, tmp_path):
    del readers
    formats = "JSON,MessagePack,Protobuf,Protobuf[delimited]"
    found = of_family("records", tmp_path / "out", formats=formats, tables=("int64", "list of text"))
    verdicts = {(writer, reader, case): row.verdict for (writer, reader, case), row in found.items()}
    for pair in (
        ("JSON", "JSON[orjson]"),
        ("JSON", "JSON[msgspec]"),
        ("MessagePack", "MessagePack"),
        ("Protobuf", "Protobuf"),
    ):
        assert verdicts[(*pair, "int64")] is Verdict.SAME
    # A stream of records is no array of them, and a message for each record no block of messages.
    assert verdicts["MessagePack", "MessagePack[msgspec]", "int64"] is Verdict.REFUSED
    assert verdicts["Protobuf[delimited]", "Protobuf", "int64"] is Verdict.DIFFERENT
    assert not [pair for pair in verdicts if "[jvm" in "".join(pair)]
