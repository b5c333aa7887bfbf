"""Parallel saves and reads of arrays: regions, verification, and workers that die."""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import replace

import numpy as np
import pytest

import array_stores
from adapter_core import UnsupportedError
from adapter_core.arrays import icechunk
from adapter_core.errors import IncompleteError, ParallelError
from adapter_core.partitioned_arrays import Region, regions_of
from array_stores import zarr_dir, zarr_sharded
from format_bench.parallel.arrays import ArrayPlan, array_differences, read_array, save_array
from format_bench.parallel.engine import opened

PLAN = ArrayPlan("noise", 6, 3)


class Deadly(zarr_dir.Adapter):
    """Zarr whose writer dies within one region, at the first attempt if a file says so."""

    label = "Deadly"

    def __init__(self, mark=None):
        self.mark = mark

    def write_region(self, store, region, values):
        if region.number == 1 and not (self.mark and self.mark.exists()):
            super().write_region(store, replace(region, stop=region.start + 1), values[:1])
            if self.mark:
                self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        super().write_region(store, region, values)


class SmallShards(zarr_sharded.Adapter):
    """Shards of two chunks of `noise`."""

    shard_bytes = 2**21


@pytest.fixture(scope="module")
def serial():
    with opened("serial", "") as engine:
        yield engine


def test_regions_are_of_nearly_equal_size_and_start_at_multiples_of_the_unit():
    def ends(*arguments):
        return [(each.start, each.stop) for each in regions_of(*arguments)]

    assert ends(10, 1, 3) == [(0, 3), (3, 6), (6, 10)]
    assert ends(10, 4, 2) == [(0, 4), (4, 10)]
    assert ends(10, 4, 9) == [(0, 4), (4, 8), (8, 10)]
    assert ends(0, 4, 9) == [(0, 0)]
    assert Region(1, 3, 6).selection((10, 5, 2)) == (slice(3, 6), slice(0, 5), slice(0, 2))
    with pytest.raises(ValueError, match="6 chunks cannot be in 7 regions"):
        ArrayPlan("noise", 6, 7)


@pytest.mark.parametrize(
    "label", ["Zarr.v2", "Zarr.dir", "Zarr.sharded", "TileDB", "Icechunk", "NetCDF4", "HDF5"]
)
def test_an_array_comes_back_from_the_reference_engine(serial, tmp_path, label):
    store = SmallShards() if label == "Zarr.sharded" else array_stores.find(label)
    path = tmp_path / "array"
    saved = save_array(serial, store, PLAN, path)
    assert [(each.piece.start, each.piece.stop) for each in saved.reports] == [(0, 2), (2, 4), (4, 6)]
    assert saved.digest.count == 6 * 512 * 512
    assert 0 < saved.seconds <= saved.wall_seconds
    read = read_array(serial, store, path, 3)
    assert array_differences(saved, read) == ()
    assert list(tmp_path.iterdir()) == [path]
    if label not in ("NetCDF4", "HDF5"):
        # The array is that of the store itself, whatever wrote it.
        source = PLAN.source()
        np.testing.assert_array_equal(
            store.read(path), source.read(tuple(slice(0, edge) for edge in source.shape))
        )
        assert array_differences(saved, read_array(serial, store, path, 2)) == ()


def test_one_commit_of_icechunk_has_all_values(serial, tmp_path):
    save_array(serial, array_stores.find("Icechunk"), PLAN, tmp_path / "array")
    log = icechunk.opened(tmp_path / "array").ancestry(branch=icechunk.BRANCH)
    assert [each.message for each in log][:2] == ["Write the values", "Create the array"]


def test_a_changed_region_is_noticed(serial, tmp_path):
    store = array_stores.find("Zarr.dir")
    path = tmp_path / "array"
    saved = save_array(serial, store, PLAN, path)
    chunks = sorted(path.rglob("c/*/0/0"))
    chunks[2].write_bytes(chunks[3].read_bytes())
    read = read_array(serial, store, path, 3)
    assert array_differences(saved, read) == ("rows 2 to 4: other values came back",)
    assert array_differences(saved, read_array(serial, store, path, 2)) == ("other values came back",)
    chunks[2].unlink()
    with pytest.raises(ParallelError, match=r"partition 1: .*missing"):
        read_array(serial, store, path, 3)


def test_a_lost_and_a_cut_part_are_noticed(serial, tmp_path):
    store = array_stores.find("NetCDF4")
    path = tmp_path / "array"
    save_array(serial, store, PLAN, path)
    part = path / "part-00001.nc"
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(IncompleteError, match=r"part-00001\.nc has"):
        read_array(serial, store, path, 3)
    part.unlink()
    with pytest.raises(IncompleteError, match=r"part-00001\.nc has 0 bytes"):
        read_array(serial, store, path, 3)
    with pytest.raises(IncompleteError, match="parts of NetCDF4, not of HDF5"):
        read_array(serial, array_stores.find("HDF5"), path, 3)
    with pytest.raises(ParallelError, match="making the array failed: FileExistsError"):
        save_array(serial, store, PLAN, path)
    assert (path / "part-00000.nc").exists()


def test_coordinates_are_those_of_the_part(serial, tmp_path):
    store = array_stores.find("NetCDF4")
    save_array(serial, store, ArrayPlan("era5-small", 3, 2), tmp_path / "array")
    with store.open(tmp_path / "array" / "part-00001.nc") as reader:
        whole = ArrayPlan("era5-small", 3, 2).source()
        np.testing.assert_array_equal(reader.coordinates["time"], whole.coordinates["time"][1:])
        assert reader.shape == (2, *whole.shape[1:])


def test_what_a_store_cannot_keep_leaves_nothing(serial, tmp_path):
    with pytest.raises(UnsupportedError, match="changes values"):
        save_array(serial, array_stores.find("GRIB2"), PLAN, tmp_path / "array")
    with pytest.raises(UnsupportedError):
        save_array(
            serial, array_stores.find("CSV[polars]"), ArrayPlan("era5-small", 2, 2), tmp_path / "array"
        )
    assert list(tmp_path.iterdir()) == []


def save_and_die(path):
    with opened("serial", "") as engine:
        save_array(engine, Deadly(), PLAN, path)


def test_a_client_killed_within_a_save_leaves_no_array(tmp_path):
    path = tmp_path / "array"
    process = multiprocessing.get_context("spawn").Process(target=save_and_die, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert [each.name for each in tmp_path.iterdir()] == [".array.partial"]
    with opened("serial", "") as engine:
        with pytest.raises(IncompleteError, match=r"\.array\.partial is of a save that did not end"):
            read_array(engine, Deadly(), path, 3)
        with pytest.raises(ParallelError, match="making the array failed: FileExistsError"):
            save_array(engine, Deadly(), PLAN, path)
    Deadly().partitioned(path).discard()
    assert list(tmp_path.iterdir()) == []


def test_dask_saves_and_reads_on_two_processes_and_survives_a_killed_one(tmp_path):
    with opened("dask", "local:2") as engine:
        for label in ("TileDB", "Icechunk", "HDF5"):
            store = array_stores.find(label)
            path = tmp_path / label
            saved = save_array(engine, store, PLAN, path)
            assert str(os.getpid()) not in {report.worker.split(":")[1] for report in saved.reports}
            assert array_differences(saved, read_array(engine, store, path, 3)) == ()
        once = Deadly(tmp_path / "mark")
        saved = save_array(engine, once, PLAN, tmp_path / "once")
        assert (tmp_path / "mark").exists()
        assert array_differences(saved, read_array(engine, once, tmp_path / "once", 3)) == ()
        engine._client.cluster.scheduler.allowed_failures = 0
        with pytest.raises(ParallelError, match="on 1 workers that died"):
            save_array(engine, Deadly(), PLAN, tmp_path / "never")
        assert not [each for each in tmp_path.iterdir() if "never" in each.name]
