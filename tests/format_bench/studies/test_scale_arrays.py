"""Studies of scale on arrays: on workers, alone, under a limit of memory, and on the page."""

from __future__ import annotations

import pytest

import array_stores
from adapter_core.arrays.zarr import ZarrRegions
from array_stores import zarr_dir
from format_bench.instruments.memory_limit import limited
from format_bench.parallel.arrays import ArrayPlan
from format_bench.parallel.engine import opened
from format_bench.results import records
from format_bench.results.study_rows import read
from format_bench.studies.declared.study import read as declared
from format_bench.studies.scale.cells import Cell, alone, limited_cell, on_workers
from format_bench.studies.scale.instruments import SCALING, plan_of, usual_labels
from format_bench.studies.scale.scale_run import FORM
from tests.commands import run

MIB = 2**20

PLAN = ArrayPlan("noise", 4, 2)


def test_every_step_on_workers_has_a_value_or_a_reason(tmp_path):
    with opened("serial", "") as engine:
        zarr = list(on_workers(engine, Cell("Zarr.dir", PLAN, "serial", 1), tmp_path / "array"))
        sharded = list(on_workers(engine, Cell("Zarr.sharded", PLAN, "serial", 1), tmp_path / "array"))
        (lossy,) = on_workers(engine, Cell("GRIB2", PLAN, "serial", 1), tmp_path / "array")
    assert [each.step for each in zarr] == ["save", "read"]
    assert all(0 < each.seconds <= each.wall_seconds and not each.status for each in zarr)
    assert [each.sentence for each in zarr] == ["", "digests equal"]
    assert zarr[0].size_bytes > 4 * MIB
    assert (zarr[0].partitions, len(zarr[0].task_seconds)) == (2, 2)
    # Four chunks of 1 MiB are one shard, which one worker writes.
    assert [each.partitions for each in sharded] == [1, 1]
    assert (lossy.status, lossy.step) == ("unsupported", "save")
    assert list(tmp_path.iterdir()) == []


class Forgetful(zarr_dir.Adapter):
    """Zarr that reads the first value of a region as zero."""

    def partitioned(self, path):
        return ForgetfulRegions(path, self)


class ForgetfulRegions(ZarrRegions):
    def read(self, region):
        values = super().read(region)
        values.flat[0] = 0
        return values


def test_values_that_come_back_changed_fail_the_cell(tmp_path, monkeypatch):
    monkeypatch.setattr(array_stores, "get", lambda _: Forgetful())
    with opened("serial", "") as engine:
        cell = Cell("Zarr.dir", PLAN, "serial", 1)
        saved, read = on_workers(engine, cell, tmp_path / "array")
    assert (saved.status, read.status) == ("", "failed")
    assert "rows 0 to 2: other values came back; rows 2 to 4" in read.sentence


def test_a_store_alone_writes_chunks_and_reads_regions_under_a_limit(tmp_path):
    plan = ArrayPlan("noise", 40, 10)
    with limited(1_000 * MIB) as limit:
        saved, read = alone(limited_cell("HDF5", plan, "1000 MiB"), tmp_path, limit)
    assert (saved.status, read.status, read.sentence) == ("", "", "digests equal")
    assert 0 < saved.seconds <= saved.wall_seconds
    with limited(8 * MIB) as limit:
        (killed,) = alone(limited_cell("HDF5", plan, "8 MiB"), tmp_path, limit)
    assert killed.sentence.startswith("killed at the limit of 8,388,608 bytes by ")
    (lossy,) = alone(Cell("GRIB2", plan), tmp_path)
    assert lossy.status == "unsupported"
    assert list(tmp_path.iterdir()) == []


def test_an_array_has_as_many_times_the_memory_as_requested():
    plan = plan_of("noise", 100 * MIB, 4, None)
    assert plan.chunks == 400
    # Regions of three chunks of 1 MiB are a 32nd of the limit.
    assert plan.partitions == 134
    assert plan_of("noise", 100 * MIB, 4, 100).partitions == 4
    assert {"Zarr.dir", "HDF5"} <= set(usual_labels("noise"))
    assert not {"GRIB2", "Zarr.dir[xarray]"} & set(usual_labels("noise"))


def test_the_study_measures_arrays_and_prints_its_page(tmp_path):
    out = tmp_path / "out"
    done = run("study", "scaling", "--engine", "serial", "--workers", "1", "--dataset", "noise",
               "--rows", "4", "--partition-rows", "2", "--formats", "Zarr.dir,NetCDF4", "--out",
               str(out))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "NetCDF4: read" in done.stderr
    done = run("study", "out-of-core", "--dataset", "noise", "--memory-mib", "500", "--times", "0.01",
               "--formats", "HDF5", "--out", str(out))  # fmt: skip
    assert done.returncode == 0, done.stderr
    measured = read(FORM, out)
    assert {each.family for each in measured} == {"arrays"}
    assert {(each.rows, each.columns) for each in records.read(out / "results.jsonl")} == {
        (4, 3),
        (5, 3),
    }
    rows, results = SCALING.read(out)
    text = declared("scaling").page(results, rows).markdown()
    assert "4 chunks of `noise`" in text
    assert "| NetCDF4 | serial | 1 | 2 |" in text
    assert "Digests are equal in 2 of 2 reads." in text
    assert "in memory they would need 0.0 times the limit." in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["scaling", "--out", "x", "--dataset", "noise", "--formats", "Parquet"], "there is no"),
        (["out-of-core", "--out", "x", "--dataset", "noise", "--formats", "Zar"], "there is no"),
    ],
)
def test_bad_requests_are_one_line(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    done = run("study", *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
