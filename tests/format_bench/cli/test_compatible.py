"""The command `compatible`, and `recommend --readers`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from format_bench.cli.main import format_bench
from format_bench.recommendation.requirements import ReadBy, answer
from format_bench.results import shipped
from format_bench.results.candidates import Candidate, Configuration
from format_bench.results.shipped import FeatureReading
from tests import commands


@pytest.fixture(autouse=True)
def known(monkeypatch):
    found = [
        FeatureReading("Parquet", "defaults", "old-1.2", "same", "", "2026-11-26"),
        FeatureReading("Parquet", "snappy", "old-1.2", "another type", "int64 as text", "2026-11-26"),
        FeatureReading("Parquet", "zstd", "old-1.2", "refused", "OSError: no zstd", "2026-11-26"),
        FeatureReading("Parquet", "page index", "old-1.2", "same", "", "2026-11-26"),
        FeatureReading(
            "Parquet", "brotli", "old-1.2", "not tried", "writing it failed: x", "2026-11-26"
        ),
        FeatureReading("CSV", "defaults", "old-1.2", "silently different", "1 as 2", "2026-11-26"),
    ]
    monkeypatch.setattr(shipped, "feature_readings", lambda: found)


def run(*arguments):
    return CliRunner().invoke(format_bench, [*arguments])


def test_it_prints_what_may_be_used_and_why_not():
    shown = run("compatible", "--readers", "old", "--format", "Parquet").output
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert lines[0] == "Features that old-1.2 read, measured on 2026-11-26:"
    assert "defaults - same" in lines
    assert "snappy codec snappy another type" in lines
    assert "- not zstd: old-1.2: refused: OSError: no zstd" in lines
    assert "- not brotli: old-1.2: not tried: writing it failed: x" in lines
    assert "- not gzip: old-1.2: not tried: no file with it was read" in lines
    both = json.loads(run("compatible", "--readers", "old-1", "--json").output)
    assert (both["readers"], both["measured"]) == (["old-1.2"], ["2026-11-26"])
    by_name = {(each["format"], each["feature"]): each for each in both["features"]}
    assert by_name["CSV", "defaults"]["verdict"] == "no"
    assert by_name["Parquet", "zstd"]["setting"] == "codec zstd, settings recommended, settings tuned"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("compatible --readers no-such-reader", "there is no reader 'no-such-reader'; known: "),
        ("compatible --readers pyarrow --format Parket", "there is no format with features 'Parket'"),
        ("compatible --readers pyarrow no/such/folder", "no/such/folder does not exist"),
        (
            "recommend thesis --readers pyarrow,pyarrow-1",
            "there is no reader 'pyarrow-1'; did you mean ",
        ),
    ],
)
def test_bad_input_is_one_line(arguments, line):
    found = commands.run_apart(*arguments.split())
    assert (found.returncode, found.stdout) == (2, "")
    assert line in found.stderr
    assert len(found.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("configuration", "met", "reason"),
    [
        (Configuration("Parquet", family="tables"), True, ""),
        (Configuration("Parquet[polars]", "snappy", family="tables"), True, ""),
        (Configuration("Parquet", "zstd", 3, family="tables"), False, "refused: OSError: no zstd"),
        (Configuration("Parquet", settings="defaults", family="tables"), True, ""),
        (Configuration("Parquet", settings="recommended", family="tables"), False, "'zstd' of Parquet"),
        (Configuration("Parquet", "gzip", family="tables"), None, "not tried: no file with it was read"),
        (Configuration("CSV", family="tables"), False, "silently different: 1 as 2"),
        (Configuration("CSV", "zstd", family="tables"), False, "'defaults' of CSV"),
        (
            Configuration("Parquet", "lzo", family="tables"),
            None,
            "the codec of Parquet lzo was never tried",
        ),
        (Configuration("Vortex", family="tables"), None, "old-1.2: not tried"),
        (Configuration("Pickle", family="tables"), None, "which readers read Pickle was never tried"),
    ],
    ids=str,
)
def test_a_candidate_is_left_out_unless_all_readers_read_what_it_writes(configuration, met, reason):
    found = answer(ReadBy.of(["old"]), Candidate(configuration), "tabular", [])
    assert found.met is met
    assert reason in found.sentence


def test_a_recommendation_obeys_and_gives_the_reason():
    free = json.loads(run("recommend", "thesis", "--weight", "size=1", "--json").output)
    bound = json.loads(
        run("recommend", "thesis", "--weight", "size=1", "--readers", "old", "--json").output
    )
    assert bound["requirements"][-1] == "read by old-1.2"
    assert {each["format"] for each in bound["ranked"]} == {"Parquet"}
    assert len(free["ranked"]) > len(bound["ranked"])
    left_out = {each["name"]: each["reasons"] for each in bound["excluded"]}
    assert left_out["CSV"] == [
        {
            "requirement": "read by old-1.2",
            "sentence": "CSV needs the feature 'defaults' of CSV: old-1.2: silently different: 1 as 2",
        }
    ]
    assert "read by old-1.2" in run("recommend", "thesis", "--readers", "old", "--explain").output
