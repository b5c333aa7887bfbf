"""Detection of a slowdown, and the agreement of two runs."""

from __future__ import annotations

from dataclasses import replace

from tests.factories.records import in_rounds, labels, measured, results
from tools.check_noise import agreement, differ, interleaved

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


def test_a_call_that_is_slower_by_10_percent_differs():
    assert any(found >= 19 for found in differences(22_000))


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
