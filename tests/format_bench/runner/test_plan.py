"""Plans of a run: the cases of a request, and the time left."""

from __future__ import annotations

from dataclasses import replace

import click
import pytest

import data_formats
import image_storages
from adapter_core import UnknownNameError
from adapter_core.errors import InvalidRequestError
from format_bench.cli.options import Duration
from format_bench.families.cases import Case
from format_bench.results.display.text import duration
from format_bench.results.suites import FAMILIES
from format_bench.runner.plan import RunRequest, plan, steps_of
from format_bench.runner.progress import TimeLeft

SAVE, READ, *_ = FAMILIES["tables"].steps


def test_all_usual_formats_are_measured_on_one_table_by_default():
    made = plan(RunRequest("tabular"))
    assert [case.format for case in made.cases] == data_formats.registry.usual_names()
    assert {(case.dataset, case.codec) for case in made.cases} == {("eq", None)}


def test_defaults_and_advice_are_beside_the_usual_settings():
    wanted = RunRequest("tabular", formats=("CSV", "Feather", "Parquet"), further_settings=True)
    shown = [(case.format, case.conditions.get("settings")) for case in plan(wanted).cases]
    assert shown == [
        ("CSV", None),
        ("Feather", None),
        ("Feather", "defaults"),
        ("Parquet", None),
        ("Parquet", "defaults"),
        ("Parquet", "recommended"),
    ]
    # Whoever chooses codecs or settings, or measures elsewhere, gets nothing else.
    for chosen in (
        {"codecs": ("none", "zstd")},
        {"conditions": {"settings": ("recommended",)}},
        {"conditions": {"link": ("20ms",)}},
        {"suite": "compression"},
    ):
        cases = plan(replace(wanted, **chosen)).cases
        assert len({case.conditions.get("settings") for case in cases}) == 1


def test_the_image_suite_measures_storages():
    made = plan(RunRequest("image", datasets=("imagenet-like", "cifar-like"), rows=7))
    assert {case.format for case in made.cases} == set(image_storages.names())
    assert {(case.dataset, case.rows) for case in made.cases} == {
        ("imagenet-like", 7),
        ("cifar-like", 7),
    }


def test_names_are_found_in_any_case_and_only_once():
    made = plan(RunRequest("tabular", formats=("parquet", "CSV", "Parquet"), datasets=("EQ",), rows=5))
    assert [(case.format, case.dataset) for case in made.cases] == [("Parquet", "eq"), ("CSV", "eq")]


def test_codecs_have_levels_and_colons():
    wanted = ("none", "zstd:3", "default", "blosc:lz4", "blosc:lz4:1")
    made = plan(RunRequest("tabular", formats=("Parquet", "HDF5.table"), codecs=wanted))
    assert [(case.codec, case.level) for case in made.cases if case.format == "Parquet"] == [
        (None, None),
        ("zstd", 3),
        ("snappy", None),
    ]
    blosc = [case.level for case in made.cases if case.codec == "blosc:lz4"]
    assert blosc[1] == 1
    assert any("Parquet codec 'blosc:lz4'" in sentence for sentence in made.left_out)


def test_the_compression_suite_has_two_tracks():
    made = plan(RunRequest("compression", formats=("Feather",)))
    assert [(case.codec, case.level) for case in made.cases] == [
        (None, None),
        ("lz4", 1),
        ("zstd", 1),
    ]


def test_user_data_replace_generated_data():
    made = plan(RunRequest("tabular", formats=("CSV",)), [("mine", 12)])
    assert made.cases == (Case("CSV", "mine", 12),)


def test_each_track_is_a_case_with_the_codec_that_the_adapter_has_of_it():
    made = plan(RunRequest("foxbench", formats=("HDF5", "TileDB", "NPY.memmap")))
    found = [(each.format, each.track, each.codec, each.level) for each in made.cases]
    assert found == [
        ("HDF5", "paper", "blosc:lz4", 6),
        ("HDF5", "best", "blosc:lz4", 6),
        ("TileDB", "paper", "lz4", None),
        ("TileDB", "best", "lz4", None),
        ("NPY.memmap", "paper", None, None),
        ("NPY.memmap", "best", None, None),
    ]
    assert {each.track for each in plan(RunRequest("foxbench", tracks=("best",))).cases} == {"best"}


@pytest.mark.parametrize(
    ("wishes", "error", "words"),
    [
        (RunRequest("tabular", formats=("Parkett",)), UnknownNameError, "did you mean Parquet"),
        (RunRequest("tabular", datasets=("cifar-like",)), UnknownNameError, "no data set 'cifar-like'"),
        (RunRequest("tabular", rows=0), InvalidRequestError, "at least 1"),
        (RunRequest("image", codecs=("zstd",)), InvalidRequestError, "no choice of a codec"),
        (RunRequest("foxbench", codecs=("zstd",)), InvalidRequestError, "tracks of foxbench decide"),
        (RunRequest("foxbench", tracks=("papr",)), UnknownNameError, "did you mean paper"),
        (RunRequest("tabular", tracks=("paper",)), InvalidRequestError, "suite tabular has none"),
        (RunRequest("tabular", steps=("sav",)), UnknownNameError, "did you mean save"),
        (RunRequest("tabular", steps=("cold read",)), InvalidRequestError, "add --cold"),
        (
            RunRequest("tabular", formats=("Excel",), codecs=("zstd",)),
            InvalidRequestError,
            "nothing is left",
        ),
    ],
)
def test_an_impossible_request_is_refused_with_a_reason(wishes, error, words):
    with pytest.raises(error, match=words):
        plan(wishes)


def test_steps_are_those_requested_or_all_that_the_cache_allows():
    def steps(**wishes):
        request = RunRequest("tabular", **wishes)
        return steps_of(request, plan(request).cases)

    every = {each.name for each in plan(RunRequest("tabular")).cases[0].steps}
    assert steps(cold=True) == every
    assert steps() == every - {"cold read"}
    assert steps(steps=("Read", "save")) == {"read", "save"}
    assert steps(steps=("cold read",), cold=True) == {"cold read"}


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("10m", 600), ("1h30m", 5400), ("45", 45), ("2H", 7200)]
)
def test_durations_are_parsed(text, seconds):
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-5s", "0s", "1.5h"])
def test_invalid_durations_are_refused(text):
    with pytest.raises(click.BadParameter):
        Duration().convert(text, None, None)


def test_time_left_is_a_bound_until_all_has_been_timed():
    now = [0.0]
    case = Case("CSV", "eq", 5)
    left = TimeLeft([(case, SAVE), (case, READ)] * 3, clock=lambda: now[0])
    assert left.text() == "2 steps not timed yet"
    left.begin(case, SAVE)
    now[0] = 10
    left.begin(case, READ)
    assert left.text() == "1 step not timed yet, the rest takes 20 s"
    now[0] = 12
    left.begin(case, SAVE)
    # Two more reads of 2 s, one more save, and this one, which has just begun.
    assert left.text() == "about 24 s left"
    now[0] = 18
    assert left.text() == "about 18 s left"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3, "3 s"), (89, "89 s"), (95, "2 min"), (3590, "1 h 0 min"), (4800, "1 h 20 min")],
)
def test_durations_are_printed_duration(seconds, words):
    assert duration(seconds) == words
