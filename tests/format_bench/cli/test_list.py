"""The command `format-bench list`."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import array_stores
import data_formats
import data_generator
import image_storages
import record_stores
import training_loaders
from format_bench.cli.commands.list import WHAT, command
from tests.helpers import ROOT


def listed(*arguments: str):
    done = CliRunner().invoke(command, [*arguments, "--json"])
    assert done.exit_code == 0
    return json.loads(done.output)


def test_every_format_is_listed_with_its_facts():
    found = listed("formats")
    assert [each["name"] for each in found if each["family"] == "tables"] == data_formats.names()
    assert [each["name"] for each in found if each["family"] == "images"] == image_storages.names()
    assert [each["name"] for each in found if each["family"] == "arrays"] == array_stores.names()
    assert [each["name"] for each in found if each["family"] == "records"] == record_stores.names()
    assert [each["name"] for each in found if each["family"] == "training"] == training_loaders.names()
    by_name = {each["name"]: each for each in found if each["family"] == "tables"}
    assert "code" in by_name["Pickle"]["note"]
    assert by_name["Parquet"]["note"] == ""
    assert "column projection" in by_name["Parquet"]["offers"]
    assert "pyarrow 2" in by_name["Parquet"]["versions"]


def test_data_sets_and_codecs_are_listed():
    assert {each["name"] for each in listed("datasets")} == {
        *data_generator.names(),
        *data_generator.image_names(),
        *data_generator.array_names(),
        *data_generator.record_names(),
        *data_generator.datasets.names("queries"),
        *data_generator.sample_names(),
    }
    lzo = [each for each in listed("codecs") if each["codec"] == "lzo"]
    assert lzo
    assert all(each["available"] == "yes" or each["available"].startswith("no: ") for each in lzo)


def test_every_suite_of_asv_is_listed():
    modules = {path.stem for path in (ROOT / "benchmarks").glob("[!_]*.py")}
    assert {each["name"] for each in listed("suites")} == modules


def test_everything_is_listed_at_length():
    assert list(listed()) == list(WHAT)


@pytest.mark.parametrize("what", list(WHAT))
@pytest.mark.parametrize("length", [[], ["--long"]], ids=["short", "long"])
def test_lists_are_tables_too(what, length):
    done = CliRunner().invoke(command, [what, *length])
    assert done.exit_code == 0
    assert done.output.startswith(what)


def test_formats_are_listed_shortly_by_default(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    done = CliRunner().invoke(command)
    names = [line.split("  ")[0] for line in done.stdout.splitlines()]
    assert {each["name"] for each in listed("formats")} <= set(names)
    assert re.search(r"^Lance +pylance \d\S+ +installed *$", done.stdout, re.MULTILINE)
    assert re.search(r"^Feather +pandas \d\S+, pyarrow \d\S+ +installed *$", done.stdout, re.MULTILINE)
    assert "datasets, codecs, suites" in done.stderr
    sample = (ROOT / "docs/getting_started.md").read_text(encoding="utf-8")
    assert f"$ format-bench list\n{done.stdout.splitlines()[0].rstrip()}\nname  " in sample
    assert CliRunner().invoke(command, ["formats"]).stdout.split() == done.stdout.split()


def test_checksums_and_crashes_of_readers_are_listed():
    by_name = {each["name"]: each for each in listed("formats") if each["family"] == "tables"}
    assert "checksums" in by_name["Parquet"]["offers"].split(", ")
    assert "checksums" not in by_name["CSV"]["offers"].split(", ")
    assert "end the process" in by_name["Vortex"]["note"]
    assert "; damaged offsets of text end the process" in by_name["Pickle"]["note"]


def test_formats_with_tuned_files_are_listed_with_and_without_an_engine():
    rows = listed("formats")
    tuned = {each["name"] for each in rows if "tuned files" in each["offers"].split(", ")}
    assert {"Parquet", "Parquet[duckdb]", "Lance[lance]"} <= tuned
    assert {"CSV", "CSV[polars]", "Vortex[vortex]"}.isdisjoint(tuned)
    tracks = {each["name"]: each["tracks"] for each in listed("suites")}
    assert (tracks["query"], tracks["tabular"]) == ("defaults, tuned", "")


def test_what_adapters_offer_follows_from_their_protocols():
    offers = {(each["family"], each["name"]): each["offers"].split(", ") for each in listed("formats")}
    assert {"changes in place", "commits of several processes"} <= set(offers["tables", "Delta"])
    assert "changes in place" in offers["tables", "SQLite"]
    assert "commits of several processes" not in offers["tables", "SQLite"]
    assert "reader and writer of object stores" in offers["arrays", "Zarr.dir"]
    assert "reader and writer of object stores" not in offers["arrays", "HDF5"]
