"""Moderated variances of quantities with few values each."""

from __future__ import annotations

import numpy as np
import pytest

from format_bench.results.variances import MOST_FREEDOM, SampleVariance, fit_variance_prior


def test_variances_that_hardly_scatter_are_drawn_closely_to_the_common_one():
    chance = np.random.default_rng(3)
    alike = [SampleVariance(0.01 * chance.chisquare(10) / 10, 10) for _ in range(200)]
    wild = [SampleVariance(each.value * chance.lognormal(0, 1.5), 10) for each in alike]
    calm, heavy = fit_variance_prior({"a": alike}), fit_variance_prior({"a": wild})
    assert calm.variances["a"] == pytest.approx(0.01, rel=0.1)
    assert heavy.freedom < 5
    assert 30 < calm.freedom <= MOST_FREEDOM
    squares = np.array([0.4])
    observed, common = squares[0] / 10, calm.variances["a"]
    assert common < calm.moderated("a", squares, 10)[0] < (common + observed) / 2
