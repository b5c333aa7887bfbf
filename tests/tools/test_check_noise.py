"""Detection of a slowdown, and the agreement of two runs."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from format_bench.instruments.clock import Sample
from tests.factories.records import in_rounds, labels, measured, results
from tools.check_noise import (
    LAGS,
    agreement,
    at_lags,
    at_loads,
    beside_loads,
    by_lag,
    differ,
    interleaved,
    timeline,
)

GOES, TRIES, SAMPLES = 10, 20, 100


def work(steps):
    def call():
        total = 0
        for i in range(steps):
            total += i * i
        return total

    return call


def differences(steps):
    """Yield how many of 20 comparisons differ, in several goes: other programs may disturb some."""
    for _ in range(GOES):
        yield sum(differ(*interleaved(work(20_000), work(steps), SAMPLES)) for _ in range(TRIES))


@pytest.mark.costly
def test_a_call_that_is_slower_by_10_percent_differs():
    assert any(found >= 19 for found in differences(22_000))


@pytest.mark.costly
def test_equal_calls_seldom_differ():
    assert any(found <= 1 for found in differences(20_000))


def test_calls_are_interleaved():
    order = []
    interleaved(lambda: order.append("a"), lambda: order.append("b"), 4)
    assert "".join(order) == "abbaabba"


def test_two_runs_are_compared_by_differences_orders_and_pairs():
    one = results(in_rounds(measured(labels(8), ["eq", "str"])))
    same = list(agreement(one, one))
    assert same[0] == "64 times differ by 0.0% in the median cell, and by 0% or less in 95% of them"
    assert same[1].startswith("0.0% of 64 differ")
    assert same[2].startswith("8 of 8 groups of times (100%)")
    assert [each[:3] for each in same[3:]] == ["A: ", "B: "]
    other = results(in_rounds(measured(labels(8), ["eq", "str"])))
    slower = [each for each in other.records if each.dataset == "eq" and each.metric == "read time"]
    slow = {id(each): each.value * 1000 for each in slower[:4]}
    changed = [_slowed(each, slow.get(id(each))) for each in other.records]
    found = list(agreement(one, results(changed)))
    assert not found[1].startswith("0.0%")
    assert "(100%)" not in found[2]


def _slowed(record, value):
    return replace(record, value=value, repeats=[value] * 2) if value else record


def test_a_banner_comes_with_the_load_that_stretches_calls():
    def cells(wait):
        return {
            f"read, {place}": [[Sample(seconds * wait, seconds, 0.0)] * 3] for place, seconds in FAST
        }

    header, *lines = at_loads({0.0: cells(1.0), 1.0: cells(1.3), 2.0: cells(2.0)})
    assert header.split()[0] == "processes"
    assert [line.split() for line in lines] == [
        ["0.0", "0%", "1.00", "1.00", "no"],
        ["1.0", "0%", "1.30", "1.30", "no"],
        ["2.0", "100%", "2.00", "2.00", "yes"],
    ]


FAST = [*enumerate([0.01, 0.02, 0.05])]


def test_cells_are_measured_beside_each_load(monkeypatch):
    monkeypatch.setattr("tools.check_noise.LOADS", (0.0, 0.5))
    found = beside_loads(["Pickle"], rows=200, rounds=2, calls=2)
    assert {load: sorted(cells) for load, cells in found.items()} == {
        load: ["read, Pickle", "save, Pickle"] for load in (0.0, 0.5)
    }


def test_calls_of_one_moment_resemble_each_other():
    # A machine that changes its speed each second; each call differs from the next by 2 %.
    speeds = random.Random(0).choices([1.0, 1.1, 1.2, 1.3], k=200)
    calls = [(step / 50, 0.01 * speeds[step // 50] * 1.02 ** (step % 2)) for step in range(10_000)]
    found = dict(zip(LAGS, by_lag(calls), strict=True))
    assert found[0.0] == pytest.approx(0.02)
    assert max(found[0.03], found[0.3]) < 0.03
    assert found[1.0] == pytest.approx(found[10.0], rel=0.2)
    assert 0.06 < found[10.0] < 0.13
    line = [*at_lags({"Parquet": calls})][1].split()
    assert line[0] == "Parquet"
    assert int(line[-1]) == math.ceil((found[10.0] / 0.05) ** 2)


def test_reads_are_timed_one_after_the_other():
    calls = timeline("Pickle", 100, 0.3)
    assert len(calls) > 10
    assert all(b > a + seconds for (a, seconds), (b, _) in pairwise(calls))
    assert math.isnan(by_lag(calls)[-1])
