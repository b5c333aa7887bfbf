"""Tables in partitions on an object store: written by several tasks, verified, and never half there."""

from __future__ import annotations

import pickle

import pytest

import data_formats
from adapter_core import Feature, UnsupportedError
from adapter_core.errors import IncompleteError, ParallelError
from adapter_core.table_folders import ObjectFolder
from format_bench.network.client import TABLE
from format_bench.network.proxy import Fault
from format_bench.network.trials import remote_labels
from format_bench.parallel.engine import opened
from format_bench.parallel.tables import (
    Plan,
    count_parallel,
    part_differences,
    read_parallel,
    save_parallel,
)
from format_bench.parallel.trials import trial
from format_bench.results.status import CellStatus
from format_bench.verification.digests import differences

PLAN = Plan("core", 400, 4)

LABELS = [
    *("CSV", "Feather", "JSON", "ORC", "Parquet", "Parquet[polars]", "Vortex"),
    *("Delta", "Iceberg", "Lance", "Zarr"),
]
"""Formats with a commit, a count or several objects of their own, and some of the others."""


@pytest.fixture(scope="module")
def serial():
    with opened("serial", "") as engine:
        yield engine


def place_of(store, label):
    """Return the address of a table that no other test uses."""
    server, proxy = store
    return server.address(proxy.port, f"{server.folder}/partitions/{label}")


@pytest.mark.parametrize("label", LABELS)
def test_a_table_comes_back_and_is_removed(serial, store, label):
    adapter, place = data_formats.find(label), place_of(store, label)
    saved, pieces = save_parallel(serial, adapter, PLAN, place)
    assert [piece.rows for piece in pieces] == [100] * 4
    assert all(piece.size_bytes > 0 for piece in pieces)
    read = read_parallel(serial, adapter, place)
    assert differences(saved.digest, read.digest, *adapter.kept) == ()
    assert part_differences(read) == ()
    assert count_parallel(serial, adapter, place).rows == 400
    if Feature.COLUMNS in adapter.supports:
        two = read_parallel(serial, adapter, place, ["string_4", "int_1"])
        assert list(two.digest.columns) == ["string_4", "int_1"]
    with pytest.raises(ParallelError, match="making the table failed: FileExistsError"):
        save_parallel(serial, adapter, PLAN, place)
    table = adapter.partitioned_remote(place)
    table.remove()
    assert table.folder.sizes() == {}


@pytest.mark.parametrize("label", ["Parquet", "Lance", "Delta", "Iceberg", "Zarr"])
def test_partitions_without_a_commit_are_no_table(store, label):
    table = data_formats.find(label).partitioned_remote(place_of(store, f"{label}-half"))
    table.create()
    table.write(0, PLAN.partition(0))
    table.write(0, PLAN.partition(0))  # as after the death of a worker
    with pytest.raises(IncompleteError, match="is not complete"):
        table.pieces()
    assert table.folder.sizes()
    table.remove()


def test_a_lost_and_another_part_are_noticed(serial, store):
    adapter, place = data_formats.find("CSV"), place_of(store, "cut")
    save_parallel(serial, adapter, PLAN, place)
    folder = adapter.partitioned_remote(place).folder
    folder.write_text("part-00001.csv", "int_1\n1\n")
    with pytest.raises(IncompleteError, match=r"part-00001\.csv has 8 bytes"):
        read_parallel(serial, adapter, place)
    with pytest.raises(IncompleteError, match="parts of CSV, not of Feather"):
        count_parallel(serial, data_formats.find("Feather"), place)
    adapter.partitioned_remote(place).remove()


def test_a_save_that_left_no_object_is_no_value(serial, store, monkeypatch):
    place = place_of(store, "nowhere")
    monkeypatch.setattr(ObjectFolder, "sizes", lambda _: {})
    (found,) = trial(serial, "CSV", PLAN, place)
    assert (found.step, found.status, found.task_seconds) == ("save", CellStatus.FAILED, ())
    assert found.sentence == f"made no request to {place.endpoint}"


def test_a_part_in_another_order_is_noticed_by_its_digest(serial, store):
    adapter, place = data_formats.find("CSV"), place_of(store, "reversed")
    save_parallel(serial, adapter, PLAN, place)
    table = adapter.partitioned_remote(place)
    # The same lines have the same size.
    table.write(1, PLAN.partition(1).iloc[::-1].reset_index(drop=True))
    (found,) = part_differences(read_parallel(serial, adapter, place))
    assert found.startswith("part-00001.csv: column ")
    table.remove()


def test_a_table_that_travels_to_workers_has_no_credentials(store):
    server, _ = store
    for label in remote_labels(TABLE):
        table = data_formats.find(label).partitioned_remote(place_of(store, label))
        assert server.credentials.secret_key.encode() not in pickle.dumps(table)


def test_a_store_that_fails_is_one_error_without_credentials(serial, store):
    server, proxy = store
    adapter, place = data_formats.find("Parquet"), place_of(store, "failing")
    saved, _ = save_parallel(serial, adapter, PLAN, place)
    assert saved.rows == 400
    proxy.set(Fault("expired", reads=True))
    with pytest.raises(ParallelError) as raised:
        read_parallel(serial, adapter, place)
    assert server.credentials.access_key not in str(raised.value)


def test_formats_that_write_no_objects_say_so(store):
    with pytest.raises(UnsupportedError, match="Excel has no writer to object stores"):
        data_formats.find("Excel").partitioned_remote(place_of(store, "Excel"))
