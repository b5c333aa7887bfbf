"""Contrasts, variances beside steps, and differences between processes."""

from __future__ import annotations

import numpy as np
import pytest

from format_bench.changes.detection.detector import (
    ReplicateNoise,
    sample_variances,
)
from format_bench.changes.detection.model import FEWEST_FOR_DRIFT, contrasts

LEVELS = np.random.default_rng(1).normal(7, 0.1, 9)


def test_contrasts_are_those_of_a_fit_for_each_point():
    found = contrasts(LEVELS)
    assert len(found.at) == len(LEVELS)
    for at, effect, squares, weight in zip(
        found.at[:-1], found.effect, found.squares, found.weight, strict=False
    ):
        before, after = LEVELS[:at], LEVELS[at:]
        assert effect == pytest.approx(after.mean() - before.mean())
        residuals = np.concatenate([before - before.mean(), after - after.mean()])
        assert squares == pytest.approx(residuals @ residuals)
        assert weight == pytest.approx(1 / len(before) + 1 / len(after))


def test_a_drift_is_a_straight_line_by_least_squares():
    found = contrasts(LEVELS)
    places = np.arange(len(LEVELS))
    line = np.polynomial.Polynomial.fit(places, LEVELS, 1)
    assert found.drift.tolist() == [False] * (len(LEVELS) - 1) + [True]
    assert found.effect[-1] == pytest.approx(line(places[-1]) - line(0))
    assert found.squares[-1] == pytest.approx(np.sum((LEVELS - line(places)) ** 2))


def test_few_points_have_no_drift():
    assert not contrasts(LEVELS[: FEWEST_FOR_DRIFT - 1]).drift.any()


def test_an_obvious_step_is_taken_out_of_a_variance_but_not_a_single_point():
    levels = np.random.default_rng(2).normal(0, 0.01, (20, 10))
    levels[0, 5:] += 1
    levels[1, 5] += 1
    step, wild, *others = sample_variances(list(levels))
    assert step.value < 4 * np.median([each.value for each in others])
    assert step.freedom == 8
    assert wild.value > 0.05


def test_both_processes_deviate_by_chance_only_if_one_often_does():
    replicates = np.zeros((100, 2))
    # A tenth of all points: that both processes deviate has a probability of 1/400, and series are 10.
    replicates[:10, 1] = 0.5
    noise = ReplicateNoise.from_replicates([replicates] * 10, 0.01)
    assert noise.series == 10
    assert noise.is_significant(0.6)
    assert not noise.is_significant(0.4)
