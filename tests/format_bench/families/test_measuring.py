"""Warm and cold steps in turn, in one process."""

from __future__ import annotations

import copy
import inspect

import pytest

import data_formats
import image_storages
from adapter_core.errors import NotColdError
from format_bench.families import measuring
from format_bench.families.images.operations import ImageOperations
from format_bench.families.measuring import measure_step, measure_steps
from format_bench.families.operations import operations_of, registry_of
from format_bench.families.tables.operations import TableOperations
from format_bench.instruments import page_cache
from format_bench.instruments.clock import Effort
from format_bench.results.suites import FAMILIES

STEPS = {name: {step.name: step for step in family.steps} for name, family in FAMILIES.items()}


class Watched:
    """Operations of a family that note the share of the file in the page cache at each call."""

    def __init__(self, operations, file):
        self.operations, self.file, self.shares, self.turns = operations, file, [], []

    def __getattr__(self, name):
        return getattr(self.operations, name)

    def read(self, file):
        self.shares.append(page_cache.resident_share(self.file))
        return self.operations.read(file)

    def sample(self, metric, file, *, turn, **how):
        self.shares.append(page_cache.resident_share(self.file))
        self.turns.append((metric, turn))
        return self.operations.sample(metric, file, turn=turn, **how)


@pytest.fixture
def table(tmp_path):
    operations = TableOperations(data_formats.registry.get("CSV"))
    data = operations.generate("eq", 20_000)
    operations.save(data, file := tmp_path / "file.csv")
    return Watched(operations, file), lambda: data, file


@pytest.fixture
def images(tmp_path):
    operations = ImageOperations(image_storages.registry.get("NumPy"))
    data = operations.generate("cifar-like", 40)
    operations.save(data, file := tmp_path / f"file{operations.adapter.suffix}")
    return Watched(operations, file), lambda: data, file


@pytest.mark.parametrize(("round_number", "order"), [(0, "cwwc"), (1, "wccw")])
def test_reads_take_turns_and_the_next_process_swaps_them(table, round_number, order):
    steps = [STEPS["tables"][name] for name in ("read", "cold read")]
    found = measure_steps(steps, *table, Effort(0, 2, round_number))
    first, *others = table[0].shares
    # Other work on the machine may take single pages of a warm file out of the cache.
    assert first > 0.9
    assert [round(share) for share in others] == [0 if letter == "c" else 1 for letter in order]
    assert list(found) == ["read", "cold read"]
    times = [each for step in found.values() for each in step if each.metric == "read time"]
    assert [len(each.repeats) for each in times] == [2, 2]


def test_random_reads_take_turns_in_the_same_permutations(images):
    steps = [STEPS["images"][name] for name in ("random read", "cold random read")]
    found = measure_steps(steps, *images, Effort(0, 1))
    watched = images[0]
    assert {0, 1} == {round(share) for share in watched.shares}
    metrics = ["random read time per image", "batch read time per image"]
    three = [turn for turn in range(measuring.MIN_REPEATS) for _ in steps]
    assert watched.turns == [(metric, turn) for metric in metrics for turn in three]
    assert [each.metric for each in found["random read"]] == ["open time", *metrics]
    assert [each.metric for each in found["cold random read"]] == metrics
    for step in found.values():
        assert all(len(each.repeats) == measuring.MIN_REPEATS for each in step)


def test_the_first_turn_does_not_count_if_enough_follow(images):
    step = STEPS["images"]["random read"]
    found = measure_step(step, *images, Effort(0.3, 1))
    turns = [turn for metric, turn in images[0].turns if metric.startswith("batch")]
    (batch,) = [each for each in found if each.metric.startswith("batch")]
    assert len(turns) > measuring.MIN_REPEATS
    assert len(batch.repeats) == len(turns) - 1


def test_a_read_that_is_dearer_than_its_budget_is_made_once_warm_and_once_cold(table):
    steps = [STEPS["tables"][name] for name in ("read", "cold read")]
    found = measure_steps(steps, *table, Effort(1e-6, 1))
    assert [round(share) for share in table[0].shares] == [1, 0]
    times = [each for step in found.values() for each in step if each.metric == "read time"]
    assert [len(each.repeats) for each in times] == [1, 1]
    assert found["read"][0].metric == "lost columns"  # the cold one was compared with the data


def test_times_have_cpu_times_and_the_reference_loop_beside_them(table):
    found = measure_step(STEPS["tables"]["read"], *table, Effort(0, 3))
    wall, cpu = (each for each in found if each.metric in {"read time", "read CPU time"})
    assert list(wall.cpu) == list(cpu.repeats)
    assert len(wall.loop) == len(wall.repeats)
    assert min(wall.loop) > 1e-4


def test_where_no_file_can_be_cold_no_read_is_wasted(table, monkeypatch):
    def stays(path):
        raise NotColdError(f"1 of 1 pages of {path.name} stay in the page cache")

    monkeypatch.setattr(page_cache, "make_cold", stays)
    steps = [STEPS["tables"][name] for name in ("read", "cold read")]
    with pytest.raises(NotColdError):
        measure_steps(steps, *table, Effort(0, 1))
    assert table[0].shares == []
    # Alone, too: single queries would else fail one by one.
    for step in (STEPS["tables"]["cold read"], STEPS["tables"]["cold query"]):
        with pytest.raises(NotColdError):
            measure_step(step, *table, Effort(0, 1))


CASES = {
    "tables": ("Feather", "eq", 100),
    "images": ("NumPy", "cifar-like", 3),
    "arrays": ("HDF5", "era5-like", 1),
    "records": ("Pickle", "entities", 20),
    "queries": ("Parquet[pyarrow]", "query", 200),
    "training": ("Files[loop]", "training-rows", 20),
}


@pytest.mark.parametrize("family", CASES)
def test_the_check_comes_before_the_clock_and_few_frames_are_in_it(  # noqa: C901 (a spy on each call)
    family, tmp_path
):
    label, dataset, size = CASES[family]
    adapter = copy.copy(registry_of(FAMILIES[family]).get(label))
    within_saves, frames_above = [], {"save": [], "read": []}

    def note_frames(step):
        files = [each.filename for each in inspect.stack()[1:]]
        if measuring.__file__ in files:
            frames_above[step].append(files.index(measuring.__file__))

    def spied(owner):
        class Spy(type(owner)):
            def check(self, *arguments):
                within_saves.append("save" in {each.function for each in inspect.stack()})
                super().check(*arguments)

            def _save(self, *arguments, **options):
                note_frames("save")
                super()._save(*arguments, **options)

            def _prepare(self, *arguments):
                note_frames("save")
                super()._prepare(*arguments)

            def _read(self, *arguments):
                note_frames("read")
                return super()._read(*arguments)

            def _open(self, path):
                note_frames("read")
                return super()._open(path)

        owner.__class__ = Spy
        return owner

    adapter = spied(adapter)
    if family == "queries":
        adapter.format = spied(copy.copy(adapter.format))
    operations = operations_of(FAMILIES[family])(adapter)
    operations.store(operations.generate(dataset, size), tmp_path / "data")
    operations.expect(tmp_path / "data")
    operations.warm_up()
    data = operations.load(tmp_path / "data")
    within_saves.clear()
    found = measure_step(
        STEPS[family]["save"], operations, lambda: data, tmp_path / "file", Effort(0, 2)
    )
    assert within_saves
    assert not any(within_saves)
    # A pair of an engine saves each table by its format.
    assert min(frames_above["save"]) <= (4 if family == "queries" else 3)
    assert len(found[0].repeats) == 2
    if "read" in STEPS[family]:
        measure_step(STEPS[family]["read"], operations, lambda: data, tmp_path / "file", Effort(0, 1))
        assert min(frames_above["read"]) <= 3  # reads for the comparison are further down
