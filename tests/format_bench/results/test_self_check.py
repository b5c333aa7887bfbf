"""The self-check of results: orderings, and noise."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from format_bench.report.writers.html import page
from format_bench.report.writers.markdown import markdown_page
from format_bench.results.records import under
from format_bench.results.self_check import SelfCheck
from tests.commands import run
from tests.factories.records import record, results_of


def checked(*records):
    return SelfCheck.of(records)


def timed(metric, value, repeats=(), cache=None, **fields):
    return record("CSV", metric, value, cache=cache, repeats=list(repeats) or [value], **fields)


def in_rounds(metric, medians, dataset):
    """Return a time with a sample of each round."""
    return timed(
        metric, statistics.median(medians), medians, dataset=dataset, round_sizes=[1] * len(medians)
    )


def test_a_durable_save_is_not_faster_than_the_plain_one():
    check = checked(timed("save time", 0.025), timed("durable save time", 0.010))
    assert len(check.pairs) == 1
    assert check.share == 1
    # One pair shows no noise that it could be compared with.
    assert "1 of 1 pairs is out of order, the widest by 60% (CSV on" in str(check)
    assert "durable save time 60% below save time" in str(check)
    assert "these times are noise below 60%" in str(check)


def test_a_cold_read_is_not_faster_than_a_warm_one():
    warm, cold = timed("read time", 0.02, cache="warm"), timed("read time", 0.03, cache="cold")
    assert checked(warm, cold).share == 0
    assert (
        str(checked(warm, cold)) == "Self-check: 1 pair of values, all in the order that they must have."
    )
    assert checked(replace(warm, value=0.04), cold).out_of_order[0].gap == pytest.approx(0.25)


def test_a_peak_is_not_below_the_memory_held():
    peak, held = timed("read memory", 5e6, cache="warm"), timed("held memory", 6e6)
    assert checked(peak, held).share == 1
    assert checked(replace(peak, value=7e6), held).share == 0


def test_only_cells_of_one_configuration_are_paired():
    warm, cold = timed("read time", 0.02, cache="warm"), timed("read time", 0.01, cache="cold")
    others = [
        replace(cold, format="JSON"),
        replace(cold, dataset="other"),
        replace(cold, rows=7),
        under(cold, threads="1"),
        replace(cold, codec="zstd", level=3),
        replace(cold, suite="compression"),
    ]
    assert checked(warm, *others).pairs == ()
    assert len(checked(warm, cold).pairs) == 1


def test_a_gap_within_the_noise_of_its_cells_is_counted_separately():
    noisy = [in_rounds("save time", [1.0, 1.2], f"d{n}") for n in range(8)]
    within = timed("durable save time", 1.0, dataset="d0")
    beyond = timed("durable save time", 0.1, dataset="d1")
    check = checked(*noisy, within, beyond)
    assert "2 of 2 pairs are out of order, 1 by more than their noise" in str(check)
    assert [each.is_beyond_noise for each in check.out_of_order] == [True, False]


def test_few_pairs_out_of_order_are_reported_without_distrust():
    good = [
        timed(metric, value, dataset=f"d{n}")
        for n in range(99)
        for metric, value in (("save time", 1.0), ("durable save time", 1.1))
    ]
    bad = [timed("save time", 1.0), timed("durable save time", 0.9)]
    assert str(checked(*good, *bad)).startswith("Self-check: 1 of 100 pairs is out of order")
    assert "these times are noise" not in str(checked(*good, *bad))


def test_the_noise_of_a_run_is_that_of_nearly_all_its_cells():
    calm = [in_rounds("save time", [1.0, 1.0], f"d{n}") for n in range(19)]
    check = checked(*calm, in_rounds("save time", [1.0, 3.0], "loud"))
    assert check.noise_quantile < 0.1
    assert max(check.noise) > 1
    assert "in 95% of 20 cells" in str(check)
    assert checked(*calm[:9], in_rounds("save time", [1.0, 3.0], "loud")).noise_quantile > 1


def test_cells_without_values_and_sizes_are_left_out():
    failed = record("CSV", "durable save time", None)
    assert str(checked(timed("save time", 1.0), failed, timed("size", 100))) == ""


def test_reports_contain_the_self_check():
    times = {"save time": 2.0, "durable save time": 1.0}
    results = results_of({"CSV": times, "Parquet": times})
    assert "2 of 2 pairs are out of order" in page(results)
    assert "<li>Parquet on eq: durable save time 50% below save time</li>" in page(results)
    assert "2 of 2 pairs are out of order" in markdown_page(results)
    assert "Pairs out of order" not in page(results_of({"CSV": {"save time": 1.0}, "Parquet": {}}))


def test_a_run_prints_its_self_check(tmp_path):
    done = run(
        *("run", "--rows", "500", "--formats", "CSV,Feather", "--repeats", "4", "--cold"),
        *("--out", tmp_path / "out"),
    )
    text = " ".join(done.stdout.split())
    assert "Self-check: " in text
    assert "Noise, the difference from another run" in text
