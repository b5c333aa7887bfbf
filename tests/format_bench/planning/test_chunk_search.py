"""The search for chunk shapes, by models whose optimum is known."""

import math

from format_bench.families.arrays.boxes import Box
from format_bench.planning.chunk_search import (
    Proposal,
    amounts,
    candidates,
    designed,
    different,
    front,
    search,
)
from format_bench.planning.cost_model import CostModel
from format_bench.planning.mix import ArrayMix, MixQuery

SHAPE = (64, 64, 64)


def model(chunk=0.0, byte=0.0):
    return CostModel((1e-5, chunk, byte, 0.0, 0.0, 0.0), 0.0, 1.0, 1)


def mix(*extents):
    free = (None,) * len(SHAPE)
    queries = [MixQuery(str(each), 1 / len(extents), Box(each, free)) for each in extents]
    return ArrayMix(tuple(queries))


def best(found, queries, **bounds):
    return search(found, queries, SHAPE, 4, **{"least_bytes": 256, "most_bytes": 2**20} | bounds)[0]


def test_series_are_stored_in_chunks_along_their_axis():
    assert best(model(1e-4, 1e-8), mix((64, 1, 1))).chunks == (64, 1, 1)


def test_maps_are_stored_as_maps():
    assert best(model(1e-4, 1e-9), mix((1, 64, 64))).chunks == (1, 64, 64)


def test_series_and_maps_together_get_chunks_between_both():
    chunks = best(model(1e-4, 1e-8), mix((64, 1, 1), (1, 64, 64))).chunks
    assert 1 < chunks[0] <= 64
    assert math.prod(chunks[1:]) > 1


def test_the_optimum_is_that_of_an_exhaustive_comparison():
    queries, found = mix((10, 3, 64), (1, 20, 20)), model(3e-5, 2e-9)
    shapes = [
        tuple(each)
        for each in candidates(SHAPE, [q.box.extents for q in queries.queries], 4, 256, 2**20).tolist()
    ]
    costs = {
        each: sum(
            0.5 * found.seconds(amounts(query.box, SHAPE, [each], 4))[0] for query in queries.queries
        )
        for each in shapes
    }
    assert costs[best(found, queries).chunks] == min(costs.values())


def test_the_front_has_fewer_chunks_the_slower_it_is():
    found = search(model(1e-6, 1e-8), mix((64, 1, 1), (1, 64, 64)), SHAPE, 4, least_bytes=64)
    pareto = front(found)
    assert len(pareto) > 3
    numbers, seconds = [each.number for each in pareto], [each.seconds for each in pareto]
    assert numbers == sorted(numbers, reverse=True)
    assert seconds == sorted(seconds)
    assert not [
        each
        for each in found
        if any(each.seconds < one.seconds and each.number < one.number for one in pareto)
    ]


def test_chunks_keep_within_their_bounds():
    for chunks in candidates(SHAPE, [(5, 5, 5)], 4, 1_000, 10_000).tolist():
        assert 1_000 <= math.prod(chunks) * 4 <= 10_000
    assert candidates((3,), [(2,)], 4, 1_000, 10_000).tolist() == [[3]]
    edges = search(model(1e-4), mix((64, 64, 64)), SHAPE, 4, edges=(16, 64, 32))[0].chunks
    assert edges == (16, 64, 32)


def test_proposals_of_one_kind_are_taken_once():
    found = [
        Proposal(chunks, seconds, 1)
        for chunks, seconds in [
            ((8, 8), 1.0),
            ((8, 9), 1.1),
            ((16, 4), 1.2),
            ((4, 16), 1.3),
            ((1, 64), 9),
        ]
    ]
    assert [each.chunks for each in different(found, 3, slower=1.25)] == [(8, 8), (16, 4)]


def test_designed_shapes_differ_in_kind_and_fit_the_array():
    found = designed((1000, 200, 300), 4)
    assert len(set(found)) == len(found) >= 9
    assert {each[0] for each in found} >= {1, 1000}
    for each in found:
        assert all(1 <= chunk <= edge for chunk, edge in zip(each, (1000, 200, 300), strict=True))
    assert designed((5,), 8) == [(5,), (1,)] or designed((5,), 8) == [(5,)]
