"""Common-mode correction."""

from __future__ import annotations

import numpy as np

from format_bench.changes.common_mode import common_shift


def test_the_shift_of_a_point_is_found_though_a_minority_changes():
    usual = np.arange(7.0)[:, None]
    levels = usual + np.zeros((7, 5))
    levels[:, 3] += 0.2
    levels[:2, 2:] += 1.0
    assert common_shift(levels).round(12).tolist() == [0, 0, 0, 0.2, 0]


def test_points_without_values_have_no_shift():
    levels = np.ones((6, 4))
    levels[:, 1] = np.nan
    levels[0] = np.nan
    assert common_shift(levels).tolist() == [0, 0, 0, 0]
