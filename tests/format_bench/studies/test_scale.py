"""Studies of scale: measured jobs, the simulation of more workers, limits of memory, and the page."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from format_bench.instruments import isolation, memory_limit
from format_bench.instruments.memory_limit import limited
from format_bench.parallel.engine import opened
from format_bench.parallel.tables import Plan
from format_bench.parallel.trials import OBJECT_STORE, STEPS
from format_bench.results import records
from format_bench.results.load import load
from format_bench.results.study_rows import StudyFile, read
from format_bench.studies.declared.study import read as declared
from format_bench.studies.scale.cells import Cell, alone, limited_cell, on_workers
from format_bench.studies.scale.instruments import SCALING, plan_of
from format_bench.studies.scale.page import simulated_seconds
from format_bench.studies.scale.scale_run import FORM, ScaleRun
from tests.commands import run

MIB = 2**20

PLAN = Plan("core", 2_000, 4)


def fill(limit, size_bytes):
    limit.enter()
    filled = bytearray(size_bytes)
    time.sleep(1.0)  # a thread that watches the memory looks now and then
    return len(filled)


@pytest.mark.parametrize("watched", [False, True])
def test_a_process_beyond_its_memory_is_killed_and_others_are_not(monkeypatch, watched):
    if watched:
        monkeypatch.setattr(memory_limit, "_control_group", lambda _: None)
    with limited(300 * MIB) as limit:
        assert (limit.method == memory_limit.WATCHING) or not watched
        assert isolation.run(fill, limit, 20 * MIB, limit_seconds=60).value == 20 * MIB
        killed = isolation.run(fill, limit, 900 * MIB, limit_seconds=60)
    assert "SIGKILL" in killed.sentence
    assert limit.folder is None or not limit.folder.exists()


def test_simulated_workers_share_the_tasks():
    times = [1.0, 1.0, 4.0, 2.0]
    assert simulated_seconds(times, 1, 4, 0, 0.5) == 8.5
    assert simulated_seconds(times, 2, 4, 0, 0) == 5.0
    assert simulated_seconds(times, 64, 4, 0, 0) == 4.0
    assert simulated_seconds([1.0], 4, 8, 0, 0) == 2.0
    # A client that takes a second for each task is the limit of any number of workers.
    assert simulated_seconds([1.0], 64, 100, 1.0, 0) == 101.0
    # Each worker imports its libraries, which takes 3 seconds, before its first of two tasks.
    assert simulated_seconds([1.0], 2, 4, 0, 0, 3.0) == 5.0


def test_every_step_on_workers_has_a_value_or_a_reason(tmp_path):
    with opened("serial", "") as engine:
        parquet = list(on_workers(engine, Cell("Parquet", PLAN, "serial", 1), tmp_path / "table"))
        json = list(on_workers(engine, Cell("JSON", PLAN, "serial", 1), tmp_path / "table"))
        refused = list(on_workers(engine, Cell("HDF5.table", PLAN, "serial", 1), tmp_path / "table"))
    assert [each.step for each in parquet] == ["save", "read", "two columns", "count"]
    assert all(0 < each.seconds <= each.wall_seconds and not each.status for each in parquet)
    assert [each.sentence for each in parquet[1:3]] == ["digests equal"] * 2
    assert parquet[0].size_bytes > 0
    assert len(parquet[0].task_seconds) == 4
    assert [each.status for each in json] == ["", "", "unsupported", ""]
    assert [each.status for each in refused] == ["unsupported"]
    assert "integers with nulls" in refused[0].sentence
    assert list(tmp_path.iterdir()) == []


def test_the_adapter_alone_writes_a_stream_under_a_limit(tmp_path):
    with limited(2_000 * MIB) as limit:
        saved, read = alone(limited_cell("Parquet", PLAN, "2000 MiB"), tmp_path, limit)
    assert (saved.status, read.status, read.sentence) == ("", "", "digests equal")
    assert 0 < saved.seconds <= saved.wall_seconds
    with limited(8 * MIB) as limit:
        (killed,) = alone(limited_cell("Parquet", Plan("core", 100_000, 1), "8 MiB"), tmp_path, limit)
    assert killed.sentence.startswith("killed at the limit of 8,388,608 bytes by ")
    (unsupported,) = alone(Cell("Excel", PLAN), tmp_path)
    assert unsupported.status == "unsupported"
    assert list(tmp_path.iterdir()) == []


def test_a_table_has_as_many_times_the_memory_as_requested():
    plan = plan_of("kaons", 100 * MIB, 4, 50_000)
    frame = plan.partition(0)
    assert len(frame) <= 50_000
    whole = frame.memory_usage(index=False, deep=True).sum() / len(frame) * plan.rows
    assert whole == pytest.approx(400 * MIB, rel=0.01)


def _runs():
    for label in ("Parquet", "CSV"):
        for engine, workers, rows in (
            ("dask", 1, 500), ("dask", 1, 1000), ("dask", 2, 1000), ("ray", 2, 1000), ("alone", 1, 1000),
            ("under a limit", 1, 1000),
        ):  # fmt: skip
            for step in STEPS if engine in {"dask", "ray"} else STEPS[:2]:
                yield ScaleRun(
                    engine, workers, label, "core", rows, 20, 4, step,
                    seconds=rows / 1000 / workers, wall_seconds=rows / 500 / workers, cpu_seconds=1.0,
                    peak_bytes=MIB, size_bytes=10**6, task_seconds=(0.25,) * 4,
                    sentence="" if step in {"save", "count"} else "digests equal",
                    limit_bytes=MIB, frame_bytes=4 * MIB, memory="1 MiB",
                )  # fmt: skip


def test_results_become_records_and_a_page(tmp_path):
    file = StudyFile(FORM, tmp_path)
    for each in _runs():
        file.append(each)
        if (each.engine, each.workers, each.format) == ("dask", 2, "CSV"):
            file.append(replace(each, medium=OBJECT_STORE, seconds=7.0))
    failed = ScaleRun(
        "dask", 2, "CSV", "core", 1000, 20, 4, "count",
        status="failed", sentence="a disk was full", memory="1 MiB",
    )  # fmt: skip
    file.append(failed)
    found = records.read(tmp_path / "results.jsonl")
    assert {each.suite for each in found} == {"scale"}
    axes = {
        (each.conditions["parallel engine"], each.conditions["workers"], each.medium) for each in found
    }
    assert {("dask", "2x4", ""), ("dask", "2x4", "object store"), ("alone", "1x4", "")} <= axes
    assert {each.conditions.get("memory limit") for each in found} == {None, "1M"}
    assert {"parallel part CPU time", "save peak memory"} <= {each.metric for each in found}
    assert [each.sentence for each in found if each.status == "failed"] == ["a disk was full"] * 3
    rows, results = SCALING.read(tmp_path)
    text = declared("scaling").page(results, rows).markdown()
    assert "## 1,000 rows of core on 2 workers" in text
    assert "| CSV | 0.50 | 0.50 | 0.50 | failed |" in text
    assert "CSV, count: a disk was full." in text
    assert "Digests are equal in 4 of 4 reads." in text
    # One worker takes 2 seconds, two take 1; half of the table takes one worker 1 second.
    assert "| Parquet | 1.0 | 1.0 | 2.0 | 1.0 | 2.00 | 1.00 |" in text
    assert "simulated" in text
    assert "| CSV | object store | 1,000 rows, 2 workers | 7.00 | 7.00 | 7.00 | 7.00 |" in text
    assert "| CSV | local | 1,000 rows, 2 workers | 0.50 | 0.50 | 0.50 | failed |" in text
    assert "ray: " in text
    assert "in memory they would need 4.0 times the limit." in text


def test_figures_of_other_data_and_limits_have_tables_of_their_own(tmp_path):
    file = StudyFile(FORM, tmp_path)
    kinds = [("core", "1 MiB"), ("kaons", "1 MiB"), ("core", "2 MiB")]
    for each in _runs():
        for times, (dataset, memory) in enumerate(kinds, 1):
            wall, cpu = times * each.wall_seconds, times * each.cpu_seconds
            own = {"wall_seconds": wall, "cpu_seconds": cpu, "seconds": times * each.seconds}
            file.append(replace(each, dataset=dataset, memory=memory, **own))
    rows, results = SCALING.read(tmp_path)
    text = declared("scaling").page(results, rows).markdown()
    for times, (dataset, memory) in enumerate(kinds, 1):
        limit = f"each limited to {memory}"
        expected = {
            f"20 columns, 4 partitions, Dask, {limit}. Seconds.": [0.5 * times] * 4,
            f"1,000 rows of `{dataset}`, 4 partitions, Dask, {limit}.": [1.0 * times, 1.0 * times],
            f"1,000 rows of `{dataset}`; limit: {memory};": [1.0 * times, 1.0 * times],
        }
        for sentence, numbers in expected.items():
            lines = [
                next(line for line in part.splitlines() if line.startswith("| CSV | "))
                for part in text.split(sentence)[1:]
            ]
            shown = [[float(each) for each in line.split(" | ")[1 : 1 + len(numbers)]] for line in lines]
            assert numbers in shown, sentence
        assert f"save, 2 workers, {limit}" in text
    assert text.count("## 1,000 rows of core on 2 workers") == 2
    assert text.count("## 1,000 rows of kaons on 2 workers") == 1


def test_the_study_measures_and_prints_its_page(tmp_path):
    out = tmp_path / "out"
    done = run("study", "scaling", "--engine", "serial", "--workers", "1", "--rows", "1000",
               "--partition-rows", "300", "--formats", "Feather", "--out", str(out))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [each.partitions for each in read(FORM, out)] == [4] * 4
    kept = load(out)
    assert [each["threads"]["policy"] for each in kept.metadata] == ["1"]
    assert {"pyarrow" in each.environment for each in kept.records} == {True}
    assert "Feather: read" in done.stderr
    done = run("study", "scaling", "--page", str(out))
    assert done.stdout.startswith("# Scale\n")
    assert "## Arrays" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["scaling", "--out", "x", "--formats", "Parket"], "did you mean Parquet"),
        (["scaling", "--out", "x", "--workers", "two"], "give numbers with commas"),
        (["scaling", "--out", "x", "--engine", "dusk"], "there is no engine"),
        (["scaling", "--page", "none"], "does not exist"),
        (["scaling"], "give --out"),
        (["scaling", "--out", "x", "--medium", "moon"], "'moon' is not one of 'local', 'object-store'"),
        (["scaling", "--out", "x", "--medium", "object-store", "--cluster", "y"], "for local workers"),
        (["out-of-core", "--out", "x", "--formats", "Parket"], "did you mean Parquet"),
    ],
)
def test_bad_requests_are_one_line(tmp_path, arguments, sentence):
    own = [tmp_path / each if each == "x" else each for each in arguments]
    done = run("study", *own)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
