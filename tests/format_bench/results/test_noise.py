"""Noise of timed cells, from the rounds of all cells of a run."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from format_bench.report import page
from format_bench.results.noise import RunNoise
from tests.factories.records import record, results

CALLS = 5


def run_of(seed, *, between=0.1, within=0.02, cells=200, rounds=2):
    """Return a run of equal cells, whose processes and calls deviate by these shares."""
    chance = random.Random(seed)
    return [
        timed(
            f"d{cell}",
            [
                [process * chance.lognormvariate(0, within) for _ in range(CALLS)]
                for process in (chance.lognormvariate(0, between) for _ in range(rounds))
            ],
        )
        for cell in range(cells)
    ]


def timed(dataset, rounds, **fields):
    samples = [sample for each in rounds for sample in each]
    value = sorted(samples)[len(samples) // 2]
    sizes = [len(each) for each in rounds]
    made = record("CSV", "save time", value, dataset=dataset, repeats=samples, round_sizes=sizes)
    return replace(made, **fields)


@pytest.mark.parametrize(("between", "rounds"), [(0.02, 2), (0.3, 2), (0.1, 3)])
def test_nearly_all_values_of_another_run_are_within_the_noise(between, rounds):
    one, other = (run_of(seed, between=between, rounds=rounds) for seed in (1, 2))
    noise = RunNoise(one)
    beyond = sum(
        abs(math.log(a.value / b.value)) > math.log1p(noise.of_cell(a))
        for a, b in zip(one, other, strict=True)
    )
    assert 0.005 < beyond / len(one) < 0.1


def test_calls_of_one_process_do_not_pass_for_several():
    """Five calls that agree say nothing of the next process."""
    found = sorted(map(RunNoise(run := run_of(3)).of_cell, run))
    assert found[len(found) // 2] > 0.15


def test_a_cell_of_one_round_has_the_noise_of_its_kind():
    single = timed("single", [[1.0] * CALLS])
    cells = [*run_of(4), single]
    noise = RunNoise(cells)
    middle = sorted(map(noise.of_cell, cells))[len(cells) // 2]
    assert noise.of_cell(single) > middle


def test_a_cell_with_rounds_far_apart_has_more_noise_than_its_kind():
    wild = timed("wild", [[1.0] * CALLS, [3.0] * CALLS])
    noise = RunNoise(calm := run_of(5, between=0.02))
    assert RunNoise([*calm, wild]).of_cell(wild) > 5 * max(map(noise.of_cell, calm))


def test_without_rounds_or_with_few_cells_the_noise_is_not_known():
    size = record("CSV", "size", 100, round_sizes=[1])
    unknown = record("CSV", "save time", 1.0, repeats=[1.0] * 9)
    noise = RunNoise([*run_of(6), size, unknown])
    assert noise.of_cell(size) is None
    assert noise.of_cell(unknown) is None
    assert RunNoise(few := run_of(7, cells=3)).of_cell(few[0]) is None
    other = record("CSV", "read time", 1.0, repeats=[1.0] * 9, round_sizes=[9])
    assert RunNoise([*run_of(8), other]).of_cell(other) is None


def test_tables_show_the_noise_of_a_time():
    run = [
        timed("eq", [[1.0] * 3, [1.2] * 3], format=f"F{number}", interval=[1.0, 1.2])
        for number in range(8)
    ]
    assert "another run may differ by" in page(results(run))
