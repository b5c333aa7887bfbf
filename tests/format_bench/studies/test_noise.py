"""The noise study, and the noise floors it writes."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from adapter_core import errors
from format_bench.dashboard.postprocessing import tables
from format_bench.results import noise_floor
from format_bench.results.marks import legend
from format_bench.results.noise_floor import Floors
from format_bench.studies import noise
from tests.factories.records import results_of
from tests.helpers import run
from tools.check_noise import differ, interleaved

GOES, TRIES, SAMPLES = 10, 20, 100


def work(steps):
    def call():
        total = 0
        for i in range(steps):
            total += i * i
        return total

    return call


def differences(steps):
    """Yield how many of 20 comparisons differ, in several goes: other programs may disturb some."""
    for _ in range(GOES):
        yield sum(differ(*interleaved(work(20_000), work(steps), SAMPLES)) for _ in range(TRIES))


def test_a_call_that_is_slower_by_10_percent_differs():
    assert any(found >= 19 for found in differences(22_000))


def test_equal_calls_seldom_differ():
    assert any(found <= 1 for found in differences(20_000))


def test_the_floor_grows_with_the_noise_and_vanishes_without():
    draw = random.Random(5)
    floors = [noise.floor([draw.gauss(1, spread) for _ in range(40)]) for spread in (0.0, 0.01, 0.1)]
    assert floors[0] == 0
    assert floors[0] < floors[1] < floors[2]
    # The difference of medians of 20 has a standard deviation of 1.25 * sqrt(2 / 20) * spread.
    assert floors[2] == pytest.approx(1.96 * 1.25 * (2 / 20) ** 0.5 * 0.1, rel=0.5)


def test_calls_are_interleaved():
    order = []
    interleaved(lambda: order.append("a"), lambda: order.append("b"), 4)
    assert "".join(order) == "abbaabba"


def test_the_command_prints_a_floor_for_each_metric_and_keeps_the_largest(tmp_path):
    out = tmp_path / "new" / "noise.json"
    done = run("study", "noise", "Feather", "--rows", 1000, "--samples", 8, "--out", out)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    cells = ["cell", "Feather save", "Feather read", "Feather save memory", "Feather size"]
    assert [line[:22].strip() for line in lines] == cells
    assert lines[-1].endswith("0.0%")
    floors = noise_floor.read(out)
    printed = [float(line[22:34].strip("% ")) for line in lines[1:3]]
    assert round(floors.wall_time * 100, 1) == max(printed)
    assert floors.size == 0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"wall_time": "much"}'])
def test_a_file_without_floors_is_refused(tmp_path, text):
    path = tmp_path / "noise.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(errors.InvalidNoiseFloorError, match="contains no noise floors"):
        noise_floor.read(path)


def test_values_within_the_floor_are_ties():
    values = {"A": 1.0, "B": 1.09, "C": 1.11}
    found = results_of({label: {"save time": value} for label, value in values.items()})
    floors = Floors(wall_time=0.1, cpu_time=0, memory=0, size=0)
    (table,) = tables(replace(found, floors=floors))
    assert [row[1] for row in table.rows] == ["1 s*", "1.09 s=", "1.11 s"]
    (table,) = tables(found)
    assert [row[1] for row in table.rows] == ["1 s*", "1.09 s", "1.11 s"]
    assert "time 10%" in legend(floors)
    assert "if their intervals overlap" in legend(None)
