"""The cost model of arrays: expected numbers of chunks, runs, and recovery of known coefficients."""

import itertools

import numpy as np
import pytest

from format_bench.families.arrays.boxes import Box
from format_bench.planning.chunk_search import amounts, expected_chunks
from format_bench.planning.cost_model import ReadSample, fit

SHAPE = (24, 30, 40)


@pytest.mark.parametrize("extent", [1, 3, 7, 20])
@pytest.mark.parametrize("chunk", [1, 2, 5, 6, 20, 64])
def test_expected_chunks_are_the_mean_over_all_places(extent, chunk):
    edge = 20
    counts = [
        len({index // chunk for index in range(start, start + extent)})
        for start in range(edge - extent + 1)
    ]
    assert expected_chunks(extent, None, edge, chunk) == pytest.approx(np.mean(counts))
    for start, count in enumerate(counts):
        assert expected_chunks(extent, start, edge, chunk) == count


def test_expected_chunks_of_a_long_axis_are_those_of_the_formula():
    assert expected_chunks(24, None, 10**7, 10) == pytest.approx(23 / 10 + 1, rel=1e-4)


def test_amounts_are_counted_in_the_touched_chunks():
    query, chunks = Box((5, 6, 30), (3, 4, 9)), (4, 5, 8)
    touched = {
        tuple(index // edge for index, edge in zip(each, chunks, strict=True))
        for each in itertools.product(range(3, 8), range(4, 10), range(9, 39))
    }
    ones, count, decoded, delivered, runs, everything = amounts(query, SHAPE, [chunks], 4)[0]
    assert (ones, count, decoded) == (1, len(touched), len(touched) * 4 * 5 * 8 * 4)
    assert delivered == 5 * 6 * 30 * 4
    assert runs == 5 * 6 * 4  # chunks along the last axis are entered at 8, 16, 24 and 32
    assert everything == 6 * 6 * 5


def test_runs_go_on_over_axes_that_chunk_and_query_cover():
    whole = Box((4, 30, 40), (0, 0, 0))
    assert amounts(whole, SHAPE, [(2, 30, 40), (2, 30, 20), (2, 15, 40)], 4)[:, 4].tolist() == [
        2,
        4 * 30 * 2,
        4 * 2,
    ]


def known_reads(coefficients, noise=0.0):
    random = np.random.default_rng(5)
    for chunks in [(4, 4, 4), (24, 2, 2), (1, 30, 40), (8, 15, 20), (2, 30, 2), (24, 30, 40)]:
        for extents in [(1, 1, 1), (24, 1, 1), (1, 30, 40), (6, 10, 10), (24, 30, 40)]:
            starts = tuple(
                int(random.integers(0, edge - extent + 1))
                for edge, extent in zip(SHAPE, extents, strict=True)
            )
            query = Box(extents, starts)
            work = amounts(query, SHAPE, [chunks], 4)[0]
            seconds = float(work @ np.array(coefficients))
            yield ReadSample(work, chunks, seconds * float(np.exp(random.normal(0, noise))))


KNOWN = (2e-4, 5e-5, 3e-9, 1e-9, 2e-8, 4e-8)


def test_a_fit_recovers_the_coefficients_of_synthetic_times():
    found = fit(list(known_reads(KNOWN)))
    assert found.coefficients == pytest.approx(KNOWN, rel=1e-4)
    assert found.median_error < 1e-4
    assert found.fits


def test_a_few_slow_reads_change_a_fit_little():
    samples = list(known_reads(KNOWN, noise=0.02))
    slow = [
        ReadSample(each.amounts, each.layout, each.seconds * (20 if place % 10 == 3 else 1))
        for place, each in enumerate(samples)
    ]
    found = fit(slow)
    query = Box((6, 30, 10), (None,) * 3)
    work = amounts(query, SHAPE, [(3, 6, 7)], 4)[0]
    wanted = work @ np.array(KNOWN)
    assert found.seconds(work) == pytest.approx(wanted, rel=0.1)


def test_times_without_any_order_do_not_fit():
    random = np.random.default_rng(1)
    samples = [
        ReadSample(each.amounts, each.layout, float(10 ** random.uniform(-5, 0)))
        for each in known_reads(KNOWN)
    ]
    assert not fit(samples).fits


def test_two_chunk_shapes_give_no_model():
    assert fit(list(known_reads(KNOWN))[:10]) is None
