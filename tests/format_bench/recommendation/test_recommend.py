"""Recommendations: examples computed by hand, invariants, and the command."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace

import jsonschema
import pytest

import data_formats
from adapter_core import UnknownNameError
from adapter_core.error_bounds import ErrorBound
from adapter_core.errors import InvalidWeightError, NoCandidateError
from format_bench.families.operations import registry_of
from format_bench.recommendation import (
    Requirement,
    brief,
    output,
    purposes,
    questions,
    recommend,
    scope,
    scoring,
)
from format_bench.recommendation.evidence import evidence_on
from format_bench.recommendation.formulas import log_factor
from format_bench.recommendation.purposes import PRESETS, Wish
from format_bench.recommendation.requirements import MEANINGS
from format_bench.recommendation.scoring import Speeds, shift_of
from format_bench.recommendation.sensitivity import break_even_of, smallest_change_for
from format_bench.results import flat_csv, shipped
from format_bench.results.candidates import Candidate, Configuration, candidates_of
from format_bench.results.export import export
from format_bench.results.load import load
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.records import under
from format_bench.results.shipped import DamageCounts, LinkCosts
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from tests.commands import run
from tests.factories.answers import SCHEMA, undocumented
from tests.factories.records import bare, in_rounds, record, results, results_of

READ, SIZE, SAVE = Measure("read time"), Measure("size"), Measure("save time")
C = 4096

# With c, Feather reads in 0.1 s and Parquet in 0.4 s; Feather is 8 c large and Parquet 4 c.
TWO = {
    "Feather": {"read time": 0.09, "size": 7 * C},
    "Parquet": {"read time": 0.39, "size": 3 * C},
}


def order(answer):
    return [bare(each.candidate) for each in answer.ranked]


def test_scores_are_those_computed_by_hand():
    answer = recommend(results_of(TWO), {READ: 1, SIZE: 3})
    assert order(answer) == ["Parquet", "Feather"]
    assert [each.score for each in answer.ranked] == pytest.approx([4 ** (1 / 4), 2 ** (3 / 4)])
    assert answer.first.ratios == {READ: pytest.approx(0.39 / 0.09), SIZE: 1.0}


def test_swapped_weights_swap_the_answer():
    for weighed, first in (({READ: 3, SIZE: 1}, "Feather"), ({READ: 1, SIZE: 3}, "Parquet")):
        assert order(recommend(results_of(TWO), weighed))[0] == first


def test_only_proportions_of_weights_matter():
    one, ten = (recommend(results_of(TWO), {READ: k * 1.0, SIZE: k * 3.0}) for k in (1, 10))
    assert [each.score for each in one.ranked] == pytest.approx([each.score for each in ten.ranked])


def test_tables_are_averaged_geometrically():
    found = results_of(TWO)
    # There, Parquet reads four times as fast, with c: so both read alike on the whole.
    other = results_of(
        {"Feather": {"read time": 3.99}, "Parquet": {"read time": 0.99}}, dataset="u", rows=50_000
    )
    answer = recommend(replace(found, records=found.records + other.records), {READ: 1})
    assert [each.score for each in answer.ranked] == pytest.approx([2.0, 2.0])
    assert [table.dataset for table in answer.datasets] == ["eq", "u"]


def test_the_smallest_change_is_the_one_computed_by_hand():
    answer = recommend(results_of(TWO), {READ: 1, SIZE: 1})
    # log 4 - log 2 apart: 1 - log 2 / log 4 for read time, 1 + log 2 / log 2 for size.
    assert answer.change == (READ, pytest.approx(0.5), "Parquet, no codec")
    for weight, first in ((0.49, "Parquet"), (0.51, "Feather")):
        assert order(recommend(results_of(TWO), {READ: weight, SIZE: 1}))[0] == first
    assert "weight of read time were below 0.5 instead of 1" in output.paragraph(answer)


def test_the_smallest_change_is_right_for_any_numbers():
    draw = random.Random(3)
    changed = 0
    for _ in range(100):
        found = results_of(_drawn(draw, 5, scale=1.0))
        weighed = {measure: draw.uniform(0.5, 3) for measure in (READ, SIZE, SAVE)}
        answer = recommend(found, weighed)
        if answer.change is None:
            continue
        changed += 1
        measure, weight, name = answer.change
        step = 1e-6 * math.copysign(1, weight - weighed[measure])
        assert recommend(found, weighed | {measure: weight + step}).first.candidate.name == name
        assert order(recommend(found, weighed | {measure: weight - step}))[0] == order(answer)[0]
    assert changed > 20


def test_the_change_for_one_candidate_puts_it_before_all_others():
    draw = random.Random(4)
    possible = 0
    for _ in range(60):
        found = results_of(_drawn(draw, 5, scale=1.0))
        weighed = {measure: draw.uniform(0.5, 3) for measure in (READ, SIZE, SAVE)}
        answer = recommend(found, weighed)
        logs = {each.candidate.name: each.logs for each in answer.ranked}
        second = answer.ranked[1].candidate.name
        change = smallest_change_for(second, logs, weighed)
        if change is None:
            continue
        possible += 1
        step = 1e-6 * math.copysign(1, change.weight - weighed[change.measure])
        for moved, is_first in ((step, True), (-step, False)):
            changed = recommend(found, weighed | {change.measure: change.weight + moved})
            assert (changed.first.candidate.name == second) == is_first
    assert possible > 20


def test_no_weight_changes_the_answer_if_one_format_is_best_in_everything():
    best = {"CSV": {"read time": 9.0, "size": 9e6}, "ORC": {"read time": 1.0, "size": 1e6}}
    answer = recommend(results_of(best), {READ: 1, SIZE: 1})
    assert (order(answer)[0], answer.change) == ("ORC", None)
    assert "No change of one weight alone" in output.paragraph(answer)
    assert "Nothing is better in read time and size." in output.paragraph(answer)


def test_the_pareto_front_is_the_one_found_by_hand():
    found = results_of(
        {
            "Feather": {"read time": 1.0, "size": 4e6},
            "ORC": {"read time": 4.0, "size": 1e6},
            "Parquet": {"read time": 2.0, "size": 2e6},
            "CSV": {"read time": 2.0, "size": 3e6},
            "XML": {"read time": 9.0, "size": 1e6},
        }
    )
    answer = recommend(found, {READ: 1, SIZE: 1})
    front = {bare(each.candidate) for each in answer.ranked if each.on_front}
    assert front == {"Feather", "ORC", "Parquet"}


def test_a_break_even_is_where_both_take_the_same_time():
    found = results_of(
        {"ORC": {"read time": 1.0, "size": 10e6}, "Feather": {"read time": 0.5, "size": 60e6}}
    )
    (even,) = recommend(found, {READ: 1, SIZE: 1}).break_evens
    assert even == ("ORC", "Feather, no codec", pytest.approx(100e6), None)
    assert 10e6 / even.bytes_per_second + 1.0 == pytest.approx(60e6 / even.bytes_per_second + 0.5)
    assert output.break_even(even) == "Below 100 MB/s ORC arrives first; above, Feather, no codec."


def _costs(label, share, round_trips):
    sent = round(1000 * share)
    return LinkCosts(
        label,
        "s3",
        "whole",
        9,
        1,
        sent,
        1000,
        0.1,
        round_trips,
        1.0,
        0.0,
        0.0,
        "network",
        "t",
        9,
        "",
        "",
    )


def test_a_break_even_on_a_server_counts_fetched_bytes_and_round_trips():
    found = results_of(
        {"ORC": {"read time": 1.0, "size": 10e6}, "Feather": {"read time": 0.5, "size": 60e6}}
    )
    orc, feather = candidates_of(found.records)
    costs = {"ORC": _costs("ORC", 1.5, 60.0), "Feather": _costs("Feather", 1.0, 10.0)}
    even = break_even_of(feather, orc, costs)
    # ORC: 15 MB, 1 s and 60 round trips of 20 ms; Feather: 60 MB, 0.5 s and 10 round trips.
    assert (even.smaller, even.other) == ("ORC", "Feather, no codec")
    assert even.bytes_per_second == pytest.approx(45e6 / 1.5)
    sentence = output.break_even(even)
    assert "(Feather, no codec waits for 10 and ORC waits for 60): below 30 MB/s ORC" in sentence
    near = costs | {"ORC": _costs("ORC", 1.0, 0.0), "Feather": _costs("Feather", 1.0, 50.0)}
    assert "ORC arrives first at any speed" in output.break_even(break_even_of(orc, feather, near))
    assert break_even_of(orc, feather, {"ORC": costs["ORC"]}) is None


def test_break_evens_on_servers_come_from_the_shipped_table():
    values = {
        "ROOT.RNTuple": {"read time": 1.0, "size": 3e6},
        "Parquet": {"read time": 2.0, "size": 1e6},
    }
    (found,) = recommend(results_of(values), {READ: 1, SIZE: 1}).remote_break_evens
    trips = {f"{label}, no codec": shipped.link_costs()[label].round_trips for label in values}
    assert found.round_trips == trips
    unknown = {"SQLite": {"read time": 1.0, "size": 3e6}, "Parquet": {"read time": 2.0, "size": 1e6}}
    assert recommend(results_of(unknown), {READ: 1, SIZE: 1}).remote_break_evens == []


def test_a_transfer_adds_size_by_speed_to_the_time():
    found = results_of({"A": {"read time": 1.0, "size": 3e6}, "B": {"read time": 2.0, "size": 1e6}})
    plain = recommend(found, {READ: 1})
    assert order(plain) == ["A", "B"]
    # A takes 1 + 3 / 0.5 = 7 s, B 2 + 1 / 0.5 = 4 s.
    fetched = recommend(found, {READ: 1}, speeds=Speeds.of_megabytes(0.5, None))
    assert order(fetched) == ["B", "A"]
    assert fetched.ranked[1].score == pytest.approx(7.01 / 4.01)
    assert fetched.ranked[1].ratios[READ] == pytest.approx(7 / 4)
    assert "read time with transfer at 500 kB/s" in output.paragraph(fetched)
    # Both take as long at the speed of the break-even, 2 MB / 1 s.
    even = recommend(found, {READ: 1}, speeds=Speeds.of_megabytes(2.0, None))
    assert [each.score for each in even.ranked] == [pytest.approx(1), pytest.approx(1)]
    assert even.break_evens[0].bytes_per_second == pytest.approx(2e6)


def test_noise_of_a_time_is_not_that_of_its_transfer():
    values = {"A": {"save time": 1.0, "size": 2e6}, "B": {"save time": 1.0, "size": 3e6}}
    half = math.sqrt(1.2)
    noisy = [
        replace(each, interval=[1 / half, half]) if each.unit == "seconds" else each
        for each in results_of(values).records
    ]
    found = results(noisy, metadata=[])
    slow = recommend(found, {SAVE: 1}, speeds=Speeds.of_megabytes(None, 0.1))
    ends = [(20 + 1 / half + 0.01) / 21.01, (20 + half + 0.01) / 21.01]
    assert slow.first.band == tuple(pytest.approx(each) for each in ends)
    assert slow.ties == []
    fast = recommend(found, {SAVE: 1}, speeds=Speeds.of_megabytes(None, 100))
    assert [each.candidate.name for each in fast.ties] == ["B"]


def test_a_transfer_needs_sizes_and_a_weight():
    values = {"A": {"read time": 1.0, "size": 3e6}, "B": {"read time": 2.0}}
    found = recommend(results_of(values), {READ: 1}, speeds=Speeds.of_megabytes(10, 20))
    assert order(found) == ["A"]
    assert found.excluded[0].empty == "B has no size of eq: not measured"
    assert "the speed does not count, since save time has no weight" in found.caveats
    with pytest.raises(InvalidWeightError, match="has no values of size"):
        recommend(results_of({"A": {"read time": 1.0}}), {READ: 1}, speeds=Speeds(read=1e6))


def test_a_suite_can_be_named():
    images = results_of({"PNG": {"size": 1.0}}, suite="image.Image").records
    found = results_of(TWO)
    found = replace(found, records=[*found.records, *images])
    assert order(recommend(found, {SIZE: 1})) == ["Parquet", "Feather"]
    assert order(recommend(found, {SIZE: 1}, suite="image")) == ["PNG"]
    with pytest.raises(InvalidWeightError, match=r"image in .* has no values of read time"):
        recommend(found, {READ: 1}, suite="image")
    asked = [replace(each, query="Q1") for each in images]
    with pytest.raises(InvalidWeightError, match="no values but of single queries: nothing to rank"):
        purposes.criteria_for(results(asked), Wish())
    with pytest.raises(UnknownNameError, match=r"there is no suite in .*'imag'; did you mean image"):
        recommend(found, {SIZE: 1}, suite="imag")


def test_further_engines_are_candidates_where_they_were_measured():
    engine = results_of(
        {"CSV[polars]": {"size": 2.0 * C, "read time": 1.0}}, suite="engines.Engines"
    ).records
    usual = results_of(TWO)
    found = replace(usual, records=[*usual.records, *engine])
    assert order(recommend(found, {SIZE: 1})) == ["CSV[polars]", "Parquet", "Feather"]
    more = [replace(each, dataset="str") for each in usual.records]
    found = replace(found, records=[*found.records, *more])
    both = recommend(found, {SIZE: 1})
    assert order(both) == ["Parquet", "Feather"]
    assert "the results of engines are left out" in both.caveats[-1]
    assert order(recommend(scope.of_dataset(found, "eq"), {SIZE: 1}))[0] == "CSV[polars]"


def test_there_is_no_break_even_where_one_is_smaller_and_faster():
    found = results_of(
        {
            "ORC": {"read time": 1.0, "size": 10e6, "save time": 2.0},
            "Feather": {"read time": 2.0, "size": 60e6, "save time": 1.0},
        }
    )
    (even,) = recommend(found, {READ: 1, SAVE: 1}).break_evens
    assert even == ("ORC", "Feather, no codec", None, None)
    assert "over a link of any speed" in output.break_even(even)


@pytest.mark.parametrize(("slower", "ties"), [(1.04, True), (1.3, False)])
def test_a_difference_below_the_noise_of_the_rounds_is_a_tie(slower, ties):
    # Far above c, so that scores differ as values do; six show how variances are distributed.
    seconds = {"ORC": 1.0, "Parquet": slower, "CSV": 5.0, "JSON": 6.0, "Avro": 7.0, "Pickle": 8.0}
    values = {label: {"read time": 1000.0 * each} for label, each in seconds.items()}
    answer = recommend(results(in_rounds(results_of(values).records), metadata=[]), {READ: 1})
    assert (bool(answer.ties), answer.noise) == (ties, "rounds")
    assert answer.ranked[1].places == ((1, 2) if ties else (2, 2))
    assert ("Parquet, no codec is a tie with it" in output.paragraph(answer)) is ties


@pytest.mark.parametrize(("low", "ties"), [(1.9, True), (2.1, False)])
def test_without_rounds_intervals_decide_ties(low, ties):
    first = record("ORC", "read time", 1.0, interval=[0.5, 2.0])
    second = record("Parquet", "read time", 3.0, interval=[low, 4.0])
    answer = recommend(replace(results_of({}), records=[first, second]), {READ: 1})
    assert (bool(answer.ties), answer.noise) == (ties, "intervals")


def test_single_samples_have_no_ties_and_a_remark_explains_it():
    answer = recommend(results_of(TWO), {READ: 1})
    assert (answer.ties, answer.noise) == ([], "unknown")
    assert any("ties are not known" in each for each in answer.caveats)


def _drawn(draw, number, scale):
    labels = data_formats.names()[:number]
    return {
        label: {
            "read time": scale * draw.uniform(0.5, 5),
            "save time": scale * draw.uniform(0.5, 5),
            "size": scale * draw.uniform(1e6, 1e7),
        }
        for label in labels
    }


@pytest.mark.parametrize("seed", range(10))
def test_neither_a_worse_format_nor_a_missing_one_changes_the_order(seed):
    draw = random.Random(seed)
    values = _drawn(draw, 6, scale=1.0)
    weighed = {READ: 2.0, SAVE: 1.0, SIZE: 3.0}
    before = order(recommend(results_of(values), weighed))
    worse = {metric: 2 * value for metric, value in values[before[2]].items()}
    after = order(recommend(results_of(values | {"Pickle": worse}), weighed))
    assert [name for name in after if name != "Pickle"] == before
    del values[before[0]]
    assert order(recommend(results_of(values), weighed)) == before[1:]


@pytest.mark.parametrize("seed", range(10))
def test_the_scale_of_a_metric_leaves_the_order_far_above_c(seed):
    values = _drawn(random.Random(seed), 6, scale=1e6)
    scaled = {label: found | {"read time": 1000 * found["read time"]} for label, found in values.items()}
    weighed = {READ: 2.0, SAVE: 1.0, SIZE: 3.0}
    assert order(recommend(results_of(scaled), weighed)) == order(recommend(results_of(values), weighed))


def test_c_belongs_to_the_unit():
    values, best = [0.3, 0.5], [0.1, 0.5]
    assert log_factor(values, best, 0.01) == pytest.approx(
        log_factor([1000 * each for each in values], [1000 * each for each in best], 10)
    )
    assert all(metric.shift > 0 for metric in METRICS.values())
    assert {name: shift_of(Measure(name)) for name in METRICS}["read memory"] == 2**20


def test_the_best_value_may_be_zero():
    found = results_of({"JSON": {"lost columns": 2.0}, "ORC": {"lost columns": 0.0}})
    answer = recommend(found, {Measure("lost columns"): 1})
    assert [each.score for each in answer.ranked] == pytest.approx([1, 3])
    assert answer.ranked[1].ratios == {Measure("lost columns"): None}


def test_warm_and_cold_reads_are_separate_metrics():
    found = results_of({"ORC": {"read time": 1.0}, "CSV": {"read time": 2.0}}, cache="warm")
    cold = results_of({"ORC": {"read time": 4.0}, "CSV": {"read time": 3.0}}, cache="cold")
    both = replace(found, records=found.records + cold.records)
    assert order(recommend(both, {READ: 1}))[0] == "ORC"
    assert order(recommend(both, {Measure.named("cold_read_time"): 1}))[0] == "CSV"


def test_a_codec_makes_a_candidate_of_its_own():
    found = results_of({"Parquet": {"size": 4e6}})
    zstd = results_of({"Parquet": {"size": 1e6}}, codec="zstd", level=3)
    joined = replace(found, records=found.records + zstd.records)
    assert order(recommend(joined, {SIZE: 1})) == ["Parquet zstd 3", "Parquet"]


def test_compressed_cases_join_those_of_a_single_table():
    found = results_of({"Parquet": {"size": 4e6}})
    zstd = results_of({"Parquet": {"size": 1e6}}, suite="compression.Compression", codec="zstd", level=1)
    joined = replace(found, records=found.records + zstd.records)
    assert order(recommend(joined, {SIZE: 1})) == ["Parquet zstd 1", "Parquet"]
    second = results_of({"Parquet": {"size": 4e6}}, dataset="u")
    several = replace(joined, records=joined.records + second.records)
    answer = recommend(several, {SIZE: 1})
    assert order(answer) == ["Parquet"]
    assert any("the results of compression are left out" in each for each in answer.caveats)


def test_a_missing_value_excludes_with_its_reason():
    found = results_of(TWO)
    missing = [record("XML", "read time", None), record("XML", "size", 1.0)]
    unmeasured = [record("CSV", "size", 1.0)]
    answer = recommend(replace(found, records=found.records + missing + unmeasured), {READ: 1, SIZE: 1})
    assert {each.candidate.name: each.empty for each in answer.excluded} == {
        "XML": "XML has no read time of eq: failed: it fell over",
        "CSV": "CSV has no read time of eq: not measured",
    }


FAST = {"Pickle": {"size": 1e6}, "Parquet": {"size": 2e6}, "JSON": {"size": 9e6}}


@pytest.mark.parametrize(
    ("required", "left", "sentence"),
    [
        ("safe", {"Parquet", "JSON"}, "Pickle runs code that a file contains when it is read"),
        ("portable", {"Parquet", "JSON"}, "Pickle is read by Python alone, in whole or in part"),
        ("text", {"JSON"}, "Parquet, no codec is not text that people can read"),
        ("append", {"JSON"}, "Parquet, no codec cannot take more rows without being written again"),
        ("columns", {"Parquet"}, "JSON reads whole tables only"),
    ],
)
def test_a_requirement_excludes_with_a_sentence(required, left, sentence):
    answer = recommend(results_of(FAST), {SIZE: 1}, [Requirement(required)])
    assert set(order(answer)) == left
    assert sentence in [text for each in answer.excluded for text in each.reasons.values()]


def test_a_lossy_format_is_chosen_only_if_that_is_allowed():
    words = "pixels of 8 of 8 images changed"
    found = [record("JPEG", "size", 1e4, suite="image"), record("PNG", "size", 2e4, suite="image")]
    found += [record("JPEG", "changed images", 8, sentence=words, suite="image")]
    found += [record("PNG", "changed images", 0, suite="image")]
    for allow_lossy, first in ((False, "PNG"), (True, "JPEG, lossy")):
        wish = Wish({SIZE: 1}, allow_lossy=allow_lossy)
        wanted = purposes.criteria_for(results(found), wish)
        answer = recommend(results(found), wanted.weights, wanted.requirements)
        assert answer.first.candidate.name == first
        said = output.paragraph(answer)
        assert (f"JPEG, lossy changes values: {words}" in said) is not allow_lossy
    # Tables, of which none changes values, are not asked.
    assert purposes.criteria_for(results_of(TWO), Wish({SIZE: 1})).requirements == ()


def test_lossy_files_within_the_greatest_error_are_candidates_with_a_mark():
    found = [record("HDF5", "size", 9e3, suite="chunks", codec="zstd", level=3)]
    for bound, size in (("abs 0.01", 1e3), ("abs 0.0001", 4e3), ("rel 0.0001", 2e3)):
        more = {"codec": "zfp+lossy", "conditions": {"error bound": bound, "threads": "all"}}
        found.append(record("HDF5", "size", size, suite="chunks", **more))
        found.append(record("HDF5", "lost properties", 1, suite="chunks", **more))
    for most, first in (
        (None, "HDF5 zstd 3"),
        ("abs 1e-3", "HDF5 zfp+lossy within abs 0.0001, lossy"),
        ("abs 1e-6", "HDF5 zstd 3"),
        ("rel 1", "HDF5 zfp+lossy within rel 0.0001, lossy"),
    ):
        bound = ErrorBound.parse(most) if most else None
        wish = Wish({SIZE: 1}, max_error=bound)
        wanted = purposes.criteria_for(results(found), wish)
        answer = recommend(results(found), wanted.weights, wanted.requirements)
        assert answer.first.candidate.name == first
        assert len(answer.excluded) == (3 if first == "HDF5 zstd 3" else 2)
        if bound:
            unverified = results(each for each in found if each.metric == "size")
            answer = recommend(unverified, wanted.weights, wanted.requirements)
            assert answer.first.candidate.name == "HDF5 zstd 3"
            assert (
                f"values may change within {bound}; such candidates are marked as lossy"
                in wanted.caveats
            )


@pytest.fixture
def tried(monkeypatch):
    """Ship the results of trials of CSV, Parquet and Excel with damaged files."""
    text = (
        "family,format,codec,checksums,dataset,rows,flips,flips_wrong,others,others_wrong,"
        "crashes,hangs,date,libraries\n"
        "tables,CSV,,0,eq,10,40,30,16,2,0,0,2026-01-01,pandas 3\n"
        "tables,Parquet,,0,eq,10,100,88,40,4,0,0,2026-01-01,pyarrow 26\n"
        "tables,Parquet,,1,eq,10,100,0,40,0,0,0,2026-01-01,pyarrow 26\n"
        "tables,Excel,,0,eq,10,40,0,16,0,0,0,2026-01-01,openpyxl 3\n"
    )
    rows = flat_csv.from_csv(DamageCounts, text)
    found = {(each.family, each.format, each.codec, each.checksums): each for each in rows}
    monkeypatch.setattr(shipped, "damage", lambda: found)


@pytest.mark.usefixtures("tried")
def test_detection_of_damage_follows_from_the_trials():
    found = results_of({name: {"size": 1e6} for name in ("CSV", "Parquet", "Excel", "ORC")})
    answer = recommend(found, {SIZE: 1}, [Requirement("detects-damage")])
    assert order(answer) == ["Excel"]
    sentences = {text for each in answer.excluded for text in each.reasons.values()}
    assert sentences == {
        "CSV returned wrong values from 32 of 56 damaged files",
        (
            "Parquet, no codec returned wrong values from 92 of 140 damaged files, with its optional "
            "checksums from 0 of 140; they are off in these results"
        ),
        "ORC was never tried with damaged files",
    }


def test_the_shipped_trials_cover_all_families_and_published_formats():
    counted = shipped.damage()
    assert {family for family, *_ in counted} == {"tables", "images", "arrays"}
    for label in ("Parquet", "SQLite", "HDF5.table", "Avro", "Protobuf", "ROOT.TTree"):
        assert counted["tables", label, "", False].flips == 100, label
    assert counted["tables", "Parquet", "", True].wrong == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_readers_that_crash_on_damage_declare_it(family):
    ended = {
        each.format
        for each in shipped.damage().values()
        if each.family == family and each.crashes + each.hangs
    }
    registry = registry_of(FAMILIES[family])
    adapters = [registry.find(name) for name in registry.names()]
    assert {each.label for each in adapters if each.crash_on_damage} == ended


def test_a_better_format_that_is_excluded_is_named():
    answer = recommend(results_of(FAST), {SIZE: 1}, [Requirement.SAFE])
    assert [each.candidate.name for each in answer.better_but_excluded] == ["Pickle"]
    assert "Pickle would come first, but Pickle runs code" in output.paragraph(answer)


STORES = {
    "MessagePack[msgspec]": 0.1,
    "CapnProto": 0.2,
    "Kryo[jvm]": 0.3,
    "Protobuf[jvm]": 0.4,
}


def warm_times(seconds_of, metric, **coordinates):
    """Return results of one warm time for each label."""
    return results(
        record(label, metric, seconds, cache="warm", **coordinates)
        for label, seconds in seconds_of.items()
    )


@pytest.fixture
def stores():
    return warm_times(STORES, "read time", suite="records", dataset="entities")


def test_a_ranking_of_two_languages_says_so_and_takes_one(stores):
    wish = Wish({READ: 1.0})
    assert any("--language java" in each for each in purposes.criteria_for(stores, wish).caveats)
    of_java = Wish({READ: 1.0}, (Requirement.JAVA,))
    criteria = purposes.criteria_for(stores, of_java)
    assert not any("--language" in each for each in criteria.caveats)
    answer = recommend(stores, criteria.weights, criteria.requirements)
    assert order(answer) == ["Kryo[jvm]", "Protobuf[jvm]"]
    reasons = {each.candidate.name: each.reasons[Requirement.JAVA] for each in answer.excluded}
    assert reasons["CapnProto"] == "CapnProto was measured in a program in Python"
    python = recommend(stores, {READ: 1.0}, [Requirement.PYTHON])
    assert order(python) == ["MessagePack[msgspec]", "CapnProto"]


LOOPS = {
    "ROOT.TTree[branches]": 0.1,
    "ROOT.TTree[TTreeReader]": 0.2,
    "ROOT.RNTuple[views]": 0.3,
    "ROOT.TTree[RDataFrame]": 0.4,
    "ROOT.RNTuple[RDataFrame]": 0.5,
    "ROOT.TTree[ROOT]": 0.05,
    "Feather": 0.01,
}


@pytest.fixture
def loops():
    return warm_times(LOOPS, "query time", suite="analysis", dataset="kaons")


def test_loops_of_compiled_code_are_ranked_alone(loops):
    asked = Measure("query time", "warm")
    in_cpp = recommend(loops, {asked: 1.0}, [Requirement.CPP])
    assert order(in_cpp) == [each for each in LOOPS if each not in {"ROOT.TTree[ROOT]", "Feather"}]
    reasons = {bare(each.candidate): each.reasons[Requirement.CPP] for each in in_cpp.excluded}
    assert reasons["Feather"].endswith(" was measured in a program in Python")
    in_python = recommend(loops, {asked: 1.0}, [Requirement.PYTHON])
    assert order(in_python) == ["Feather", "ROOT.TTree[ROOT]"]
    reasons = {bare(each.candidate): each.reasons[Requirement.PYTHON] for each in in_python.excluded}
    assert reasons["ROOT.RNTuple[views]"].endswith(" was measured in a program in C++")
    with pytest.raises(NoCandidateError):
        recommend(loops, {asked: 1.0}, [Requirement.JAVA])


@pytest.mark.parametrize(
    ("left_out", "sentence"),
    [
        ([], "programs in Python, Java (marked [jvm]) and C++ are ranked together; each of --language "),
        (["[jvm]"], "programs in Python and C++ are ranked together; each of --language python and "),
        (["ROOT", "Feather", "Cap", "Mess"], ""),
    ],
)
def test_the_notice_names_the_languages_that_are_present(left_out, sentence, stores, loops):
    found = [
        Candidate(Configuration.of(each))
        for each in [*stores.records, *loops.records]
        if not any(part in each.format for part in left_out)
    ]
    caveats = Wish({READ: 1.0}).completing(purposes.Criteria({}, (), []), found).caveats
    mixed = [each for each in caveats if "ranked together" in each]
    assert [each.startswith(sentence) for each in mixed] == ([True] if sentence else [])


def test_the_option_takes_one_language(stores, tmp_path):
    export(stores.records, tmp_path / "results.jsonl")
    done = run("recommend", tmp_path, "--weight", "read_time=1", "--language", "java")
    assert done.returncode == 0, done.stderr
    assert "Kryo[jvm]" in done.stdout
    assert "msgspec" not in done.stdout
    # Records have no programs in C++, and Rust no programs at all.
    none = run("recommend", tmp_path, "--weight", "read_time=1", "--language", "c++")
    assert (none.returncode, none.stdout) == (2, "")
    assert "c++" in none.stderr
    unknown = run("recommend", tmp_path, "--language", "rust")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert [each for each in unknown.stderr.splitlines() if "rust" in each] == [
        unknown.stderr.splitlines()[-1]
    ]
    assert "c++" in unknown.stderr


def test_lazy_reads_are_named(stores):
    (lazy,) = [
        each for each in purposes.criteria_for(stores, Wish({READ: 1.0})).caveats if "decoding" in each
    ]
    assert lazy == "a read leaves decoding until a field is used: CapnProto and Protobuf[jvm]"
    alone = replace(stores, records=[each for each in stores.records if "Cap" in each.format])
    (first, *_) = brief.brief_of(recommend(alone, {READ: 1.0})).lines
    assert first[1].startswith("CapnProto; its read leaves work: a field is decoded when it is used")


def test_what_java_alone_reads_is_not_said_to_be_read_by_python(stores):
    answer = recommend(stores, {READ: 1.0}, [Requirement.PORTABLE])
    reasons = {each.candidate.name: each.reasons[Requirement.PORTABLE] for each in answer.excluded}
    assert reasons == {"Kryo[jvm]": "Kryo[jvm] is read by Java alone, in whole or in part"}


def test_a_directory_is_not_a_single_file():
    found = results_of({"Lance": {"size": 1e6}, "ORC": {"size": 2e6}})
    assert order(recommend(found, {SIZE: 1}, [Requirement.SINGLE_FILE])) == ["ORC"]


def test_exact_follows_from_the_results():
    values = {
        "ORC": {"size": 1e6, "lost columns": 0.0},
        "JSON": {"size": 1e6, "lost columns": 2.0},
        "CSV": {"size": 1e6},
    }
    found = results_of(values)
    lost = replace(found.records[3], sentence="column a: floats were rounded; column b: too")
    answer = recommend(
        replace(found, records=[*found.records[:3], lost, *found.records[4:]]),
        {SIZE: 1},
        [Requirement.EXACT],
    )
    assert order(answer) == ["ORC"]
    assert {each.candidate.name: each.reasons[Requirement.EXACT] for each in answer.excluded} == {
        "JSON": "JSON loses something in 2 columns of eq: column a: floats were rounded",
        "CSV": "whether CSV kept eq was not verified",
    }


def test_the_facts_of_a_missing_format_are_unknown():
    found = results_of({"Nimble": {"size": 1.0}, "ORC": {"size": 2e6}})
    assert order(recommend(found, {SIZE: 1}))[0] == "Nimble"
    answer = recommend(found, {SIZE: 1}, [Requirement.SAFE, Requirement.COLUMNS])
    assert list(answer.excluded[0].reasons.values()) == [
        "whether Nimble is safe is not known here",
        "whether Nimble has column projection is not known here",
    ]


def test_a_compressed_text_is_not_text():
    found = results_of({"CSV": {"size": 1e6}}, codec="gzip", level=9)
    plain = results_of({"CSV": {"size": 2e6}})
    joined = replace(found, records=found.records + plain.records)
    assert order(recommend(joined, {SIZE: 1}, [Requirement.TEXT])) == ["CSV"]


def test_images_are_ranked_by_their_own_metrics():
    values = {
        "PNG": {"random read time per image": 3e-4, "changed images": 0.0},
        "JPEG": {"random read time per image": 1e-4, "changed images": 9.0},
    }
    found = results_of(values, suite="image.ImageRandom", dataset="digits")
    weighed = {Measure("random read time per image"): 1.0}
    assert order(recommend(found, weighed)) == ["JPEG", "PNG"]
    assert order(recommend(found, weighed, [Requirement.EXACT])) == ["PNG"]
    with pytest.raises(NoCandidateError, match="PNG keeps images: columns is a requirement on tables"):
        recommend(found, weighed, [Requirement.COLUMNS])


def test_a_preset_leaves_out_metrics_that_the_results_lack():
    found = results_of(TWO)
    wanted = purposes.criteria_for(found, Wish(preset="training"))
    assert wanted.weights == {READ: 3}
    assert wanted.requirements == (Requirement.COLUMNS,)
    assert [each.partition(":")[0] for each in wanted.caveats] == [
        # Tables have no reads of single images or chunks, of which nothing is said.
        "read memory does not count",
    ]
    archive = purposes.criteria_for(found, Wish({READ: 0.5}, (Requirement.TEXT,), "archive"))
    assert archive.weights == {SIZE: 3, READ: 0.5}
    assert Requirement.EXACT not in archive.requirements
    assert Requirement.TEXT in archive.requirements
    (caveat,) = archive.caveats
    assert caveat == "exact is not required: whether Feather, no codec kept eq was not verified"


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_answers_for_published_tables(name):
    found = load("thesis")
    wanted = purposes.criteria_for(found, Wish(preset=name))
    assert recommend(found, wanted.weights, wanted.requirements).ranked


def test_published_conclusions_follow_from_published_figures():
    found = load("thesis")
    both = {SAVE: 1.0, READ: 1.0}
    images = scope.of_dataset(found, "CIFAR-10")
    assert order(recommend(found, both))[0] == "Feather"
    assert order(recommend(images, both))[0] == "SQLite"
    assert order(recommend(images, {SIZE: 1.0}))[0] == "PNG"
    webface = order(recommend(scope.of_dataset(found, "webface"), {SIZE: 1.0}))
    assert next(name for name in webface if " " not in name) == "Parquet"


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["size"], "a metric and its weight are wanted"),
        (["size=-1"], "-1 is not a number from 0 on"),
        (["size=nan"], "nan is not a number"),
        (["size=inf"], "inf is not a number"),
        (["size="], "nothing is not a number"),
        (["size=1", "size=2"], "size has a weight already, 1"),
        (["size=1", "SIZE=1"], "size has a weight already, 1"),
    ],
)
def test_bad_weights_are_refused_with_a_reason(texts, words):
    with pytest.raises(InvalidWeightError, match=words):
        scoring.parsed(texts)


@pytest.mark.parametrize(
    ("weighed", "words"),
    [
        ({}, "nothing to choose by"),
        ({SIZE: 0.0}, "nothing to choose by"),
        ({SIZE: -1.0}, "the weight of size is -1"),
        ({SIZE: math.nan}, "the weight of size is nan"),
        ({Measure("save memory"): 1.0}, "no values of save memory; it has read_time, size"),
        ({Measure("read time", "cold"): 1.0}, "no values of cold read time"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(weighed, words):
    with pytest.raises(InvalidWeightError, match=words):
        recommend(results_of(TWO), weighed)


def test_unknown_metrics_are_refused_with_similar_names():
    assert Measure.named("cold_read-time") == Measure("read time", "cold")
    with pytest.raises(UnknownNameError, match="no metric 'reed_time'; did you mean read_time"):
        scoring.parsed(["reed_time=1"])


@pytest.mark.parametrize("step", ["read time", "lost columns"])
@pytest.mark.parametrize("weights", [{SIZE: 1}, {SAVE: 1, SIZE: 2}])
def test_a_format_whose_read_failed_is_never_recommended(step, weights):
    best = {"read time": 0.01, "size": 1, "save time": 0.001, "lost columns": 0, step: None}
    read = {"read time": 0.09, "size": 7 * C, "save time": 0.1, "lost columns": 0}
    answer = recommend(results_of({"Pickle": best, "Feather": read}), weights)
    assert order(answer) == ["Feather"]
    assert "it fell over" in answer.excluded[0].empty


def test_a_suite_that_counts_no_losses_has_candidates_beside_the_others():
    best = {"read time": 0.01, "size": 1}
    read = {"read time": 0.09, "size": 7 * C, "lost columns": 0}
    answer = recommend(results_of({"Pickle": best, "Feather": read}), {SIZE: 1})
    assert order(answer) == ["Pickle", "Feather"]


def test_results_without_values_say_why_nothing_can_be_recommended():
    nothing = results_of({"Feather": dict.fromkeys(TWO["Feather"])})
    with pytest.raises(NoCandidateError, match=r"^none of 1 can be chosen: .*it fell over"):
        purposes.criteria_for(nothing, Wish(preset="analytics"))


def test_an_empty_answer_names_the_excluding_requirements():
    with pytest.raises(NoCandidateError) as caught:
        recommend(results_of(TWO), {SIZE: 1}, [Requirement.TEXT, Requirement.APPEND])
    assert str(caught.value) == (
        "none of 2 can be chosen: text excludes 2 (Feather, no codec is not text that people can "
        "read); append excludes 2 (Feather, no codec cannot take more rows without being written again)"
    )


def test_metrics_of_two_families_are_not_weighed_together():
    tables = results_of(TWO)
    images = results_of({"PNG": {"open time": 1.0}}, suite="image", dataset="digits")
    joined = replace(tables, records=tables.records + images.records)
    with pytest.raises(InvalidWeightError, match="has open time and size of different families"):
        recommend(joined, {SIZE: 1, Measure("open time"): 1})
    assert recommend(joined, {Measure("open time"): 1}).suite == "image"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder of results with a failed cell."""
    folder = tmp_path_factory.mktemp("made")
    cheese = "the disk is made of cheese"
    failed = record("XML", "read time", None, status=CellStatus.FAILED, sentence=cheese)
    lost = [record(label, "lost columns", 0.0) for label in TWO]
    export(
        [*results_of(TWO).records, failed, record("XML", "size", 1.0), *lost], folder / "results.jsonl"
    )
    return folder


def test_the_command_prints_a_table_and_words(made):
    wish = ("--weight", "size=1", "--weight", "read_time=3", "--require", "safe")
    done = run("recommend", made, *wish, "--explain")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Use Feather, no codec: of 2 that meet safe it is best on the whole" in done.stdout
    assert re.search(r"^Feather, no codec +P +1 +1\.19 +2\.33 +1\.00$", done.stdout, re.MULTILINE)
    assert 'df.to_feather("data.feather", compression="uncompressed", version=2)' in done.stdout
    assert "the disk is made of cheese" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    quiet = run("--quiet", "recommend", made)
    assert "note:" not in quiet.stdout


def test_the_command_prints_json(made):
    done = run("recommend", made, "--preset", "archive", "--json")
    found = json.loads(done.stdout)
    wanted = purposes.criteria_for(load(made), Wish(preset="archive"))
    answer = recommend(load(made), wanted.weights, wanted.requirements)
    whole = output.to_json(answer, evidence_on(answer, load(made)))
    assert found == json.loads(json.dumps(whole))
    assert [each.message for each in undocumented(found)] == []
    assert found["use"] == "Parquet, no codec"
    assert {each["name"]: each["missing_value"] for each in found["excluded"]} == {
        "XML": "XML has no read time of eq: failed: the disk is made of cheese"
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--weight", "size=-1"], "--weight size=-1: -1 is not a number from 0 on"),
        (["--weight", "sise=1"], "there is no metric 'sise'; did you mean size?"),
        (["--weight", "size=0"], "nothing to choose by"),
        (["--weight", "open_time=1"], "no values of open time"),
        (["--require", "text", "--require", "columns"], "none of 3 can be chosen: text excludes 2"),
        (["--dataset", "str"], "there is no data set in made"),
        (["--suite", "image"], "there is no suite in made"),
        (["--read-speed", "0"], "a speed of 0 MB/s; it must be a number above 0"),
        (["--save-speed", "nan"], "a speed of nan MB/s"),
    ],
)
def test_impossible_requests_are_reported_in_one_line(made, arguments, words):
    done = run("recommend", made, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("format-bench: ")
    assert words in line


def test_a_condition_is_written_as_run_takes_it(tmp_path):
    limited = [
        under(
            each, **{"memory limit": "2G"} if each.format == "Feather" else {"link": "20 ms, 100 Mbit/s"}
        )
        for each in results_of(TWO).records
    ]
    export(limited, tmp_path / "results.jsonl")
    for condition, name in {
        "memory limit=2048M": "Feather",
        "memory-limit=2G": "Feather",
        "link=20ms/100Mbit": "Parquet",
        "link=20 ms, 100 Mbit/s": "Parquet",
    }.items():
        done = run("recommend", tmp_path, "--under", condition, "--explain")
        assert (f"Use {name}, no codec: it is the only one" in done.stdout) is True, done.stderr
    done = run("recommend", tmp_path, "--under", "link=1 hop")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "write e.g. 20ms" in done.stderr


def test_missing_results_are_reported_in_one_line(tmp_path):
    done = run("recommend", tmp_path / "gone")
    assert done.returncode == 2
    assert done.stderr.startswith(f"format-bench: there are no results at {tmp_path / 'gone'}")
    assert len(done.stderr.splitlines()) == 1


def test_the_page_agrees_with_the_code(root):
    page = (root / "docs" / "recommendation.md").read_text(encoding="utf-8")
    required = page[page.index("## Requirements") : page.index("## Evidence")]
    rows = re.findall(r"^\| `(\w[\w+-]*)` \| (.+) \|$", required, re.MULTILINE)
    assert rows == [(str(each), meaning) for each, meaning in MEANINGS.items()]
    presets = page[page.index("## Presets") : page.index("## An example")]
    for name, preset in PRESETS.items():
        lines = [f"### {name}", "", preset.purpose, ""]
        lines += [f"- `{key}={each.weight}`: {each.reason}" for key, each in preset.weighted.items()]
        lines += [f"- `{each}`: {reason}" for each, reason in preset.required.items()]
        assert "\n".join([*lines, ""]) in presets
        presets = presets.replace("\n".join(lines), "")
    assert "###" not in presets


def test_the_example_of_the_page_is_the_output(root):
    page = (root / "docs" / "recommendation.md").read_text(encoding="utf-8")
    command, printed = re.search(
        r"## An example.*?```sh\nformat-bench (.*?)\n```\n\n```\n(.*?)```", page, re.DOTALL
    ).groups()
    assert run(*command.split()).stdout == printed


def answer(label, query, seconds, **facts):
    facts = {"suite": "query", "dataset": "query", "cache": "warm", "query": query} | facts
    return record(label, "query time", seconds, **facts)


ANSWERS = [
    answer("Parquet[duckdb]", "point", 0.004, interval=[0.003, 0.006]),
    answer("Parquet[duckdb]", "group", 0.010, interval=[0.009, 0.011]),
    answer("Lance[lance]", "point", 0.001),
    answer("Lance[lance]", "group", 0.022),
    answer("Delta[deltalake]", "point", None, status=CellStatus.UNSUPPORTED, sentence="no numbers"),
    answer("Delta[deltalake]", "group", 0.001),
    answer("CSV[polars]", "group", 0.001),
]


@pytest.mark.parametrize(
    ("mix", "times"), [({"point": 3.0, "group": 1.0}, (5.5, 6.25)), ({"group": 2.0}, (10, 22))]
)
def test_a_mix_ranks_pairs_by_the_mean_time_of_a_question(mix, times):
    found = recommend(questions.mixed(results(ANSWERS), mix), {Measure("query time"): 1})
    values = {
        each.candidate.name: each.candidate.value(each_set, Measure("query time"))
        for each in found.ranked
        for each_set in found.datasets
    }
    assert values["Parquet[duckdb]"] == pytest.approx(times[0] / 1e3)
    assert values["Lance[lance]"] == pytest.approx(times[1] / 1e3)
    scores = {each.candidate.name: each.score for each in found.ranked}
    best = min(values.values())
    assert scores["Lance[lance]"] == pytest.approx((times[1] / 1e3 + 1e-4) / (best + 1e-4))
    left_out = any("1 query does not count" in each for each in found.caveats)
    assert left_out is (len(mix) == 1)


def test_a_pair_without_an_answer_in_the_mix_is_excluded_with_the_question():
    found = recommend(
        questions.mixed(results(ANSWERS), {"point": 1.0, "group": 1.0}), {Measure("query time"): 1}
    )
    reasons = {each.candidate.name: each.empty for each in found.excluded}
    assert reasons["Delta[deltalake]"].endswith("of query: unsupported: point: no numbers")
    assert reasons["CSV[polars]"].endswith("unavailable: point was not measured")
    duckdb = next(each for each in found.ranked if each.candidate.name == "Parquet[duckdb]")
    (cell,) = duckdb.candidate.cells.values()
    assert cell.interval == pytest.approx([0.006, 0.0085])


@pytest.mark.parametrize("text", ["point", "point=", "point=-1", "point=0", "=3", "point=nan"])
def test_a_question_needs_a_number_above_0(text):
    with pytest.raises(InvalidWeightError, match=r"number above 0"):
        questions.parsed([text])


def test_questions_and_their_weight_need_each_other():
    own = {Measure("size"): 1.0}
    assert questions.weighed(own, {}) == own
    assert questions.weighed(own, {"point": 2.0}) == own | {Measure("query time"): 1.0}
    cold = {Measure("query time", "cold"): 3.0}
    assert questions.weighed(cold, {"point": 2.0}) == cold
    with pytest.raises(InvalidWeightError, match="no question a number: add --question"):
        questions.weighed(cold, {})
    with pytest.raises(InvalidWeightError, match="point has a number already, 1"):
        questions.parsed(["point=1", "point=2"])
    with pytest.raises(UnknownNameError, match="no question in made up 'pint'; did you mean point"):
        questions.mixed(results(ANSWERS), {"pint": 1.0})


def test_the_schema_takes_answers_of_all_kinds_and_refuses_others():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    noisy = results(in_rounds(results_of(TWO).records, apart=1.9))
    for found in (results_of(TWO), noisy, results_of({"CSV": TWO["Feather"]})):
        answer = json.loads(json.dumps(output.to_json(recommend(found, {READ: 1, SIZE: 3}))))
        assert [each.message for each in undocumented(answer)] == []
        assert [*undocumented(answer | {"version": 2})] != []
        assert [*undocumented(answer | {"new": 1})] != []
        assert [*undocumented({name: each for name, each in answer.items() if name != "ranked"})] != []
