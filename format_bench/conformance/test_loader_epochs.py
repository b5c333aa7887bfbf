"""Epochs of training loaders: each sample once, with its values, whatever workers, ranks and resumes."""

from __future__ import annotations

import functools
import json
from itertools import islice

import numpy as np
import pytest

import data_generator
from adapter_core import CannotHoldError, UnsupportedError
from adapter_core.sample_set import INDEX, digest
from adapter_core.training_loader import Feeding

# webdataset leaves its open shards to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")

NAMES = data_generator.sample_names()
# No multiple: the last batch is smaller, and shall not be dropped.
COUNT, BATCH = 22, 4


@functools.cache
def samples_of(name):
    return data_generator.samples(name, COUNT).samples


def fed(samples, **options):
    return Feeding(samples.decode, BATCH, **options)


def taken(batches):
    """Return index and digest of each sample, batch by batch; a batch is valid until the next one."""
    found = []
    for batch in batches:
        indices = [int(each) for each in batch[INDEX]]
        rows = [{name: values[row] for name, values in batch.items()} for row in range(len(indices))]
        for row in rows:
            row[INDEX] = int(row[INDEX])
        found.append([(index, digest(row)) for index, row in zip(indices, rows, strict=True)])
    return found


def expected(samples):
    return [(index, digest(samples.decode(samples[index]))) for index in range(len(samples))]


def joined(batches):
    return [sample for batch in batches for sample in batch]


@pytest.fixture(params=NAMES)
def prepared(request, loader, path):
    """Return samples of a kind, prepared by the loader; skip kinds that it refuses."""
    samples = samples_of(request.param)
    if samples.kind in loader.refuses:
        with pytest.raises(CannotHoldError, match=r"feeds no "):
            loader.prepare(samples, path)
        assert list(path.parent.iterdir()) == []
        pytest.skip(f"{loader.label} feeds no {samples.kind}")
    chosen = request.node.callspec.params["loader"]
    if chosen.stands_for_others and request.param != first_fed(loader):
        pytest.skip("no change concerns the loader: one kind of samples is tried")
    loader.prepare(samples, path)
    return samples


def first_fed(loader):
    """Return the name of the first samples that a loader feeds."""
    return next(each for each in NAMES if samples_of(each).kind not in loader.refuses)


def test_each_epoch_has_every_sample_once_with_its_values(loader, prepared, path):
    with loader.open(path, fed(prepared)) as feed:
        epochs = [taken(feed.epoch(number)) for number in range(2)]
    for batches in epochs:
        assert sorted(joined(batches)) == expected(prepared)
        assert max(map(len, batches)) <= BATCH


def test_workers_lose_and_repeat_nothing(loader, prepared, path):
    with loader.open(path, fed(prepared, workers=2)) as feed:
        for number in range(2):
            assert sorted(joined(taken(feed.epoch(number)))) == expected(prepared)


def test_without_a_seed_the_order_is_the_stored_one(loader, prepared, path):
    with loader.open(path, fed(prepared, seed=None)) as feed:
        assert joined(taken(feed.epoch(0))) == expected(prepared)


def test_the_seed_and_the_epoch_decide_the_order(loader, prepared, path):
    def order(seed, epoch):
        with loader.open(path, fed(prepared, seed=seed)) as feed:
            return [index for index, _ in joined(taken(feed.epoch(epoch)))]

    assert order(1, 0) != list(range(COUNT))
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_two_ranks_share_an_epoch(loader, prepared, path):
    if loader.single_rank:
        with pytest.raises(UnsupportedError, match="one rank"):
            loader.open(path, fed(prepared, world=2))
        return
    parts = []
    for rank in range(2):
        with loader.open(path, fed(prepared, rank=rank, world=2)) as feed:
            parts.append(joined(taken(feed.epoch(0))))
    assert {*parts[0]} | {*parts[1]} <= {*expected(prepared)}
    assert all(0 < len(part) < COUNT for part in parts)
    # What a library repeats to make the ranks equal is counted by measurements.
    assert len({*parts[0]} & {*parts[1]}) <= BATCH


def test_an_epoch_goes_on_from_a_state(loader, prepared, path):
    with loader.open(path, fed(prepared)) as feed:
        before = taken(islice(feed.epoch(0), 2))
        if loader.cannot_resume:
            with pytest.raises(UnsupportedError):
                feed.state()
            return
        state = json.loads(json.dumps(feed.state()))
    with loader.open(path, fed(prepared)) as feed:
        after = taken(feed.epoch(0, state))
    found = joined([*before, *after])
    # Losing samples is a measured fault; making new ones up is a broken loader.
    assert {*found} <= {*expected(prepared)}
    assert len(found) >= COUNT - BATCH


def test_an_epoch_that_is_left_early_does_not_disturb_the_next(loader, prepared, path):
    with loader.open(path, fed(prepared, workers=1)) as feed:
        next(iter(feed.epoch(0)))
        assert sorted(joined(taken(feed.epoch(1)))) == expected(prepared)


def test_values_are_what_numpy_reads(loader, prepared, path):
    with loader.open(path, fed(prepared)) as feed:
        batch = next(iter(feed.epoch(0)))
    assert np.asarray(batch[INDEX]).dtype.kind == "i"
    assert set(batch) == {INDEX, *prepared.fields}


def test_preparing_replaces_earlier_samples(loader, path):
    name = first_fed(loader)
    fewer = data_generator.samples(name, 5).samples
    loader.prepare(samples_of(name), path)
    loader.prepare(fewer, path)
    with loader.open(path, fed(fewer)) as feed:
        assert sorted(joined(taken(feed.epoch(0)))) == expected(fewer)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_missing_folder_is_named(loader, path):
    name = first_fed(loader)
    samples = data_generator.samples(name, 5).samples
    with pytest.raises(FileNotFoundError, match=path.name):
        loader.open(path, fed(samples))
    with pytest.raises(FileNotFoundError, match="no folder"):
        loader.prepare(samples, path / "deeper" / path.name)
