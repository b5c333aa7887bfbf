"""`format-bench recommend --data` as a user calls it, on small tables and real formats."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from adapter_core.array_source import ArraySource
from adapter_core.error_bounds import ErrorBound
from data_generator.user.summary import describe, describe_array
from format_bench.families.operations import registry_of
from format_bench.racing.entries import (
    ELSE_WORTH_TRYING,
    WORTH_TRYING,
    baseline_of,
    entries_of,
    in_order,
    loss_of,
    refusal_of,
)
from format_bench.racing.promise import promise_for
from format_bench.recommendation.purposes import BALANCED
from format_bench.results import records
from format_bench.results.candidates import Configuration
from format_bench.results.load import RESULTS
from format_bench.results.suites import FAMILIES
from tests.factories.answers import undocumented

# Text to which rows can be added: few formats, so a race of them takes seconds.
TEXT = ["--require", "text", "--require", "append"]


def caller(root, folder):
    """Return a function that calls the command in a folder."""

    def run(*arguments: object, before=()):
        command = [sys.executable, str(root / "main.py"), *before, "recommend", *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture
def call(root, tmp_path):
    """Call the command in a folder of the test."""
    return caller(root, tmp_path)


@pytest.fixture(scope="module")
def raced(root, tmp_path_factory):
    """Return a finished race on a table of 3,000 rows, its folder, and the function to call again."""
    folder = tmp_path_factory.mktemp("raced")
    chance = np.random.default_rng(1)
    df = pd.DataFrame({"number": chance.integers(0, 99, 3000), "price": chance.random(3000)})
    df.to_csv(folder / "prices.csv", index=False)
    call = caller(root, folder)
    # A busy machine may not settle it in the usual time.
    return call("--data", "prices.csv", *TEXT, "--json", "--time-budget", "15m"), folder, call


def test_a_race_ends_with_a_recommendation_and_the_reasons_of_those_out(raced):
    done, folder, _ = raced
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [each.message for each in undocumented(answer)] == []
    race = answer["race"]
    assert race["settled"]
    assert race["rows"] == 3000
    assert 0 < race["first_answer"]["seconds"] <= race["last_answer"]["seconds"]
    assert {each["rows"] for each in answer["tables"]} == {3000}
    reasons = {each["name"]: each["reason"] for each in race["dropped"]}
    assert reasons["Parquet, no codec"] == (
        "Parquet, no codec is not text that people can read; "
        "Parquet, no codec cannot take more rows without being written again"
    )
    tried = {each["name"]: each["rows"] for each in race["tried"]}
    assert "Parquet, no codec" not in tried
    # Where noise forbids a winner, none is named.
    sizes = tried[answer["ranked"][0]["name"]]
    assert (sizes[0], sizes[-1]) == (30, 3000)
    found = records.read(folder / "reports" / "own-prices" / RESULTS)
    assert {each.rows for each in found} >= {30, 3000}
    assert {each.suite for each in found} == {"tabular"}


SLOW = """
from data_formats.csv import Adapter as CSV
import time
from tests.factories.answers import undocumented


class Adapter(CSV):
    label = "Slow"

    def _save(self, *arguments, **options):
        time.sleep(600)
"""


def test_the_time_budget_ends_the_command_though_a_format_hangs(root, tmp_path, monkeypatch):
    place = tmp_path / "plugins"
    (place / "slow-1.dist-info").mkdir(parents=True)
    (place / "slow_formats.py").write_text(SLOW, encoding="utf-8")
    facts = {
        "METADATA": "Metadata-Version: 2.1\nName: slow\nVersion: 1\n",
        "entry_points.txt": "[format_bench.data_formats]\nSlow = slow_formats:Adapter\n",
    }
    for name, text in facts.items():
        (place / "slow-1.dist-info" / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(place))
    numbers = pd.DataFrame({"number": range(3000), "half": np.arange(3000) / 2})
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    seconds = 45  # of which a busy machine needs most to start
    start = time.monotonic()
    done = caller(root, tmp_path)(
        "--data", "numbers.csv", *TEXT, "--json", "--time-budget", f"{seconds}s"
    )
    assert time.monotonic() - start < seconds + 3  # until the interpreter has ended, too
    assert done.returncode == 0, done.stderr
    race = json.loads(done.stdout)["race"]
    known = {each["name"] for key in ("tried", "dropped") for each in race[key]}
    assert "Slow" in known | set(race["not_tried"])
    assert race["last_answer"]["seconds"] < seconds


def test_lines_show_the_race(raced):
    lines = raced[0].stderr
    assert "\x1b" not in lines
    assert " s  1. " in lines
    assert "out by declaration: " in lines


def test_a_race_goes_on_from_its_results_and_quiet_hides_it(raced):
    _, folder, call = raced
    results = folder / "reports" / "own-prices" / RESULTS
    before = results.read_bytes()
    again = call("--data", "prices.csv", *TEXT, before=["--quiet"])
    assert (again.returncode, again.stderr) == (0, "")
    assert results.read_bytes().startswith(before)


def test_results_of_a_race_are_ranked_by_all_rows(raced):
    _, _, call = raced
    ranked = json.loads(call("reports/own-prices", *TEXT, "--json").stdout)
    assert {(each["dataset"], each["rows"]) for each in ranked["tables"]} == {("prices", 3000)}
    assert any("its results with 30" in each for each in ranked["remarks"])


def test_images_race_without_codecs(call, tmp_path):
    chance = np.random.default_rng(1)
    for label in ("cat", "dog"):
        folder = tmp_path / "pets" / label
        folder.mkdir(parents=True)
        for number in range(30):
            pixels = chance.integers(0, 255, (8, 8, 3), np.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")
    done = call("--data", "pets", "--json", "--time-budget", "40s", "--weight", "size=1")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["family"] == "image"
    assert all(each["codec"] is None for each in answer["ranked"])
    # How many are measured in the time depends on the machine.
    race = answer["race"]
    assert len(race["tried"]) + len(race["not_tried"]) == race["candidates"] > 1


def test_thorough_takes_all_codecs_at_all_levels():
    usual, thorough = (
        entries_of(FAMILIES["tables"], "eq", 100, thorough=each) for each in (False, True)
    )
    of_parquet = [
        {(case.codec, case.level) for case in each.cases if case.format == "Parquet"}
        for each in (usual, thorough)
    ]
    assert of_parquet[0] == {
        (None, None), ("zstd", 1), ("zstd", 9), ("lz4", 1), ("snappy", None)
    }  # fmt: skip
    assert {("zstd", level) for level in range(1, 23)} < of_parquet[1]
    assert {("brotli", 0), ("brotli", 11), ("gzip", 9)} < of_parquet[1]


def test_formats_whose_packages_are_missing_are_no_entries(monkeypatch):
    known = registry_of(FAMILIES["tables"])
    find = known.find

    def without_lance(label):
        adapter = find(label)
        if label == "Lance":
            adapter.requires = (*adapter.requires, "no-such-package")
        if label == "ORC":
            adapter.requires = ("pandas>=999",)
        return adapter

    monkeypatch.setattr(known, "find", without_lance)
    found = entries_of(FAMILIES["tables"], "eq", 100)
    assert not {"Lance", "ORC"} & {case.format for case in found.cases}
    assert found.unavailable["Lance"] == "no-such-package is not installed"
    assert re.fullmatch(r"pandas \S+ is installed, pandas>=999 is required", found.unavailable["ORC"])


def test_kinds_of_columns_that_an_adapter_refuses_rule_it_out_before_it_is_measured():
    df = pd.DataFrame({"wave": [1 + 2j], "name": ["a"]})
    refusals = {
        label: refusal_of(FAMILIES["tables"], label, describe(df)) for label in ("Parquet", "Pickle")
    }
    assert refusals["Parquet"].startswith(
        "Parquet cannot store this table: column 'wave' contains complex numbers; "
    )
    assert refusals["Pickle"] == ""


def test_stores_that_lose_what_an_array_has_are_left_out_unless_losses_are_allowed():
    values, hours = np.zeros((2, 3), "f4"), np.arange(2)
    facts = {"dims": ("time", "x"), "coordinates": {"time": hours}, "attributes": {"units": "K"}}
    full = describe_array(ArraySource.of(values, **facts))
    bare = describe_array(ArraySource.of(values))
    arrays = FAMILIES["arrays"]
    assert loss_of(arrays, "NPY.memmap", full) == (
        "NPY.memmap loses attributes and coordinates of the array; --allow-lossy takes it in"
    )
    kept = {label: loss_of(arrays, label, full) for label in ("HDF5", "NetCDF4", "TileDB", "Zarr.dir")}
    assert set(kept.values()) == {""}
    assert loss_of(arrays, "NPY.memmap", bare) == ""
    assert loss_of(FAMILIES["tables"], "CSV", describe(pd.DataFrame({"a": [1]}))) == ""


def test_lossy_codecs_race_beside_lossless_ones_if_a_greatest_error_is_given():
    arrays = FAMILIES["arrays"]
    usual = entries_of(arrays, "mine", 8).by_configuration
    found = entries_of(arrays, "mine", 8, max_error=ErrorBound.parse("abs 1e-3")).by_configuration
    assert set(usual) < set(found)
    bounded = {each for each in found if each.error_bound}
    assert set(found) - set(usual) == bounded
    assert all(str(each).endswith(" within abs 0.001, lossy") for each in bounded)
    ways = {(each.format, each.codec, each.level) for each in bounded}
    assert {("HDF5", "sz3", None), ("Zarr.dir", "zstd+bitround", None), ("NPY", "blosc:zstd", 1)} <= ways
    assert {
        each.conditions["error bound"] for each in found.values() if each.conditions.get("error bound")
    } == {"abs 0.001"}
    relative = entries_of(arrays, "mine", 8, max_error=ErrorBound.parse("rel 0.1")).by_configuration
    assert not any(each.codec == "sz3" for each in relative)
    assert entries_of(FAMILIES["images"], "mine", 8, max_error=ErrorBound.parse("1")) == entries_of(
        FAMILIES["images"], "mine", 8
    )


def test_a_greatest_error_that_is_none_is_refused_in_one_line(call):
    done = call("--data", "mine.csv", "--max-error", "little")
    assert done.returncode == 2
    assert "--max-error" in done.stderr.splitlines()[-1]
    assert "write e.g. abs 1e-3" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("label", ["Zarr.dir", "Zarr[tensorstore]", "TileDB", "HDF5", "NetCDF4", "NPY"])
def test_the_usual_stores_of_arrays_are_tried_early(label):
    values = np.zeros((2, 3), "f4")
    own = SimpleNamespace(description=describe_array(ArraySource.of(values)))
    family = FAMILIES["arrays"]
    promise = promise_for(own, family, BALANCED.weights, Path("no-such-folder"), 0)
    cases = entries_of(family, "mine", 8).cases
    entries = [Configuration(each.format, each.codec, each.level) for each in cases]
    order = in_order(entries, promise, family)
    assert sorted(order, key=str) == sorted(entries, key=str)
    labels = [each.format for each in order]
    # Each store once before any codec more, and those with earlier results first.
    assert labels.index(label) < sum(map(promise.knows, set(labels))) < len(set(labels))
    assert len(set(labels[: len(set(labels))])) == len(set(labels))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mine.csv", Configuration("CSV")),
        ("mine.parquet", Configuration("Parquet", "snappy")),
        ("mine.pq", Configuration("Parquet", "snappy")),
        ("mine.csv.zst", Configuration("CSV", "zstd", 1)),
        ("mine.csv.gz", Configuration("CSV", "gzip", 9)),
        ("mine.CSV.XZ", Configuration("CSV", "xz", 6)),
        ("mine.h5", None),  # of two layouts of pandas, or of other programs
        ("mine.txt", None),
    ],
)
def test_the_baseline_is_the_entry_that_writes_such_files(name, expected):
    found = entries_of(FAMILIES["tables"], "mine", 100, own=Path(name)).by_configuration
    assert baseline_of(Path(name), FAMILIES["tables"], found) == expected
    # One entry more, if a file's codec is none that is tried anyway.
    usual = entries_of(FAMILIES["tables"], "mine", 100).by_configuration
    assert set(found) - set(usual) == ({expected} - set(usual) if expected else set())


def test_the_page_on_compression_has_the_codecs_worth_trying(root):
    page = (root / "docs" / "compression.md").read_text(encoding="utf-8")
    section = page.partition("## Worth trying")[2].partition("\n## ")[0]
    for algorithm, levels in (*WORTH_TRYING, ELSE_WORTH_TRYING):
        for level in levels:
            assert f"| {algorithm} {level} |" in section, algorithm


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--time-budget", "5s"], "--time-budget and --thorough need --data"),
        (["--thorough"], "--time-budget and --thorough need --data"),
        (["thesis", "--data", "prices.csv"], "--data cannot be combined with RESULTS"),
        (["--data", "nothing.csv"], "nothing.csv"),
        (["--data", "prices.csv", "--weight", "open_time=1"], "tables have no open time"),
    ],
)
def test_a_mistake_is_one_line(raced, arguments, words):
    done = raced[2](*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""
