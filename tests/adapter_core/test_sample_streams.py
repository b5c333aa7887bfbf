"""Loops over streams of samples, and samples as plain values."""

import json
import math
import os
import signal
from functools import partial
from itertools import islice

import numpy as np
import pytest

from adapter_core import UnsupportedError
from adapter_core.sample_set import (
    INDEX,
    FieldForm,
    SampleField,
    SampleKind,
    SampleSet,
    as_stored,
    digest,
)
from adapter_core.training.fields import SHARDS, PlainFields
from adapter_core.training.streams import Part, SampleStream, StreamFeed, epoch_seed
from adapter_core.training_loader import Feeding

COUNT = 23


class Counting(SampleStream):
    """Indices of a part, and the number of those that were given."""

    def __init__(self, part, fails_at=None):
        self._indices = part.of(range(COUNT))
        self._given, self._fails_at = 0, fails_at

    def samples(self):
        for index in self._indices[self._given :]:
            if index == self._fails_at:
                raise ValueError("no such sample")
            self._given += 1
            yield {INDEX: index}

    def state(self):
        return self._given

    def resume(self, state):
        self._given = state


class Every(SampleSet):
    """A sample with each form of field."""

    def __init__(self, count):
        fields = {
            "number": SampleField(FieldForm.NUMBER),
            "integer": SampleField(FieldForm.INTEGER),
            "text": SampleField(FieldForm.TEXT),
            "picture": SampleField(FieldForm.PICTURE, extension="jpg"),
            "array": SampleField(FieldForm.ARRAY, "float32", (2, 1)),
        }
        super().__init__(SampleKind.ROW, fields)
        self._count = count

    def __len__(self):
        return self._count

    def stored(self, index):
        return {
            "number": [math.nan, -0.0, math.inf, 1e-300][index % 4],
            "integer": [-(2**63), 2**63 - 1, 0][index % 3],
            "text": ["", "ß\n\0", "x" * 100][index % 3],
            "picture": [b"", b"\0\xff\0", b"jpg"][index % 3],
            "array": np.full((2, 1), index, "float32"),
        }


def indices_of(batches):
    return [int(index) for batch in batches for index in batch[INDEX]]


def fed(**options):
    return Feeding(as_stored, batch_size=4, **options)


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("world", [1, 2])
def test_parts_make_up_an_epoch(workers, world):
    found = []
    for rank in range(world):
        with StreamFeed(Counting, fed(workers=workers, rank=rank, world=world)) as feed:
            first, second = (indices_of(feed.epoch(number)) for number in range(2))
            assert sorted(first) == sorted(second)
            found += first
    assert sorted(found) == list(range(COUNT))


def test_workers_without_samples_are_passed_over():
    with StreamFeed(Counting, fed(workers=2, rank=COUNT - 1, world=COUNT)) as feed:
        assert indices_of(feed.epoch(0)) == [COUNT - 1]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("taken", [1, 3, 6])
def test_an_epoch_goes_on_from_the_states_of_its_workers(workers, taken):
    with StreamFeed(Counting, fed(workers=workers), resumes=True) as feed:
        before = indices_of(islice(feed.epoch(0), taken))
        state = json.loads(json.dumps(feed.state()))
    with StreamFeed(Counting, fed(workers=workers), resumes=True) as feed:
        after = indices_of(feed.epoch(0, state))
    assert sorted(before + after) == list(range(COUNT))


def test_streams_without_states_say_so():
    with StreamFeed(Counting, fed()) as feed, pytest.raises(UnsupportedError):
        feed.state()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_epoch_that_was_left_leaves_no_batches(workers):
    with StreamFeed(Counting, fed(workers=workers)) as feed:
        next(iter(feed.epoch(0)))
        assert sorted(indices_of(feed.epoch(1))) == list(range(COUNT))


def test_an_error_of_a_worker_is_raised_here():
    failing = pytest.raises(RuntimeError, match="ValueError: no such sample")
    with StreamFeed(partial(Counting, fails_at=9), fed(workers=2)) as feed, failing:
        list(feed.epoch(0))


def test_the_end_of_a_worker_is_an_error():
    with StreamFeed(Counting, fed(workers=1)) as feed:
        batches = feed.epoch(0)
        next(batches)
        os.kill(feed._workers[0]._process.pid, signal.SIGKILL)
        with pytest.raises(RuntimeError, match="ended with status -9"):
            list(batches)


def test_a_part_has_every_item_once():
    parts = [Part(0, 0, rank, 3, worker, 2) for rank in range(3) for worker in range(2)]
    assert sorted(item for part in parts for item in part.of(range(COUNT))) == list(range(COUNT))


def test_seeds_of_epochs_have_32_bits_and_differ():
    seeds = {epoch_seed(seed, epoch) for seed in range(4) for epoch in range(4)}
    assert len(seeds) == 16
    assert all(0 <= seed < 2**32 for seed in seeds)
    assert epoch_seed(None, 1) is None


def test_plain_values_become_the_samples_again(tmp_path):
    samples = Every(12)
    written = PlainFields.write(samples, tmp_path)
    fields = PlainFields.read(tmp_path)
    assert fields == written
    for sample in samples:
        plain = fields.plain(sample)
        assert {type(each) for each in plain.values()} == {int, float, str, bytes}
        assert digest(fields.restored(plain)) == digest(sample)


@pytest.mark.parametrize("count", [0, 1, SHARDS - 1, SHARDS, SHARDS + 1, 1_000])
def test_shards_have_every_sample_once(count):
    shards = PlainFields(count, {}).shards()
    assert [index for shard in shards for index in shard] == list(range(count))
    assert len(shards) == min(count, SHARDS)
    assert {len(shard) for shard in shards} <= {count // SHARDS, count // SHARDS + 1, 1}
