"""Parallel saves and reads: engines, verification, and workers that die."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from contextlib import ExitStack

import pandas as pd
import pytest

import data_formats
from adapter_core import (
    CannotHoldError,
    DataFormat,
    UnavailableError,
    UnknownNameError,
    UnsupportedError,
)
from adapter_core.errors import ClusterError, IncompleteError, ParallelError
from data_generator import catalog
from format_bench.parallel import engine as engines
from format_bench.parallel.engine import opened
from format_bench.parallel.tables import Plan, count_parallel, read_parallel, save_parallel
from format_bench.parallel.trials import trial
from format_bench.results.status import CellStatus
from format_bench.verification.digests import differences

PLAN = Plan("core", 4_000, 4)


class Deadly(DataFormat):
    """CSV whose writer dies in one partition, at the first attempt if a file says so."""

    label = "Deadly"
    suffix = ".csv"
    requires = ("pandas",)

    def __init__(self, mark=None):
        self.mark = mark

    def _save(self, df, path):
        dies = path.name.startswith(".part-00002")
        if dies and self.mark is not None and self.mark.exists():
            dies = False
        if dies:
            path.write_text("half")
            if self.mark:
                self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        df.to_csv(path, index=False)

    def _read(self, path, _columns):
        return pd.read_csv(path, na_values=[""], keep_default_na=False)


class Failing(Deadly):
    """CSV on a full disk."""

    label = "Failing"

    def _save(self, *_, **__):
        raise OSError("disk full")


class Hungry(Failing):
    """CSV whose writer takes more and more memory."""

    label = "Hungry"

    def _save(self, *_, **__):
        kept = []
        for _turn in range(16):
            kept.append(b"x" * 2**26)
            time.sleep(0.1)


@pytest.fixture(scope="module")
def serial():
    with opened("serial", "") as engine:
        yield engine


@pytest.mark.parametrize("label", ["Parquet", "CSV", "JSON", "Lance", "Delta", "Iceberg"])
def test_a_table_comes_back_from_the_reference_engine(serial, tmp_path, label):
    adapter = data_formats.find(label)
    saved, pieces = save_parallel(serial, adapter, PLAN, tmp_path / "table")
    assert [piece.rows for piece in pieces] == [1_000] * 4
    assert saved.workers == 1
    assert saved.rows == 4_000
    assert saved.cpu_seconds > 0
    assert 0 < saved.seconds <= saved.wall_seconds
    assert saved.peak_bytes > 0
    read = read_parallel(serial, adapter, tmp_path / "table")
    assert differences(saved.digest, read.digest, *adapter.kept) == ()
    assert count_parallel(serial, adapter, tmp_path / "table").rows == 4_000
    if label == "JSON":
        with pytest.raises(UnsupportedError, match="no column projection"):
            read_parallel(serial, adapter, tmp_path / "table", ["int_1"])
        return
    two = read_parallel(serial, adapter, tmp_path / "table", ["string_4", "int_1"])
    assert list(two.digest.columns) == ["string_4", "int_1"]
    assert differences(saved.digest, two.digest, *adapter.kept) == ()


def test_partitions_of_kaons_are_rows_of_the_table():
    plan = Plan("kaons", 1_001, 3, seed=5)
    parts = pd.concat([plan.partition(number) for number in range(3)], ignore_index=True)
    pd.testing.assert_frame_equal(parts, catalog.table("kaons", 1_001, 5).df)


def test_partitions_of_real_tables_are_slices():
    parts = [catalog.partition("flights", number, 3, 1_000) for number in range(3)]
    pd.testing.assert_frame_equal(
        pd.concat(parts, ignore_index=True), catalog.table("flights", 1_000).df
    )
    with pytest.raises(ValueError, match="no partition 3 of 3"):
        catalog.partition("flights", 3, 3)


def test_partitions_are_pure_and_differ():
    first, second = PLAN.partition(0), PLAN.partition(1)
    pd.testing.assert_frame_equal(first, PLAN.partition(0))
    assert not first.equals(second)
    assert not first.equals(Plan("core", 4_000, 4, seed=2).partition(0))
    assert sum(len(Plan("eq", 10, 3).partition(each)) for each in range(3)) == 10
    with pytest.raises(ValueError, match="cannot be in 5 partitions"):
        Plan("eq", 3, 5)


def test_a_lost_and_a_cut_part_are_noticed(serial, tmp_path):
    adapter = data_formats.find("CSV")
    save_parallel(serial, adapter, PLAN, tmp_path / "table")
    part = tmp_path / "table" / "part-00001.csv"
    whole = part.read_bytes()
    part.write_bytes(whole[: whole.rfind(b"\n", 0, -1) + 1])
    with pytest.raises(IncompleteError, match=r"part-00001\.csv has"):
        read_parallel(serial, adapter, tmp_path / "table")
    part.unlink()
    with pytest.raises(IncompleteError, match=r"part-00001\.csv has 0 bytes"):
        read_parallel(serial, adapter, tmp_path / "table")


def test_what_a_format_cannot_store_leaves_nothing(serial, tmp_path):
    adapter = data_formats.find("HDF5.table")
    with pytest.raises(UnsupportedError, match="integers with nulls"):
        save_parallel(serial, adapter, PLAN, tmp_path / "table")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CannotHoldError):
        adapter.check(PLAN.partition(0))


def test_an_earlier_table_is_not_overwritten(serial, tmp_path):
    adapter = data_formats.find("Parquet")
    save_parallel(serial, adapter, PLAN, tmp_path / "table")
    with pytest.raises(ParallelError, match="making the table failed: FileExistsError"):
        save_parallel(serial, adapter, PLAN, tmp_path / "table")
    (taken,) = trial(serial, "Parquet", PLAN, tmp_path / "table")
    assert taken.status is CellStatus.FAILED
    assert read_parallel(serial, adapter, tmp_path / "table").rows == 4_000


def save_and_die(path):
    with opened("serial", "") as engine:
        save_parallel(engine, Deadly(), PLAN, path)


def test_a_client_killed_within_a_save_leaves_no_table(tmp_path):
    process = multiprocessing.get_context("spawn").Process(
        target=save_and_die, args=(tmp_path / "table",)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert {"part-00000.csv", "part-00001.csv"} <= {each.name for each in (tmp_path / "table").iterdir()}
    with opened("serial", "") as engine, pytest.raises(IncompleteError, match="is not complete"):
        read_parallel(engine, Deadly(), tmp_path / "table")


def test_wrong_engines_are_refused(monkeypatch):
    with pytest.raises(UnknownNameError, match="there is no engine 'dusk'"), opened("dusk", ""):
        pass
    with pytest.raises(UnknownNameError, match="set of workers"):
        engines.local_workers("local:none")
    assert engines.local_workers("local:2:1.5GiB") == (2, "1.5GiB")
    assert engines.memory_bytes("1.5GiB") == 1.5 * 2**30
    assert engines.memory_bytes("800 MB") == 800_000_000
    with pytest.raises(UnknownNameError, match="size of memory 'much'"):
        engines.memory_bytes("much")
    monkeypatch.setattr("format_bench.parallel.ray.Engine.requires", ("no-such-package",))
    with pytest.raises(UnavailableError, match="no-such-package"), opened("ray", "local:1"):
        pass


def test_dask_saves_and_reads_on_two_processes_and_survives_a_killed_one(tmp_path):
    with opened("dask", "local:2") as engine:
        assert engine.workers == 2
        for label in ("Parquet", "Lance"):
            adapter = data_formats.find(label)
            path = tmp_path / label
            saved, _ = save_parallel(engine, adapter, PLAN, path)
            assert str(os.getpid()) not in {report.worker.split(":")[1] for report in saved.reports}
            assert differences(saved.digest, read_parallel(engine, adapter, path).digest) == ()
        once = Deadly(tmp_path / "mark")
        saved, _ = save_parallel(engine, once, PLAN, tmp_path / "once")
        assert (tmp_path / "mark").exists()
        assert count_parallel(engine, once, tmp_path / "once").rows == 4_000
        engine._client.cluster.scheduler.allowed_failures = 0
        with pytest.raises(ParallelError, match="on 1 workers that died"):
            save_parallel(engine, Deadly(), PLAN, tmp_path / "never")
        assert not (tmp_path / "never").exists()


class LostScheduler:
    """Client whose scheduler dies within a task."""

    def __init__(self, error):
        self.error = error

    def map(self, _function, tasks, **_):
        return list(tasks)

    def gather(self, _futures):
        raise self.error

    def cancel(self, _futures):
        from distributed.client import ClosedClientError

        raise ClosedClientError("Client is closed.")


def test_a_lost_scheduler_is_one_error_and_no_result_of_a_format(tmp_path):
    client = pytest.importorskip("distributed.client")
    cancelled = client.FutureCancelledError("a task", "scheduler-connection-lost")
    for error in (cancelled, client.ClosedClientError("Client is closed."), OSError("comm closed")):
        engine = engines.engine_class("dask")(LostScheduler(error), ExitStack())
        with pytest.raises(ClusterError, match="the scheduler was lost"):
            list(trial(engine, "CSV", PLAN, tmp_path / "table"))
    assert list(tmp_path.iterdir()) == []


# Ray forks, and warnings at the fork are those of Lance, which other tests have imported.
@pytest.mark.filterwarnings(
    "ignore:lance is not fork-safe", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_ray_saves_and_reads_as_dask_does_and_survives_a_killed_worker(tmp_path, monkeypatch):
    adapter = data_formats.find("Parquet")
    with opened("ray", "local:2:700MiB") as engine:
        assert engine.workers == 2
        saved, _ = save_parallel(engine, adapter, PLAN, tmp_path / "table")
        read = read_parallel(engine, adapter, tmp_path / "table")
        assert differences(saved.digest, read.digest) == ()
        with pytest.raises(ParallelError, match="partition 0"):
            save_parallel(engine, Failing(), PLAN, tmp_path / "never")
        assert not (tmp_path / "never").exists()
        once = Deadly(tmp_path / "mark")
        again, _ = save_parallel(engine, once, PLAN, tmp_path / "once")
        assert (tmp_path / "mark").exists()
        found = read_parallel(engine, once, tmp_path / "once")
        assert (found.rows, differences(again.digest, found.digest, 15)) == (4_000, ())
        monkeypatch.setattr("format_bench.parallel.ray._ATTEMPTS", 0)
        with pytest.raises(ParallelError, match="each worker may use 734,003,200 bytes"):
            save_parallel(engine, Hungry(), Plan("eq", 10, 1), tmp_path / "large")
        assert not (tmp_path / "large").exists()


def test_workers_with_several_threads_are_refused():
    distributed = pytest.importorskip("distributed")
    where = {
        "processes": False,
        "protocol": "tcp",
        "host": "127.0.0.1",
        "dashboard_address": "127.0.0.1:0",
    }
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, **where) as cluster,
        pytest.raises(ClusterError, match="several threads; start workers with --nthreads 1"),
    ):
        engines.engine_class("dask").open(cluster.scheduler_address)
