"""Estimators of times, by invented samples, and a small experiment."""

from __future__ import annotations

import random

import pytest

from format_bench.instruments.clock import Sample
from tools.check_estimators import ESTIMATORS, agreement, measure

LABELS = ["Feather", "Parquet", "Pickle", "CSV", "ORC"]


def sample(seconds, slow, wait):
    loop = 0.003 * slow
    return Sample(slow * seconds + wait, slow * seconds, 0.0, loop, loop)


def invented():
    """Return rounds of calls of a machine that is slower in each odd round, and makes calls wait."""
    chance = random.Random(3)
    found = {}
    for step in ("save", "read"):
        for place, label in enumerate(LABELS):
            seconds = 0.01 * 1.3**place
            found[f"{step}, {label}"] = [
                [sample(seconds, slow, chance.choice([0.0, seconds])) for _ in range(3)]
                for slow in (1.0, 1.6, 1.0, 1.6)
            ]
    return found


def test_cpu_times_by_the_loop_beside_them_are_steady_where_wall_times_are_not():
    found = invented()
    of = {name: agreement(found, estimate) for name, estimate in ESTIMATORS.items()}
    assert of["CPU / loop CPU, median"][:3] == pytest.approx((0, 0, 1))
    assert of["median wall"][0] > 0.3
    assert of["minimum CPU"][0] == pytest.approx(0.6)
    assert all(each[3] > 0.8 for each in of.values())


def test_each_cell_has_samples_of_all_rounds():
    found = measure(["Feather", "Pickle"], rows=200, rounds=2, calls=2)
    assert sorted(found) == ["read, Feather", "read, Pickle", "save, Feather", "save, Pickle"]
    for rounds in found.values():
        assert [len(each) for each in rounds] == [2, 2]
        assert all(each.loop_cpu_seconds > 0 for samples in rounds for each in samples)
