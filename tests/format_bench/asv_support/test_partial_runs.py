"""Durations of benchmarks whose cells several runs of asv have measured."""

from __future__ import annotations

import math

from asv.results import Results
from asv.runner import BenchmarkResult

from format_bench.asv_support import partial_runs

BENCHMARK = {
    "name": "tabular.Tabular.time_save",
    "params": [["'CSV'", "'XML'"], ["'eq'"]],
    "version": "1",
}


def run(results, duration, selected):
    """Add what asv adds in two rounds: the duration so far in each."""
    cells = [1.0 if place in selected else math.nan for place in range(2)]
    numbers = [1 if place in selected else None for place in range(2)]
    taken = BenchmarkResult(cells, [[1.0] if each else None for each in numbers], numbers, 0, "", None)
    for spent in (duration / 2, duration):
        partial_runs.add_result(results, BENCHMARK, taken, duration=spent, selected_idx=selected)


def again(results):
    """Return results as the next run of asv reads them."""
    read = Results({"machine": "m"}, {}, "a" * 40, 0, "3", "env", {})
    read._duration |= results.duration
    return read


def test_durations_of_parts_add_up_and_a_whole_run_has_its_own():
    first = Results({"machine": "m"}, {}, "a" * 40, 0, "3", "env", {})
    run(first, 10.0, [0])
    assert first.duration == {BENCHMARK["name"]: 10.0}
    second = again(first)
    run(second, 4.0, [1])
    assert second.duration == {BENCHMARK["name"]: 14.0}
    whole = again(second)
    run(whole, 12.0, [0, 1])
    assert whole.duration == {BENCHMARK["name"]: 12.0}
