"""Distances of made orders from a full shuffle, counts of samples, and stalls of made arrivals."""

from __future__ import annotations

import numpy as np
import pytest

from format_bench.families.training.arrivals import Counts, order_distance, stalled_share

COUNT = 4_000


def shuffled(count=COUNT, seed=1):
    return np.random.default_rng(seed).permutation(count)


def windowed(window):
    """Return the order of a buffer of samples, from which one is drawn at random for each new one."""
    random, buffer, order = np.random.default_rng(1), [], []
    for index in range(COUNT):
        buffer.append(index)
        if len(buffer) > window:
            order.append(buffer.pop(random.integers(len(buffer))))
    random.shuffle(buffer)
    return [*order, *buffer]


def blocks(rows):
    """Return shuffled blocks of neighbours."""
    firsts = np.random.default_rng(1).permutation(COUNT // rows)
    return (firsts[:, None] * rows + np.arange(rows)).reshape(-1)


def interleaved(streams):
    """Return streams of neighbours that take turns, as workers without a shuffle do."""
    return np.arange(COUNT).reshape(streams, -1).T.reshape(-1)


@pytest.mark.parametrize("seed", range(5))
def test_a_full_shuffle_has_almost_no_distance(seed):
    assert order_distance(shuffled(seed=seed)) < 0.05


@pytest.mark.parametrize(
    "order", [np.arange(COUNT), interleaved(2), interleaved(10), interleaved(50), blocks(500)]
)
def test_a_missing_shuffle_is_found_whatever_takes_turns(order):
    assert order_distance(order) > 0.95


def test_larger_windows_are_nearer_to_a_full_shuffle():
    distances = [order_distance(windowed(window)) for window in (1, 40, 400, 2_000, COUNT)]
    assert distances == sorted(distances, reverse=True)
    assert 0.3 < distances[2] < 0.95
    assert distances[-1] < 0.05


def test_large_blocks_are_far_from_a_full_shuffle():
    assert order_distance(blocks(2)) < order_distance(blocks(20)) < order_distance(blocks(400))


def test_repeated_and_lost_samples_are_counted():
    assert Counts.of([2, 0, 1], 3) == Counts(0, 0)
    assert Counts.of([2, 0, 2, 2], 4) == Counts(2, 2)
    assert str(Counts.of([2, 0, 2, 2], 4)) == "2 repeated, 2 lost"
    assert str(Counts.of([1, 0], 2)) == ""


def test_a_model_stalls_where_batches_come_later_than_it_asks():
    steady = [0.5 + 0.01 * number for number in range(101)]
    assert stalled_share(steady, 0.005) == 1.0
    assert stalled_share(steady, 0.02) == 0.0
    # One gap of 0.1 s stops a model once, which has used its batches by then.
    gap = [time + (0.1 if number > 50 else 0.0) for number, time in enumerate(steady)]
    assert stalled_share(gap, 0.011) == pytest.approx(0.01)


def test_a_single_batch_stalls_nothing():
    assert stalled_share([3.0], 0.01) == 0.0
