"""What a run of asv has spent, and what of it was measured."""

from __future__ import annotations

import pytest
from asv.results import Results
from asv.runner import BenchmarkResult

from format_bench.asv_support.results import AsvCell, Run, records_of, run_of
from format_bench.asv_support.rounds import RoundsFile

SECONDS = {"time_save": 1.0, "time_durable_save": 1.5, "track_size": 100.0}


def run_of_saves(folder):
    """Return a run of two formats, of which one has values, in 15 seconds."""
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
    return run_of(result, benchmarks, folder)


def test_a_plain_save_within_a_durable_one_is_measured_once(tmp_path):
    run = run_of_saves(tmp_path)
    assert (run.measured_seconds, run.spent_seconds, run.measured_share) == (4.5, 15.0, 0.3)
    assert run.sampled_seconds == 4.5


def test_all_that_the_clock_has_timed_is_measured(tmp_path):
    file = RoundsFile(tmp_path, "env", "a" * 40)
    first = "tabular.Tabular", ["CSV", "eq"], "save"
    file.append_on_clock(*first, 0, 100.0)
    file.append_on_clock(*first, 0, 3.0)  # measured again: asv keeps the last duration, too
    file.append_on_clock(*first, 1, 3.5)
    file.append_on_clock("image.Image", ["PNG", "cifar-like"], "save", 0, 50.0)  # of another run
    run = run_of_saves(tmp_path)
    assert (run.measured_seconds, run.sampled_seconds) == (6.5, 4.5)


@pytest.mark.parametrize(
    ("label", "choice", "codec"),
    [
        ("Parquet", "zstd level 1", ("zstd", 1)),
        ("HDF5.fixed", "zstd level 1", ("blosc:zstd", 1)),
        ("HDF5.fixed", "lz4", ("blosc:lz4", None)),
        ("ORC", "zstd level 1", ("zstd", None)),  # it has no levels
        ("ORC", "own default", ("own default", None)),
        ("ORC", "none", (None, None)),
        ("Feather", "gzip level 1", ("gzip", 1)),  # it has none: the cell has no value
    ],
)
def test_a_record_names_the_codec_that_was_used(label, choice, codec):
    name = "compression.Compression.time_save"
    cell = AsvCell(name, "save time", "seconds", label, "core", 1.0, "value", "", {"codec": choice})
    run = Run("m", "", "env", "a" * 40, [cell], 0.0, 0.0, 0.0)
    (record,) = records_of(run, {})
    assert (record.codec, record.level) == codec
