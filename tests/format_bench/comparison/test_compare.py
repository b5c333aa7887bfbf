"""Comparisons of two results: examples computed by hand, invariants, and the command."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import numpy as np
import pytest

from adapter_core.errors import NoCommonCellsError
from format_bench.cli.commands.compare import show
from format_bench.comparison import Significance, compare, kendall_tau_b, ranks, spearman
from format_bench.results.export import export
from format_bench.results.load import Results, load
from format_bench.results.metrics import Measure
from tests.commands import run
from tests.factories.records import record, results_of

LOW = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
HIGH = [3.0, 3.1, 3.2, 3.3, 3.4, 3.5]
LABELS = ("CSV", "ORC", "Parquet", "Feather", "Pickle", "Lance")


def timed(samples: dict[str, list[float]], **told) -> Results:
    records = [
        record(label, "read time", float(np.median(each)), repeats=list(each), **told)
        for label, each in samples.items()
    ]
    return Results("timed", records, [])


def only(comparison):
    (ratio,) = comparison.ratios
    return ratio


def test_a_ratio_and_its_interval_are_those_computed_by_hand():
    ratio = only(compare(timed({"CSV": LOW}), timed({"CSV": HIGH})))
    assert ratio.value == pytest.approx(3.25 / 1.25)
    assert (ratio.low, ratio.high) == (pytest.approx(3.0 / 1.5), pytest.approx(3.5 / 1.0))
    # Six samples: the whole range, missed by the median if all lie on one side of it.
    assert ratio.confidence == pytest.approx((1 - 2 / 2**6) ** 2)
    assert ratio.significance is Significance.REAL


def test_overlapping_intervals_are_noise():
    ratio = only(compare(timed({"CSV": LOW}), timed({"CSV": [1.45, *HIGH[1:]]})))
    assert ratio.value > 2
    assert ratio.low < 1 < ratio.high
    assert ratio.significance is Significance.NOISE


@pytest.mark.parametrize(("second", "expected"), [(1.0, Significance.REAL), (1.6, Significance.NOISE)])
def test_the_larger_noise_of_rounds_counts(second, expected):
    # Intervals apart, 1.0 to 1.6 and 2.0: what differs between two rounds may differ between two runs.
    noisy = {label: [1.0] * 3 + [second] * 3 for label in LABELS}
    quiet = {label: [2.0] * 6 for label in LABELS}
    both = [timed(each, round_sizes=[3, 3], rounds=2) for each in (noisy, quiet)]
    for found in (compare(*both), compare(both[1], both[0])):
        assert {each.significance for each in found.ratios} == {expected}
        assert not any("do not show the noise" in each for each in found.caveats)


def test_a_run_that_other_work_slowed_is_named_first(capsys):
    slowed = timed({"CSV": LOW}, cpu_repeats=[each / 4 for each in LOW])
    show(compare(timed({"CSV": LOW}), slowed), quiet=True)
    _, first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("B: Other work slowed this run: 1 of 1 time of calls")


def test_a_single_sample_is_unclear_and_a_size_is_not():
    one, other = ({"CSV": {"read time": k * 1.0, "size": k * 1e6}} for k in (1, 3))
    verdicts = {
        each.pair.measure.metric: each.significance
        for each in compare(results_of(one), results_of(other)).ratios
    }
    assert verdicts == {"read time": Significance.UNCLEAR, "size": Significance.REAL}


@pytest.mark.parametrize(
    ("size", "expected"), [(75.4e6, Significance.NOISE), (75.6e6, Significance.REAL)]
)
def test_a_published_size_is_equal_within_its_rounding(size, expected):
    here = results_of({"CSV": {"size": size}}, dataset="eq", rows=1_000_000)
    assert only(compare(load("thesis"), here)).significance is expected


def test_zeros_can_be_compared():
    one = results_of({"CSV": {"lost columns": 0.0}, "ORC": {"lost columns": 0.0}})
    other = results_of({"CSV": {"lost columns": 0.0}, "ORC": {"lost columns": 2.0}})
    same, lost = compare(one, other).ratios
    assert (same.value, same.significance) == (1.0, Significance.NOISE)
    assert (lost.value, lost.significance) == (None, Significance.REAL)
    assert [each.value for each in compare(other, one).ratios] == [1.0, 0.0]


def test_equal_results_show_no_difference():
    draw = random.Random(1)
    found = timed({label: [draw.uniform(1, 2) for _ in range(9)] for label in LABELS})
    comparison = compare(found, found)
    assert {each.value for each in comparison.ratios} == {1.0}
    assert {each.significance for each in comparison.ratios} == {Significance.NOISE}
    assert (comparison.agreements[0].spearman, comparison.agreements[0].kendall_tau_b) == (
        pytest.approx(1),
        pytest.approx(1),
    )
    assert comparison.disagreements == []


def test_swapped_results_have_inverse_ratios():
    draw = random.Random(2)
    sides = [timed({label: [draw.uniform(1, 9) for _ in range(7)] for label in LABELS}) for _ in "ab"]
    for there, back in zip(compare(*sides).ratios, compare(*sides[::-1]).ratios, strict=True):
        assert there.value * back.value == pytest.approx(1)
        assert there.low * back.high == pytest.approx(1)
        assert there.significance is back.significance


def test_equal_calls_seldom_differ_and_slower_ones_always():
    draw = random.Random(3)

    def samples(scale):
        return {f"F{i}": [scale * draw.lognormvariate(0, 0.05) for _ in range(8)] for i in range(500)}

    equal = compare(timed(samples(1.0)), timed(samples(1.0)))
    assert sum(each.significance is Significance.REAL for each in equal.ratios) <= 5
    slower = compare(timed(samples(1.0)), timed(samples(1.5)))
    assert all(each.significance is Significance.REAL for each in slower.ratios)
    assert sum(each.low <= 1.5 <= each.high for each in slower.ratios) >= 0.9 * 500


def test_other_rows_are_compared_by_the_mean_of_the_common_formats():
    a = timed({"CSV": [1.0] * 6, "ORC": [2.0] * 6, "Parquet": [4.0] * 6}, rows=1_000)
    b = timed({"CSV": [10.0] * 6, "ORC": [20.0] * 6, "Parquet": [80.0] * 6}, rows=9_000)
    comparison = compare(a, b)
    mean = 16_000 ** (1 / 3)
    expected = [10 / mean / (1 / 2), 20 / mean / (2 / 2), 80 / mean / (4 / 2)]
    assert [each.value for each in comparison.ratios] == pytest.approx(expected)
    assert [each.low for each in comparison.ratios] == pytest.approx(expected)
    assert all(each.relative for each in comparison.ratios)
    assert any("eq has 1,000 rows in A and 9,000 in B" in each for each in comparison.caveats)


def test_a_single_format_has_no_mean_and_a_remark_explains_it():
    a, b = (timed({"CSV": LOW}, rows=rows) for rows in (1_000, 9_000))
    comparison = compare(a, b)
    assert comparison.ratios == []
    assert any("read time of eq is left out" in each for each in comparison.caveats)


def test_equal_rows_are_compared_where_there_are_any():
    def with_rows(*counts):
        records = [each for rows in counts for each in timed({"CSV": LOW}, rows=rows).records]
        return Results("r", records, [])

    table = only(compare(with_rows(10, 20, 99), with_rows(20, 500))).pair.dataset
    assert (table.rows_a, table.rows_b) == (20, 20)
    two = compare(
        Results("r", with_rows(10, 99).records + timed({"ORC": LOW}, rows=99).records, []),
        Results("r", with_rows(20, 50).records + timed({"ORC": LOW}, rows=50).records, []),
    )
    assert {(each.pair.dataset.rows_a, each.pair.dataset.rows_b) for each in two.ratios} == {(99, 50)}


def test_only_the_same_is_compared():
    a = results_of({"CSV": {"read time": 1.0, "size": 1.0}}, cache="warm")
    for told in ({"cache": "cold"}, {"threads": "1"}, {"codec": "zstd"}, {"suite": "image"}):
        b = results_of({"CSV": {"read time": 1.0}}, **{"cache": "warm", **told})
        with pytest.raises(NoCommonCellsError, match="nothing was measured in both"):
            compare(a, b)
    comparison = compare(a, results_of({"CSV": {"size": 1.0, "save time": 1.0}}))
    assert [each.pair.measure for each in comparison.ratios] == [Measure("size")]
    assert (comparison.only_a, comparison.only_b) == (1, 1)


def test_suites_of_asv_and_of_the_runner_are_of_one_family():
    a, b = (results_of({"CSV": {"size": 1e6}}, suite=suite) for suite in ("tabular", "tabular.Tabular"))
    assert only(compare(a, b)).value == 1


def test_rank_correlations_are_those_computed_by_hand():
    a, b = [1, 2, 3, 4], [10, 20, 40, 30]
    assert spearman(a, b) == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert kendall_tau_b(a, b) == pytest.approx((5 - 1) / 6)
    assert list(ranks([3.0, 1.0, 3.0])) == [2.5, 1, 2.5]


def test_without_an_order_there_is_no_correlation():
    assert (spearman([1, 2], [1, 2]), kendall_tau_b([1, 2], [1, 2])) == (None, None)
    assert (spearman([1, 1, 1], [1, 2, 3]), kendall_tau_b([1, 1, 1], [1, 2, 3])) == (None, None)


@pytest.mark.parametrize("seed", range(20))
def test_rank_correlations_depend_on_the_orders_alone(seed):
    draw = random.Random(seed)
    a, b = ([draw.choice([1, 2, 2.5, 3, 7, draw.random()]) for _ in range(12)] for _ in "ab")
    assert spearman(a, b) == pytest.approx(np.corrcoef(ranks(a), ranks(b))[0, 1])
    for correlation in (spearman, kendall_tau_b):
        assert correlation([each**3 for each in a], b) == pytest.approx(correlation(a, b))
        assert correlation(a, a) == pytest.approx(1)
        assert correlation([-each for each in a], b) == pytest.approx(-correlation(a, b))


def test_agreement_is_computed_by_data_set_and_overall():
    a = {"CSV": 1.0, "ORC": 2.0, "Parquet": 3.0, "Feather": 4.0}
    b = {"CSV": 4.0, "ORC": 3.0, "Parquet": 2.0, "Feather": 1.0}
    both = {"t": (a, a), "u": (a, b)}
    sides = [
        Results(
            "r",
            [
                record(label, "size", value, dataset=dataset)
                for dataset, tables in both.items()
                for label, value in tables[side].items()
            ],
            [],
        )
        for side in (0, 1)
    ]
    comparison = compare(*sides)
    found = {each.dataset: each.spearman for each in comparison.agreements}
    # On all, B has the means 2, 2.45, 2.45 and 2: no order that agrees or disagrees.
    assert found == {"t": pytest.approx(1), "u": pytest.approx(-1), "": pytest.approx(0)}
    (first, second, *_) = comparison.disagreements
    assert {first.configuration.format, second.configuration.format} == {"CSV", "Feather"}
    assert abs(first.rank_a - first.rank_b) == 3


def test_metadata_that_differ_are_named():
    facts = {
        "started": "1",
        "libraries": {"pandas": "3.1.1", "lmdb": None},
        "cpu": {"model": "x", "usable": 2},
        "c_libraries": {"HDF5": "1.14"},
    }
    other = {
        **facts,
        "started": "2",
        "libraries": {"pandas": "2.3.3", "lmdb": "3.0"},
        "cpu": {"model": "x"},
    }
    a, b = (replace(timed({"CSV": LOW}), metadata=[{"seed": 9}, each]) for each in (facts, other))
    assert [tuple(each) for each in compare(a, b).differences] == [
        ("libraries pandas", "3.1.1", "2.3.3"),
        ("libraries lmdb", None, "3.0"),
        ("cpu usable", "2", None),
    ]
    unknown = compare(a, replace(b, metadata=[]))
    assert unknown.differences == []
    assert any("nothing is known of the circumstances of B" in each for each in unknown.caveats)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return two folders of results; those of `b` take three times as long."""
    folder = tmp_path_factory.mktemp("made")
    for name, scale in (("a", 1), ("b", 3)):
        (folder / name).mkdir()
        samples = {label: [scale * (place + each) for each in LOW] for place, label in enumerate(LABELS)}
        sizes = [record(label, "size", 1e6, dataset="t") for label in LABELS]
        export([*timed(samples, dataset="t").records, *sizes], folder / name / "results.jsonl")
    return folder


def test_the_command_prints_tables_and_ranks(made):
    done = run("compare", made / "a", made / "b")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("A: a; B: b\ntabular: read time\n")
    assert re.search(r"^CSV +3\.00$", done.stdout, re.MULTILINE)
    assert re.search(r"^CSV +=$", done.stdout, re.MULTILINE)
    assert re.search(r"^tabular: read time +t +6 +1\.00 +1\.00$", done.stdout, re.MULTILINE)
    assert "12 cells in both: 6 real, 6 noise." in done.stdout
    assert "- CSV, read time of t: 3.00 (2.00 to 4.50), from 1.25 s to 3.75 s" in done.stdout
    assert "the rounds of A and B do not show the noise of a run" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "note:" not in run("-q", "compare", made / "a", made / "b").stdout


def test_the_command_prints_json(made):
    found = json.loads(run("compare", made / "a", made / "b", "--json").stdout)
    assert found["verdicts"] == {"real": 6, "noise": 6}
    first = found["cells"][0]
    assert (first["format"], first["metric"], first["unit"]) == ("CSV", "read_time", "seconds")
    assert (first["a"], first["b"], first["ratio"]) == (1.25, 3.75, pytest.approx(3))
    assert first["interval"] == pytest.approx([2, 4.5])


def test_the_command_compares_published_results_with_own_ones(tmp_path):
    values = {label: {"read time": place + 1.0} for place, label in enumerate(LABELS)}
    own = results_of(values, dataset="eq", rows=50, cache="warm")
    export(own.records, tmp_path / "results.jsonl")
    done = run("compare", "thesis", tmp_path)
    assert done.returncode == 0
    assert "eq, relative" in done.stdout
    assert "note: eq has 1,000,000 rows in A and 50 in B" in done.stdout
    assert "nothing is known of the circumstances of A" in " ".join(done.stdout.split())


def test_results_of_one_name_are_distinguished_by_their_paths(made):
    done = run("compare", made / "a", made / "a")
    assert " ".join(done.stdout.split()).startswith(f"A: {made / 'a'}; B: {made / 'a'} tabular:")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["thesis", "gone"], "there are no results at gone"),
        (["thesis", "{made}/a"], "nothing was measured in both: thesis has values of eq"),
    ],
)
def test_incomparable_results_are_reported_in_one_line(made, arguments, words):
    done = run("compare", *[each.format(made=made) for each in arguments])
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"format-bench: {words}")
