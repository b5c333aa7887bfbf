"""Choice of features by readers: names of readers, and the answer of several of them."""

from __future__ import annotations

import pytest

from adapter_core.errors import UnknownNameError
from format_bench.compatibility.feature_choice import resolved, uses
from format_bench.results.shipped import FeatureReading


def reading(reader, verdict="same", feature="zstd", sentence="", format_="Parquet"):
    return FeatureReading(format_, feature, reader, verdict, sentence, "2026-11-26")


READINGS = [
    reading("pyarrow-9.0.0", "refused", sentence="OSError: no zstd"),
    reading("pyarrow-15.0.0"),
    reading("pyarrow-15.0.2", "another type", sentence="column c: int64 came back as int32"),
    reading("pyarrow-26.0.1"),
    reading("vortex-data-0.91.0", format_="Vortex", feature="defaults"),
    reading("parquet_java", "silently different", sentence="column c, row 0: 1 came back as 2"),
    reading("pyarrow-26.0.1", "not tried", "ALP", "writing it failed: OSError: ALP"),
]


def verdicts(*readers):
    found = {each.feature.name: each for each in uses(resolved(readers, READINGS), READINGS)}
    return found["zstd"].verdict, found["ALP"].verdict


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("pyarrow", "pyarrow-26.0.1"),
        ("pyarrow-15", "pyarrow-15.0.2"),
        ("PyArrow-15.0.0", "pyarrow-15.0.0"),
        ("pyarrow-9", "pyarrow-9.0.0"),
        ("vortex-data", "vortex-data-0.91.0"),
        ("parquet-java", "parquet_java"),
    ],
)
def test_a_reader_is_named_by_its_library_and_the_start_of_a_version(name, found):
    assert resolved([name, name], READINGS) == [found]


@pytest.mark.parametrize("name", ["pyarrow-1", "pyarrow-15.0.02", "arrow", "", "vortex", "pyarrow-"])
def test_another_name_is_refused(name):
    with pytest.raises(UnknownNameError, match="there is no reader"):
        resolved([name], READINGS)


def test_the_worst_reader_decides_and_gives_its_reason():
    assert verdicts("pyarrow") == ("same", "not tried")
    assert verdicts("pyarrow", "pyarrow-15") == ("another type", "not tried")
    assert verdicts("pyarrow", "pyarrow-9", "pyarrow-15") == ("no", "not tried")
    assert verdicts("pyarrow", "parquet-java") == ("no", "not tried")
    zstd = next(
        each
        for each in uses(["pyarrow-9.0.0", "pyarrow-26.0.1", "parquet_java"], READINGS)
        if each.feature.name == "zstd"
    )
    assert [*map(str, zstd.objections)] == [
        "pyarrow-9.0.0: refused: OSError: no zstd",
        "parquet_java: silently different: column c, row 0: 1 came back as 2",
    ]


def test_a_feature_that_none_was_tried_on_has_one_reason_for_all():
    readers = ["pyarrow-26.0.1", "pyarrow-15.0.0"]
    given = [*READINGS, reading(readers[1], "not tried", "ALP", "writing it failed: OSError: ALP")]
    alp = next(each for each in uses(readers, given) if each.feature.name == "ALP")
    assert alp.reason == "not tried: writing it failed: OSError: ALP"
    first = next(each for each in uses(readers, READINGS) if each.feature.name == "ALP")
    assert first.reason.startswith(
        "pyarrow-26.0.1: not tried: writing it failed: OSError: ALP; pyarrow-15"
    )


def test_formats_that_no_reader_was_tried_on_are_left_out_unless_asked_for():
    assert {each.format for each in uses(["pyarrow-26.0.1"], READINGS)} == {"Parquet"}
    asked = uses(["pyarrow-26.0.1"], READINGS, ["Vortex"])
    assert {each.format for each in asked} == {"Vortex"}
    assert {each.verdict for each in asked} == {"not tried"}
    with pytest.raises(UnknownNameError, match="Parket"):
        uses(["pyarrow-26.0.1"], READINGS, ["Parket"])
