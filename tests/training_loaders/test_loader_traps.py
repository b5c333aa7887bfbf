"""Traps of loaders' libraries: what the adapters do about them, and whether they are still there."""

import random

import numpy as np
import pytest

import data_generator
import training_loaders
from adapter_core.listing import declarations
from adapter_core.sample_set import INDEX
from adapter_core.training_loader import Feeding
from tests.helpers import ROOT

# webdataset leaves its open shards to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")

BATCH = 8


def loader_of(label):
    found = training_loaders.find(label)
    answer = found.availability()
    if not answer:
        pytest.skip(answer.reason)
    return found


def rows(count):
    return data_generator.samples("training-rows", count).samples


def epochs(loader, samples, path, numbers=(0, 1), **options):
    """Return the order of epochs."""
    with loader.open(path, Feeding(samples.decode, BATCH, **options)) as feed:
        return [
            [int(index) for batch in feed.epoch(number) for index in batch[INDEX]] for number in numbers
        ]


def test_libraries_outside_the_set_are_not_pinned():
    outside = [each for each in declarations(ROOT / "training_loaders") if each.outside_library_set]
    assert {"DeepLake", "LitData", "MosaicML", "PyTorch", "tf.data"} == {each.label for each in outside}
    constraints = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.partition("==")[0] for line in constraints}
    assert not pinned & {"deeplake", "torch", "litdata", "mosaicml-streaming", "tensorflow-cpu"}


def test_a_library_outside_the_set_has_its_own_command():
    loader = training_loaders.find("PyTorch")
    assert loader._install_hint == "pip install 'numpy' 'torch>=2.4'"


def test_the_sampler_of_lance_ignores_the_epoch(tmp_path):
    loader, samples = loader_of("Lance[sampler]"), rows(64)
    loader.prepare(samples, tmp_path / "a")
    first, second = epochs(loader, samples, tmp_path / "a")
    assert first != second
    from lance.sampler import ShardedBatchSampler

    from adapter_core.training.lance import open_dataset

    dataset = open_dataset(tmp_path / "a")

    def order(epoch):
        sampler = ShardedBatchSampler(0, 1, randomize=True, seed=1)
        sampler.set_epoch(epoch)
        state = random.getstate()
        found = [batch.column(INDEX).to_pylist() for batch in sampler(dataset, batch_size=BATCH)]
        random.setstate(state)
        return found

    # If this fails, the library has mended it, and the adapter need not make seeds of epochs.
    assert order(0) == order(1)


def test_a_window_of_webdataset_keeps_neighbours_of_a_shard_together(tmp_path):
    loader, samples = loader_of("WebDataset"), rows(4_000)
    loader.prepare(samples, tmp_path / "a")
    (order,) = epochs(loader, samples, tmp_path / "a", [0])
    shards = np.array(order) // (4_000 // 16)
    # Of a full shuffle, the first 500 samples would have all 16 shards.
    assert len(set(shards[:500].tolist())) < 12
    assert sorted(order) == list(range(4_000))


def test_a_resumed_stream_of_hugging_face_has_its_buffer(tmp_path):
    loader, samples = loader_of("HuggingFace[iterable]"), rows(64)
    loader.prepare(samples, tmp_path / "a")
    feeding = Feeding(samples.decode, BATCH)
    with loader.open(tmp_path / "a", feeding) as feed:
        before = [int(index) for index in next(iter(feed.epoch(0)))[INDEX]]
        state = feed.state()
    with loader.open(tmp_path / "a", feeding) as feed:
        after = [int(index) for batch in feed.epoch(0, state) for index in batch[INDEX]]
    assert sorted(before + after) == list(range(64))


@pytest.mark.costly("training_loaders")
@pytest.mark.parametrize("label", ["Grain", "TFRecord"])
def test_grain_resumes_in_the_middle_of_any_epoch(label, tmp_path):
    loader, samples = loader_of(label), rows(64)
    loader.prepare(samples, tmp_path / "a")
    feeding = Feeding(samples.decode, BATCH, workers=2)
    (whole,) = epochs(loader, samples, tmp_path / "a", [3], workers=2)
    with loader.open(tmp_path / "a", feeding) as feed:
        batches = feed.epoch(3)
        before = [int(index) for _ in range(3) for index in next(batches)[INDEX]]
        state = feed.state()
    with loader.open(tmp_path / "a", feeding) as feed:
        after = [int(index) for batch in feed.epoch(3, state) for index in batch[INDEX]]
    assert before + after == whole


def test_epochs_of_grain_follow_each_other_without_new_workers(tmp_path):
    loader, samples = loader_of("Grain"), rows(64)
    loader.prepare(samples, tmp_path / "a")
    with loader.open(tmp_path / "a", Feeding(samples.decode, BATCH)) as feed:
        list(feed.epoch(0))
        iterator = feed._iterator
        list(feed.epoch(1))
        assert feed._iterator is iterator
        list(feed.epoch(5))
        assert feed._iterator is not iterator


@pytest.mark.parametrize("label", ["Grain", "HuggingFace[iterable]", "TFRecord", "WebDataset"])
def test_samples_are_cut_into_as_many_shards_as_are_asked_for(label, tmp_path):
    loader, samples = loader_of(label), rows(64)
    loader.shards = 5
    loader.prepare(samples, tmp_path / "a")
    sizes = [each.stat().st_size for each in (tmp_path / "a").iterdir() if each.suffix != ".json"]
    assert len(sizes) == 5
    (order,) = epochs(loader, samples, tmp_path / "a", [0], workers=1)
    assert sorted(order) == list(range(64))
