"""Trainings in processes of their own: planted faults are found, and a sound loader has none."""

from __future__ import annotations

import sys
from functools import partial

import pytest

import training_loaders
from adapter_core import Availability
from adapter_core.errors import TrainingError, WrongValuesError
from format_bench.families.training import epochs
from format_bench.families.training.operations import TrainingOperations
from format_bench.instruments.clock import Effort
from format_bench.network.object_server import STAND_IN
from format_bench.network.places import own_place
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from tests.factories import fake_loaders

STEPS = {each.name: each for each in FAMILIES["training"].steps}
COUNT = 700  # three batches of rows
BRIEF = Effort(0.0, 1)


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


@pytest.fixture
def measured(toys, tmp_path, monkeypatch):
    """Return a function that measures a step of a loader, by metric."""
    monkeypatch.setenv("PYTHONPATH", fake_loaders.install(toys))
    monkeypatch.setattr(sys, "path", [*sys.path, str(toys)])

    def measure(label, step, dataset="training-rows", count=COUNT, effort=BRIEF, **attributes):
        data, file = tmp_path / "data", tmp_path / "file.samples"
        if not data.exists():
            TrainingOperations.store(TrainingOperations.generate(dataset, count), data)
        operations = TrainingOperations.on(data, training_loaders.get(label))
        vars(operations).update(attributes)
        operations.save(operations.load(data), file)
        found = operations.measure(STEPS[step], file, effort)
        assert [each.metric for each in found] == list(STEPS[step].metrics)
        return {each.metric: each for each in found}

    return measure


def test_a_sound_loader_has_values_and_no_faults(measured):
    found = measured("Files[loop]", "epochs")
    values = {name: list(each.repeats) for name, each in found.items()}
    assert values["repeated samples"] == values["lost samples"] == [0]
    assert values["bytes per sample"] == []
    assert found["bytes per sample"].status is CellStatus.UNSUPPORTED
    assert len(values["sample time"]) == epochs.EPOCHS - 1
    assert all(each > 0 for each in values["sample time"] + values["loader memory"])
    assert max(values["order distance"]) < 0.2
    assert all(0 <= share <= 1 for ms in epochs.STEPS_MS for share in values[f"stalls at {ms} ms"])


def test_decoding_is_told_apart_from_fetching(measured):
    decoded = measured("Files[loop]", "epochs", "training-images", 64)["sample CPU time"]
    fetching = measured("Files[loop]", "fetching", "training-images", 64)["fetching CPU time"]
    assert 0 < min(fetching.repeats) < min(decoded.repeats)


def test_fetching_is_all_where_nothing_is_decoded(measured):
    (found,) = measured("Files[loop]", "fetching", count=8).values()
    assert (found.status, [*found.repeats]) == (CellStatus.UNSUPPORTED, [])


def test_epochs_go_on_while_the_budget_lasts(measured, monkeypatch):
    monkeypatch.setattr(epochs, "_MOST_EPOCHS", epochs.EPOCHS + 2)
    found = measured("Files[loop]", "epochs", count=8, effort=Effort(60.0, 1))
    assert len(found["sample time"].repeats) == epochs.EPOCHS + 1
    assert len(found["first batch time"].repeats) == 1


@pytest.mark.parametrize(
    ("label", "metric", "number"),
    [("Doubling", "repeated samples", 256), ("Losing", "lost samples", COUNT - 512)],
)
def test_planted_duplicates_and_losses_are_found(measured, label, metric, number):
    found = measured(label, "epochs")
    assert list(found[metric].repeats) == [number]
    assert found[metric].sentence == f"of {COUNT} in an epoch"
    other = {"repeated samples", "lost samples"} - {metric}
    assert list(found[other.pop()].repeats) == [0]


def test_a_missing_shuffle_is_found(measured):
    assert min(measured("Unshuffled", "epochs")["order distance"].repeats) == 1.0


def test_epochs_of_one_order_have_a_remark(measured):
    found = measured("Repetitive", "epochs")["order distance"]
    assert max(found.repeats) < 0.2
    assert found.sentence == "epochs have the same order"


def test_other_values_are_an_error(measured):
    with pytest.raises(WrongValuesError, match=r"the sample \d+ has other values"):
        measured("Altering", "epochs")


def test_an_error_of_the_loader_is_its_own_words(measured):
    with pytest.raises(TrainingError, match="ValueError: no samples today"):
        measured("Raising", "epochs")


def test_two_ranks_share_the_samples_or_repeat_them(measured):
    assert list(measured("Files[loop]", "two ranks")["samples off on two ranks"].repeats) == [0]
    (found,) = measured("Unranked", "two ranks").values()
    assert list(found.repeats) == [COUNT]
    assert found.sentence == f"{COUNT} repeated"


def test_a_killed_training_is_resumed_where_it_was(measured):
    (found,) = measured("Files[loop]", "resume", workers=2).values()
    assert (list(found.repeats), found.sentence) == ([0], "")
    (found,) = measured("Forgetful", "resume").values()
    assert (list(found.repeats), found.sentence) == ([256], "256 repeated")


def test_epochs_of_one_batch_have_no_memory_and_no_middle(measured):
    found = measured("Feather[loop]", "epochs", count=8)
    assert found["loader memory"].status is CellStatus.UNSUPPORTED
    assert found["loader memory"].sentence == "memory is read at batch 2, and an epoch has fewer"
    assert found["sample time"].repeats[0] > 0
    (resumed,) = measured("Feather[loop]", "resume").values()
    assert resumed.status is CellStatus.UNSUPPORTED
    # One block of rows, which the first rank has.
    assert list(measured("Feather[loop]", "two ranks")["samples off on two ranks"].repeats) == [0]


def test_a_killed_worker_costs_the_rest_or_hangs(measured, monkeypatch):
    found = measured("Files[loop]", "faults", workers=1)
    stopped, server = found.values()
    assert stopped.repeats[0] > 0
    assert "it stops: RuntimeError: a worker has ended with status -9" in stopped.sentence
    assert server.status is CellStatus.UNSUPPORTED
    monkeypatch.setattr(epochs, "HANG_SECONDS", 3.0)
    hanging = measured("Hanging", "faults", workers=1)["samples off after a lost worker"]
    assert "it hangs: no end after 3 seconds" in hanging.sentence


def test_cold_first_epochs_bring_in_the_whole(measured, tmp_path):
    found = measured("NPY.memmap[loop]", "cold epochs", "training-windows", 12)
    (fetched,) = found["bytes per sample"].repeats[:1]
    size = training_loaders.get("NPY.memmap[loop]").size_bytes(tmp_path / "file.samples")
    assert fetched * 12 >= size


@pytest.fixture
def stand_in(monkeypatch):
    """Let the server be one without signatures."""
    monkeypatch.setattr(epochs, "own_place", partial(own_place, STAND_IN))
    monkeypatch.setattr(epochs.object_server, "availability", lambda: Availability(available=True))


@pytest.mark.server
@pytest.mark.usefixtures("stand_in")
def test_samples_come_over_a_link(measured):
    found = measured("Fetching", "epochs", count=40, link="2 ms")
    assert list(found["lost samples"].repeats) == list(found["repeated samples"].repeats) == [0]
    # Each sample has files of more than 100 bytes together, fetched once in three epochs.
    assert found["bytes per sample"].repeats[0] > 100 / epochs.EPOCHS
    assert found["first batch time"].repeats[0] > 40 * 0.002 / 16


@pytest.mark.server
@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("label", "dataset"),
    [
        ("Files[loop]", "training-images"),
        ("Feather[loop]", "training-rows"),
        ("Zarr.dir[loop]", "training-windows"),
        ("Zarr[xbatcher]", "training-windows"),
    ],
)
def test_plain_loops_read_their_storages_at_a_server(measured, label, dataset):
    found = measured(label, "epochs", dataset, 12, link="0 ms")
    assert list(found["lost samples"].repeats) == list(found["repeated samples"].repeats) == [0]
    assert found["bytes per sample"].repeats[0] > 0


@pytest.mark.server
@pytest.mark.usefixtures("stand_in")
def test_a_cache_that_is_too_small_fetches_samples_again(measured):
    fetched = {}
    for share in (0.0, 0.1):
        found = measured("WebDataset", "epochs", link="0 ms", cache_share=share)
        assert list(found["lost samples"].repeats) == list(found["repeated samples"].repeats) == [0]
        fetched[share] = found["bytes per sample"].repeats[0]
    # Without a limit all three epochs fetch as much as one.
    assert fetched[0.1] > 2 * fetched[0.0]


def test_a_loader_of_local_files_has_no_link(measured):
    found = measured("Grain", "epochs", count=8, link="2 ms")
    assert {each.status for each in found.values()} == {CellStatus.UNSUPPORTED}
    assert "reads no object stores" in found["sample time"].sentence
