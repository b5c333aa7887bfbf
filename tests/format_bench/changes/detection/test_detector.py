"""Change-point detector on arrays."""

from __future__ import annotations

import numpy as np
import pytest

from format_bench.changes.detection import DetectorInput, detect
from format_bench.changes.detection.detector import holm_threshold


def inputs_of(levels, spread: float = 0.01) -> dict[int, DetectorInput]:
    """Return rows of levels as series of one class, each point with two replicates around its level."""
    replicates = np.stack([levels - spread, levels + spread], axis=2)
    return {n: DetectorInput(each, "t", "t", 0.05, replicates[n]) for n, each in enumerate(levels)}


def noise(points: int, series: int = 100):
    return np.random.default_rng(4).normal(0, 0.01, (series, points))


def test_one_wild_month_is_not_a_step():
    levels = noise(6)
    levels[0, 4:] += 0.5
    levels[1, 4] += 0.5
    levels[2, 5] += 0.5
    inputs = inputs_of(levels)
    # One of both processes of the newest month has seen nothing.
    inputs[2].replicates[5, 0] -= 0.5
    found = detect(inputs, 0.01)
    assert [(change.before, change.after) for change in found[0]] == [((0, 1, 2, 3), (4, 5))]
    assert [change.confirmed for changes in found.values() for change in changes] == [True, False]


def test_two_steps_of_one_series_are_found_in_order():
    levels = noise(12)
    levels[0, 4:] += 0.2
    levels[0, 8:] -= 0.8
    [first, second] = detect(inputs_of(levels), 0.01)[0]
    assert (first.at, second.at) == (4, 8)
    assert first.effect > 0 > second.effect


def test_points_without_a_value_are_skipped():
    levels = noise(8)
    levels[0, 5:] += 0.5
    levels[0, 2] = levels[0, 5] = np.nan
    [change] = detect(inputs_of(levels), 0.01)[0]
    assert (change.before, change.after) == ((0, 1, 3, 4), (6, 7))


def test_a_drift_is_one_change():
    levels = noise(10)
    levels[0] += np.linspace(0, 0.5, 10)
    [change] = detect(inputs_of(levels), 0.01)[0]
    assert change.drift
    assert change.effect == pytest.approx(0.5, abs=0.05)


def test_effects_below_the_least_are_omitted():
    levels = noise(12)
    levels[0, 6:] += 0.04
    assert 0 not in detect(inputs_of(levels), 0.01)


def test_noise_alone_has_no_change_points():
    assert detect(inputs_of(noise(12, series=1000)), 0.01) == {}


@pytest.mark.parametrize(
    ("p_values", "tests", "threshold"),
    [
        ([0.001, 0.2], 2, 0.001),
        ([0.02, 0.001], 2, 0.02),
        # The larger one would pass, but the smaller one fails first.
        ([0.03, 0.04], 2, -1.0),
        ([0.001], 100, -1.0),
        ([], 0, -1.0),
    ],
)
def test_holms_procedure(p_values, tests, threshold):
    assert holm_threshold(p_values, tests, 0.05) == threshold
