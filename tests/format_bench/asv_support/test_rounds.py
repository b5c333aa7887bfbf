"""Samples of each process beside asv's results, which join or drop them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from format_bench.asv_support.results import load_run
from format_bench.asv_support.rounds import Round, RoundsFile
from tests.factories.histories import MonthlyRepository, benchmarks

SAVES = [[1.0, 1.1, 1.2], [1.4, 1.5]]
MEMORY = [[5e6], [9e6], [6e6]]
CELL = ("tabular.Tabular", ["CSV", "eq"])


@pytest.fixture
def repository(tmp_path):
    """Return results of asv with a time and another value of one cell, and the file of its rounds."""
    wanted = ("tabular.Tabular.time_save", "tabular.Tabular.track_save_memory")
    suites = [
        {**each, "params": [["'CSV'"], ["'eq'"]]} for each in benchmarks() if each["name"] in wanted
    ]
    made = MonthlyRepository(tmp_path / "repository", suites)
    now = datetime(2026, 11, 1, tzinfo=UTC)
    commit = made.renew(now, {})
    samples = {wanted[0]: [*SAVES[0], *SAVES[1]], wanted[1]: [each for (each,) in MEMORY]}
    made.add(commit, now, lambda name, _: samples[name])
    return made, RoundsFile(made.results_dir, made.environment, commit)


def records_of(repository):
    return {each.metric: each for each in load_run(repository.results_dir).records}


def test_records_have_the_samples_of_each_process(repository):
    made, file = repository
    for each in SAVES:
        file.append(*CELL, "save time", [Round(each)])
    file.append(*CELL, "save memory", [*map(Round, MEMORY)])
    found = records_of(made)
    assert found["save time"].repeats_by_round == SAVES
    assert found["save memory"].repeats_by_round == MEMORY
    assert [each.rounds for each in found.values()] == [2, 3]


def test_samples_of_another_run_of_the_commit_are_left_out(repository):
    made, file = repository
    file.append(*CELL, "save time", [Round([9.0, 9.1, 9.2])])
    for each in SAVES:
        file.append(*CELL, "save time", [Round(each)])
    file.append(*CELL, "save memory", [*map(Round, MEMORY)])
    file.append(*CELL, "save memory", [Round([1e6]), Round([2e6])])
    file.append("tabular.Tabular", ["CSV", "int"], "save time", [Round([3.0])])
    found = records_of(made)
    assert found["save time"].repeats_by_round == SAVES
    assert found["save memory"].repeats_by_round == MEMORY


def test_without_a_file_the_samples_are_those_of_asv(repository):
    made, _ = repository
    found = records_of(made)
    assert found["save time"].repeats == [*SAVES[0], *SAVES[1]]
    assert {tuple(each.round_sizes) for each in found.values()} == {()}
