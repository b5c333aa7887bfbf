"""What a run of asv has spent, and what of it was measured."""

from __future__ import annotations

from asv.results import Results
from asv.runner import BenchmarkResult

from format_bench.asv_support.results import run_of

SECONDS = {"time_save": 1.0, "time_durable_save": 1.5, "track_size": 100.0}


def test_a_plain_save_within_a_durable_one_is_measured_once(tmp_path):
    result = Results({"machine": "m", "cpu": ""}, {}, "a" * 40, 0, "3", "env", {})
    benchmarks = {}
    for method, seconds in SECONDS.items():
        benchmark = {
            "name": f"tabular.Tabular.{method}",
            "pretty_name": f"Table: {method}",
            "params": [["'CSV'", "'XML'"], ["'eq'"]],
            "param_names": ["format", "dataset"],
            "unit": "seconds",
            "version": "1",
        }
        benchmarks[benchmark["name"]] = benchmark
        taken = BenchmarkResult([seconds, None], [[seconds] * 3, None], [1, None], 0, "", None)
        result.add_result(benchmark, taken, duration=5.0, record_samples=True)
    run = run_of(result, benchmarks, tmp_path)
    assert (run.measured_seconds, run.spent_seconds, run.measured_share) == (4.5, 15.0, 0.3)
