"""The model of the time of a read, and the table of results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from format_bench.network.link_results import (
    FORM,
    INITIAL_WINDOW_BYTES,
    LARGEST_WINDOW_BYTES,
    LinkModel,
    LinkResult,
    Observation,
    counted,
    fit,
    held_back_errors,
    model_of,
    transfer_seconds,
)
from format_bench.network.trials import Setting

FAST = 125e6


@pytest.mark.parametrize("slow_start", [True, False])
def test_a_fit_finds_the_parameters_of_exact_times(slow_start):
    truth = LinkModel(0.05, 7.0, 0.9)
    settings = [
        Observation(round_trip, speed, 3_000_000, slow_start)
        for round_trip in (0.0, 0.1)
        for speed in (FAST / 10, FAST)
    ]
    seen = [each._replace(seconds=truth.seconds(each)) for each in settings]
    assert fit(seen) == pytest.approx(truth)
    assert fit(seen).error(seen[0]._replace(seconds=2 * seen[0].seconds)) == pytest.approx(-0.5)


def test_counted_round_trips_are_taken_for_known():
    truth = LinkModel(0.05, 2.0, 1.0)
    # Bytes take all the time: at these round-trip times a fit alone does not see two round trips.
    settings = [Observation(round_trip, FAST / 10, 30_000_000, False) for round_trip in (0.0, 0.001)]
    noise = (1.0, 0.998)
    seen = [
        each._replace(seconds=truth.seconds(each) * factor)
        for each, factor in zip(settings, noise, strict=True)
    ]
    assert fit(seen).round_trips == pytest.approx(0.0)
    assert fit(seen, 2.0).round_trips == 2.0
    assert fit(seen, 2.0).seconds(settings[0]) == pytest.approx(seen[0].seconds, rel=0.005)


def test_reads_have_the_round_trips_of_the_longest_link():
    def read(ms, waits):
        return replace(_result(ms, 100.0, 1.0), waits=waits)

    assert counted([read(0.0, 9), read(100.0, 5), read(100.0, 6), read(100.0, 5)]) == 5
    assert counted([read(0.0, 9)]) is None
    assert counted([read(100.0, 0)]) is None


def test_a_transfer_takes_the_round_trips_of_slow_start():
    first = INITIAL_WINDOW_BYTES
    # The first window fits; then one round trip before the second, and two before the third.
    for sent, round_trips, left in ((first, 0, first), (2 * first, 1, first), (5 * first, 2, 2 * first)):
        found = transfer_seconds(Observation(0.01, FAST, sent, has_slow_start=True))
        assert found == pytest.approx(0.01 * round_trips + left / FAST)
    assert transfer_seconds(Observation(0.1, FAST, 5 * first, has_slow_start=False)) == 5 * first / FAST


def test_the_largest_window_limits_the_speed_of_long_links():
    bytes_ = 1 << 30
    found = transfer_seconds(Observation(0.1, FAST, bytes_, has_slow_start=True))
    assert found > bytes_ * 0.1 / LARGEST_WINDOW_BYTES
    # A window of the link's own product of bandwidth and round-trip time is no limit.
    near = transfer_seconds(Observation(0.001, FAST, bytes_, has_slow_start=True))
    assert near == pytest.approx(bytes_ / FAST, rel=0.01)


def _result(ms, mbit, seconds):
    return LinkResult(
        "Parquet", "s3", "whole", ms, mbit, seconds, 0.1, 5, 1, 1_000_000, 2_000_000, 1, "delays", 10, ""
    )


def test_results_predict_held_back_times():
    truth = LinkModel(0.02, 4.0, 1.0)
    found = []
    for ms in (0.0, 20.0, 50.0, 100.0):
        for mbit in (100.0, 1000.0):
            empty = _result(ms, mbit, 0.0)
            found.append(replace(empty, seconds=truth.seconds(empty.observation())))
    model = model_of(found)
    assert model == pytest.approx(truth)
    assert held_back_errors(model, found) == pytest.approx([0.0] * 4)


def test_reads_of_other_repeats_share_the_size_of_their_file():
    whole = replace(_result(20.0, 100.0, 9.0), repeats=1, file_bytes=1000)
    sparse = replace(whole, question="sparse", repeats=2)
    records = [each for row in (whole, sparse) for each in FORM.records(row, "a run")]
    # Results keep the last record of a cell alone.
    last = [each for each in records if each.metric == "size"][-1]
    kept = [each for each in records if each.metric != "size" or each is last]
    assert FORM.rows(kept) == [whole, sparse]


def test_a_setting_has_one_text():
    for text, shown in (
        ("20ms", "20 ms"),
        ("0.5 ms", "0.5 ms"),
        ("20ms/100Mbit", "20 ms, 100 Mbit/s"),
        ("20 ms, 1000 Mbit/s", "20 ms, 1 Gbit/s"),
        ("100 ms, 1.5 Gbit/s", "100 ms, 1500 Mbit/s"),
    ):
        assert str(Setting.of(text)) == shown
        assert Setting.of(shown) == Setting.of(text)
    assert [Setting.of(text) for text in ("", "20", "1.1.1 ms", "fast", "20 ms 5")] == [None] * 5
