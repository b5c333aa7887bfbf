"""Axes: options, contexts around measurements, and a new one as one file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from adapter_core.errors import InvalidRequestError
from format_bench.conditions import axes
from format_bench.families.cases import Case
from format_bench.results import records
from format_bench.results.conditions import Conditions
from format_bench.results.load import RESULTS
from format_bench.runner.plan import RunRequest, plan
from tests.commands import run, run_apart
from tests.factories.library_sets import make_library_set
from tests.helpers import ROOT

MOOD = '''
"""Mood of a measurement, which formats feel."""

import os
import time
from contextlib import contextmanager

from adapter_core.errors import InvalidRequestError
from format_bench.conditions.axis import Axis, Surroundings


class Mood(Axis):
    name = "mood of day"
    help = "Moods: calm or hectic."

    def parse(self, text):
        if text.lower() not in {"calm", "hectic"}:
            raise InvalidRequestError(f"--mood-of-day {text}: it is one of calm and hectic")
        return text.lower()

    def why_not(self, value, case):
        return "a pickle is never calm" if (value, case.format) == ("calm", "Pickle") else ""

    @contextmanager
    def surrounded(self, value):
        yield Surroundings({"MOOD": value})

    @contextmanager
    def under(self, value, operations):
        assert os.environ["MOOD"] == value
        save = operations.save

        def slower(data, path):
            time.sleep(0.2 if value == "hectic" else 0)
            save(data, path)

        operations.save = slower
        yield
'''

SUITE = """
[[suite]]
name = "moods"
title = "Moods"
prefix = "Moods"
measures = "what formats feel"
datasets = ["float"]
optional = true
sizes = { full = 1_000, quick = 100, tiny = 10 }
run_size = 200
steps = ["save", "read"]
columns = ["save time"]
version = 1

[suite.sampling]
full = { budget_seconds = 0.1 }
quick = { budget_seconds = 0.1 }
tiny = { budget_seconds = 0.1 }

[[suite.benchmarks]]
name = "Moods"
metrics = ["save time"]
"""
FAMILY = "format_bench/families/tables/family.toml"


@pytest.mark.parametrize(
    ("access_key", "secret_key", "address", "is_taken"),
    [
        ("test", "test", "s3://test-data/x", True),
        ("minioadmin", "minioadmin", "s3://minioadmin/x", True),
        ("data", "alsonottobeseen", "s3://test-data/x", True),
        ("data", "alsonottobeseen", "s3://bucket/alsonottobeseen", False),
        ("AKIDONOTSHOWTHIS", "alsonottobeseen", "s3://bucket/AKIDONOTSHOWTHIS", False),
        ("test", "test", "s3://test:test@bucket/x", False),
    ],
)
def test_a_place_has_no_keys_but_may_have_their_words(
    monkeypatch, access_key, secret_key, address, is_taken
):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret_key)
    if is_taken:
        assert axes()["place"].parse(address) == address
    else:
        with pytest.raises(InvalidRequestError, match="without keys"):
            axes()["place"].parse(address)


@pytest.fixture(scope="module")
def moody(clone_to, tmp_path_factory):
    """Make a checkout with one more axis and suite, a declaration each, and results by its command."""
    place = tmp_path_factory.mktemp("moody") / "clone"
    more = {FAMILY: (ROOT / FAMILY).read_text(encoding="utf-8") + SUITE}
    clone_to(place, {"format_bench/conditions/axes/mood.py": MOOD, **more})

    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "format_bench", *arguments],
            cwd=place, capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": str(place)},
        )  # fmt: skip

    what = ("--suite", "moods", "--formats", "Feather,Pickle", "--repeats", "1")
    made = command("run", *what, "--mood-of-day", "calm,Hectic", "--threads", "1", "--out", "out")
    assert made.returncode == 0, made.stderr
    return place, command


def test_a_new_axis_is_one_file_and_a_suite_on_two_axes_one_declaration(moody):
    place, command = moody
    found = records.read(place / "out" / RESULTS)
    assert {each.conditions["mood of day"] for each in found} == {"calm", "hectic"}
    assert {each.threads for each in found} == {"1"}
    seconds = {
        each.conditions["mood of day"]: each.value
        for each in found
        if (each.format, each.metric) == ("Feather", "save time")
    }
    assert seconds["hectic"] > 0.2 > seconds["calm"]
    reasons = {each.sentence for each in found if each.value is None and each.format == "Pickle"}
    assert reasons == {"a pickle is never calm"}
    assert "--mood-of-day" in command("run", "--help").stdout
    refused = command("run", "--mood-of-day", "sad")
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1].endswith("--mood-of-day sad: it is one of calm and hectic")


def test_reports_and_comparisons_keep_values_of_an_axis_apart(moody):
    place, command = moody
    assert command("report", "out", "--out", "report.html").returncode == 0
    page = (place / "report.html").read_text(encoding="utf-8")
    headings = " ".join(re.findall(r"<h[1-4][^>]*>(.*?)</h[1-4]>", page, re.DOTALL))
    assert "float, mood of day calm" in headings
    assert "float, mood of day hectic" in headings
    compared = command("compare", "out", "out", "--json")
    cells = json.loads(compared.stdout)
    assert "mood of day hectic" in json.dumps(cells)


def test_results_of_other_conditions_are_further_cells(moody):
    place, command = moody
    shutil.copytree(place / "out", place / "copy")
    before = len(records.read(place / "copy" / RESULTS))
    again = ("run", "--suite", "moods", "--formats", "Feather", "--repeats", "1")
    for more in (("--mood-of-day", "calm", "--threads", "1"), ()):
        assert command(*again, *more, "--out", "copy").returncode == 0
    found = records.read(place / "copy" / RESULTS)
    assert {str(each.conditions) for each in found[before:] if not each.conditions.get("cache")} == {
        str({"threads": "all"})
    }


def test_under_a_limit_of_memory_a_step_that_needs_more_fails_and_says_so(tmp_path):
    what = ("--formats", "Feather", "--rows", "400000", "--repeats", "1", "--datasets", "eq")
    limits = ("--memory-limit", "17M,4G", "--steps", "save")
    made = run("--quiet", "run", *what, *limits, "--out", tmp_path / "out")
    assert made.returncode in {0, 1}, made.stderr
    found = {
        each.conditions["memory limit"]: each
        for each in records.read(tmp_path / "out" / RESULTS)
        if each.metric == "save time"
    }
    assert found["4G"].value
    assert found["17M"].sentence == "it needs more than 17M of memory"


@pytest.mark.parametrize("text", ["1", "12X", "-4G", "GG", "", "0"])
def test_a_limit_of_memory_is_a_size(text):
    with pytest.raises(InvalidRequestError, match=r"^--memory-limit "):
        axes()["memory limit"].parse(text)


def test_the_page_on_conditions_has_every_axis_and_an_example_that_works():
    page = (ROOT / "docs" / "conditions.md").read_text(encoding="utf-8")
    assert [
        each.name for each in axes().values() if f"| {each.name} | `{each.option}` |" not in page
    ] == []
    found: dict[str, object] = {}
    exec(page.partition("```python\n")[2].partition("```")[0], found)
    niceness = found["Niceness"]()
    assert (niceness.option, niceness.parse("010")) == ("--niceness", "10")
    with pytest.raises(InvalidRequestError, match=r"^--niceness 20: it is a number"):
        niceness.parse("20")
    listed = json.loads(run("list", "conditions", "--json").stdout)
    assert [each["name"] for each in listed] == list(axes())


@pytest.mark.parametrize("suite", ["tabular", "image", "query"])
def test_any_suite_is_measured_along_two_axes(suite):
    wanted = {"threads": ("all", "1", "1"), "memory limit": ("1024M", "2G")}
    request = RunRequest(suite=suite, formats=(next(iter(plan(RunRequest(suite=suite)).cases)).format,))
    alone = plan(request).cases
    found = plan(replace(request, conditions=wanted)).cases
    assert len(found) == 4 * len(alone)
    assert [(each.conditions["memory limit"], each.threads) for each in found[:4]] == [
        ("1G", "all"), ("1G", "1"), ("2G", "all"), ("2G", "1"),
    ]  # fmt: skip
    assert {replace(each, conditions=alone[0].conditions) for each in found[:4]} == {alone[0]}


def test_one_value_has_one_text():
    limit = axes()["memory limit"]
    assert [limit.parse(text) for text in ("1G", "1024m", "1gb", "1073741824", "1000M")] == [
        *["1G"] * 4, "1000M",
    ]  # fmt: skip


def _measured(out, *arguments, by=run):
    made = by("--quiet", "run", "--repeats", "1", *arguments, "--out", out)
    assert made.returncode in {0, 1}, made.stderr
    return records.read(out / RESULTS)


def test_checksums_are_written_where_a_format_has_some(tmp_path):
    what = (
        "--formats",
        "Parquet,Pickle",
        "--rows",
        "3000",
        "--datasets",
        "float",
        "--steps",
        "save,read",
    )
    found = _measured(tmp_path / "out", *what, "--checksums", "off,on")
    sizes = {
        (each.format, each.conditions.get("checksums")): each for each in found if each.metric == "size"
    }
    assert sizes["Parquet", "on"].value > sizes["Parquet", None].value
    assert sizes["Pickle", None].value
    assert sizes["Pickle", "on"].sentence == "Pickle has no checksums that are off by default"
    reads = [each for each in found if each.metric == "read time" and each.format == "Parquet"]
    assert all(each.value for each in reads)
    with pytest.raises(InvalidRequestError, match=r"^--checksums maybe: "):
        axes()["checksums"].parse("maybe")


def test_files_are_saved_with_the_settings_that_are_asked_for(tmp_path):
    what = ("--formats", "Feather,ORC,Parquet,Pickle", "--rows", "3000", "--datasets", "core")
    asked = "defaults,Recommended,tuned"
    found = _measured(tmp_path / "out", *what, "--steps", "save,read", "--settings", asked)
    sizes = {(each.format, each.conditions["settings"]): each for each in found if each.metric == "size"}
    assert sizes["ORC", "recommended"].value < sizes["ORC", "defaults"].value / 2
    assert len({sizes["Parquet", each].value for each in asked.lower().split(",")}) == 3
    assert sizes["Feather", "recommended"].sentence == "the makers of Feather advise its defaults"
    assert sizes["Pickle", "defaults"].value
    assert sizes["Pickle", "tuned"].sentence == "Pickle has nothing to tune but the order of rows"
    assert sizes["Pickle", "recommended"].sentence.startswith("no advice of its makers")
    assert {each.sentence for each in sizes.values() if each.value} == {""}  # the codec is as asked
    lost = {each.value for each in found if (each.format, each.metric) == ("Parquet", "lost columns")}
    assert lost == {0}
    with pytest.raises(InvalidRequestError, match=r"^--settings best: it is one of"):
        axes()["settings"].parse("best")


@pytest.mark.parametrize(
    ("case", "value", "reason"),
    [
        (Case("Parquet", "float", 9), "tuned", "float has no column that tuned files are sorted by"),
        (Case("Parquet", "core", 9, codec="zstd"), "defaults", "settings decide the codec, and zstd"),
        (
            Case("TileDB", "core", 9),
            "defaults",
            "TileDB saves with another codec than",
        ),
        (
            Case("Parquet[duckdb]", "query", 9, Conditions({"track": "tuned"}), suite="query"),
            *("tuned", "the tracks of the suite query decide"),
        ),
    ],
)
def test_settings_name_what_is_decided_otherwise(case, value, reason):
    assert axes()["settings"].why_not(value, case).startswith(reason)


def test_a_library_set_measures_in_its_own_interpreter(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ran = tmp_path / "ran"
    make_library_set(tmp_path / "formatbench" / "library_sets" / "old", ran)
    what = ("--formats", "Pickle", "--rows", "50", "--datasets", "float", "--steps", "save,read")
    found = _measured(
        tmp_path / "out", *what, "--library-set", "old,absent", "--threads", "1", by=run_apart
    )
    old, absent = (
        {each.metric: each for each in found if each.conditions["library set"] == name}
        for name in ("old", "absent")
    )
    assert old["save time"].value
    assert old["lost columns"].value == 0
    assert "CPython 3.11.0" in old["save time"].environment
    assert "pandas 0.0.1" in old["save time"].environment
    assert ran.read_text() == "ran ran ran "  # the data, saves, and reads
    assert {each.status for each in absent.values()} == {"unavailable"}
    assert absent["size"].sentence.startswith(
        "the library set absent is unavailable: it is not installed"
    )
    own = axes()["library set"].why_not("old", Case("ArcticDB", "core", 9, suite="engines"))
    assert own == "ArcticDB is measured in its environment arcticdb"
    with pytest.raises(InvalidRequestError, match=r"^--library-set \.\./x: a name has letters"):
        axes()["library set"].parse("../x")


def test_a_table_is_saved_and_read_by_workers(tmp_path):
    what = ("--rows", "400", "--datasets", "core", "--steps", "save,read", "--codecs", "none,zstd")
    found = _measured(tmp_path / "out", "--formats", "Parquet", *what, "--workers", "1x2")
    assert {each.conditions["workers"] for each in found} == {"1x2"}
    times = {each.metric: each for each in found if each.metric.endswith("time") and not each.codec}
    assert all(
        times[f"{step} {what}"].value for step in ("save", "read") for what in ("time", "CPU time")
    )
    assert times["read time"].sentence == "digests equal"
    assert times["durable save time"].status == "unsupported"
    assert {each.status for each in found if each.codec} == {"unsupported"}


@pytest.mark.parametrize("text", ["0", "2x0", "x", "-1", "2x", "", "1.5"])
def test_workers_are_numbers(text):
    with pytest.raises(InvalidRequestError, match=r"^--workers "):
        axes()["workers"].parse(text)
    assert axes()["workers"].parse("2") == axes()["workers"].parse("2X2") == "2x2"


def test_a_chunk_shape_is_of_stores_that_have_chunks():
    axis = axes()["chunk shape"]
    assert axis.parse(" 24 X 40x1") == "24x40x1"
    with pytest.raises(InvalidRequestError, match=r"^--chunk-shape 24,x: "):
        axis.parse("24,x")
    assert axis.why_not("2x2", Case("HDF5", "noise", 1, suite="chunks")) == ""
    reason = "NPY.memmap does not divide arrays into chunks"
    assert axis.why_not("2x2", Case("NPY.memmap", "noise", 1, suite="chunks")) == reason
    assert "saves no arrays" in axis.why_not("2x2", Case("CSV", "eq", 1))
