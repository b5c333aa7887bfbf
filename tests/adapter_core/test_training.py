"""Parts of training loaders: orders, blocks, batches, and loops with worker processes."""

from __future__ import annotations

from functools import partial
from itertools import chain

import numpy as np
import pytest

from adapter_core.sample_set import INDEX, as_stored, digest
from adapter_core.training.batches import block_groups, collated, epoch_order
from adapter_core.training.loop import LoopFeed, SampleReader
from adapter_core.training_loader import Feeding


class Numbers(SampleReader):
    """Samples of different sizes: the n-th has an array of n numbers; one may fail."""

    def __init__(self, count, broken=-1):
        self.count, self.broken = count, broken

    def __len__(self):
        return self.count

    def get(self, index):
        if index == self.broken:
            raise ValueError(f"sample {index} is broken")
        return {INDEX: index, "values": np.arange(index, dtype=np.float32), "text": f"n{index}"}


def feeding(**options):
    return Feeding(as_stored, 4, **options)


def taken(feed, epoch=0, state=None):
    return [int(each) for batch in feed.epoch(epoch, state) for each in batch[INDEX]]


@pytest.mark.parametrize("world", [1, 2, 3])
def test_ranks_part_an_order_that_seed_and_epoch_decide(world):
    def order(**options):
        return [epoch_order(50, feeding(world=world, rank=rank, **options), 0) for rank in range(world)]

    assert sorted(chain(*order(seed=3))) == sorted(chain(*order(seed=None))) == list(range(50))
    assert order(seed=3) == order(seed=3) != order(seed=4)
    assert epoch_order(50, feeding(seed=3), 0) != epoch_order(50, feeding(seed=3), 1)


@pytest.mark.parametrize("count", [0, 3, 128, 1_000, 5_000])
@pytest.mark.parametrize("world", [1, 2])
def test_groups_of_blocks_have_each_sample_once(count, world):
    groups = [
        group
        for rank in range(world)
        for group in block_groups(count, feeding(rank=rank, world=world), 0)
    ]
    assert sorted(index for group in groups for index in group) == list(range(count))
    # A group is what a worker keeps in memory: at most eight blocks of 32 batches.
    assert all(len(group) <= 8 * 128 for group in groups)


def test_only_the_last_batch_of_a_rank_is_smaller():
    groups = block_groups(5_003, feeding(), 2)
    assert [len(group) % 4 for group in groups[:-1]] == [0] * (len(groups) - 1)


def test_batches_stack_what_has_one_shape():
    batch = collated([{INDEX: 1, "a": np.zeros(2), "b": np.zeros(1), "t": "x"}] * 2)
    assert batch[INDEX].tolist() == [1, 1]
    assert batch["a"].shape == (2, 2)
    assert batch["t"] == ["x", "x"]
    unequal = collated([{INDEX: each, "b": np.zeros(each)} for each in (1, 2)])
    assert [each.shape for each in unequal["b"]] == [(1,), (2,)]


def test_digests_tell_values_types_and_names_apart():
    sample = {INDEX: 1, "x": np.arange(3, dtype=np.float32), "t": "a"}
    assert digest(sample) == digest(dict(reversed(sample.items())))
    others = (
        sample | {"x": np.arange(3, dtype=np.float64)},
        sample | {"x": np.arange(3, dtype=np.float32).reshape(3, 1)},
        sample | {"t": b"a"},
        sample | {INDEX: 2},
        {INDEX: 1, "y": sample["x"], "t": "a"},
    )
    assert len({digest(sample), *map(digest, others)}) == 6
    assert digest(sample | {INDEX: np.int64(1)}) == digest(sample)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_loop_has_each_sample_once_also_from_a_state(workers):
    with LoopFeed(partial(Numbers, 21), feeding(workers=workers)) as feed:
        whole = taken(feed)
        assert sorted(whole) == list(range(21))
        batches = feed.epoch(1)
        before = [int(each) for _ in range(2) for each in next(batches)[INDEX]]
        state = feed.state()
        assert before + taken(feed, 1, state) == taken(feed, 1)


def test_arrays_grow_in_shared_memory():
    with LoopFeed(partial(Numbers, 40), feeding(workers=1, seed=None)) as feed:
        for batch in feed.epoch(0):
            for index, values in zip(batch[INDEX], batch["values"], strict=True):
                assert np.array_equal(values, np.arange(index, dtype=np.float32))


def test_an_error_of_a_worker_is_raised_with_its_words():
    with (
        LoopFeed(partial(Numbers, 20, 13), feeding(workers=2)) as feed,
        pytest.raises(RuntimeError, match="a worker failed: ValueError: sample 13 is broken"),
    ):
        taken(feed)


def test_a_worker_that_is_killed_is_noticed():
    with LoopFeed(partial(Numbers, 80), feeding(workers=1)) as feed:
        batches = feed.epoch(0)
        next(batches)
        feed._workers[0]._process.kill()
        with pytest.raises(RuntimeError, match="a worker has ended with status -9"):
            list(batches)
