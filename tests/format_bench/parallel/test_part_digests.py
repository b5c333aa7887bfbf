"""Digests in manifests: another order of rows or parts, and parts of other saves, without the writer."""

from __future__ import annotations

import json

import numpy as np
import pytest

import array_stores
import data_formats
from adapter_core.errors import IncompleteError
from adapter_core.partitioned import MANIFEST
from format_bench.parallel.arrays import (
    ArrayPlan,
    array_differences,
    read_array,
    region_differences,
    save_array,
)
from format_bench.parallel.engine import opened
from format_bench.parallel.tables import Plan, part_differences, read_parallel, save_parallel
from format_bench.parallel.trials import table_differences
from format_bench.verification.digests import differences, digest

PLAN = Plan("core", 90, 3)

# Excel and JSON round floats.
TABLES = ["Parquet", "Parquet[polars]", "CSV", "JSON", "Feather", "Pickle", "Avro", "Excel"]

ARRAYS = ["NetCDF4", "HDF5", "NPY", "TIFF"]

ARRAY_PLAN = ArrayPlan("era5-small", 6, 3)


@pytest.fixture(scope="module")
def serial():
    with opened("serial", "") as engine:
        yield engine


def _edit(folder, change):
    manifest = json.loads((folder / MANIFEST).read_text())
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))


def _accept_sizes(folder, adapter):
    """Write the sizes of the files into the manifest, as if all were equal."""

    def change(manifest):
        for part in manifest["parts"]:
            part["size_bytes"] = adapter.size_bytes(folder / part["name"])

    _edit(folder, change)


def _exchange(folder, adapter):
    first, second = sorted(each for each in folder.iterdir() if each.name.startswith("part-"))[:2]
    first.rename(folder / "other")
    second.rename(first)
    (folder / "other").rename(second)
    _accept_sizes(folder, adapter)


@pytest.mark.costly("data_formats")
@pytest.mark.parametrize("label", TABLES)
def test_each_mistake_in_a_table_is_found_without_its_rows(serial, tmp_path, label):
    adapter, folder, other = data_formats.find(label), tmp_path / "table", tmp_path / "other"
    if not adapter.availability():
        pytest.skip(adapter.availability().reason)
    saved, _ = save_parallel(serial, adapter, PLAN, folder)
    assert part_differences(read_parallel(serial, adapter, folder)) == ()
    names = [f"part-{number:05}{adapter.suffix}" for number in range(3)]

    _exchange(folder, adapter)
    found = read_parallel(serial, adapter, folder)
    assert differences(saved.digest, found.digest, *adapter.kept) == ()
    assert [each.partition(":")[0] for each in part_differences(found)] == names[:2]
    _exchange(folder, adapter)
    assert part_differences(read_parallel(serial, adapter, folder)) == ()

    part = folder / names[1]
    kept = adapter.read(part)
    part.unlink()
    adapter.save(kept.iloc[::-1].reset_index(drop=True), part)
    _accept_sizes(folder, adapter)
    found = read_parallel(serial, adapter, folder)
    assert differences(saved.digest, found.digest, *adapter.kept) == ()
    (sentence,) = part_differences(found)
    assert sentence.startswith(f"{names[1]}: column ")
    assert sentence.endswith("other values, or another order")
    assert sentence in table_differences(adapter, saved.digest, found)

    save_parallel(serial, adapter, Plan("core", 90, 3, seed=2), other)
    part.unlink()
    (other / names[1]).rename(part)
    _accept_sizes(folder, adapter)
    (sentence,) = part_differences(read_parallel(serial, adapter, folder))
    assert sentence.startswith(f"{names[1]}: column ")


def test_a_part_is_found_by_some_of_its_columns_and_by_its_rows(serial, tmp_path):
    adapter, folder = data_formats.find("Parquet"), tmp_path / "table"
    save_parallel(serial, adapter, PLAN, folder)
    _exchange(folder, adapter)
    two = read_parallel(serial, adapter, folder, ["string_4", "int_1"])
    assert len(part_differences(two)) == 2
    _exchange(folder, adapter)
    adapter.save(adapter.read(folder / "part-00002.parquet").head(7), folder / "part-00002.parquet")
    _accept_sizes(folder, adapter)
    assert part_differences(read_parallel(serial, adapter, folder)) == (
        "part-00002.parquet: 7 rows instead of 30",
    )


def test_a_table_without_digests_is_readable_and_one_of_a_later_version_is_not(serial, tmp_path):
    adapter, folder = data_formats.find("CSV"), tmp_path / "table"
    saved, _ = save_parallel(serial, adapter, PLAN, folder)

    def without(manifest):
        manifest["version"] = 1
        for part in manifest["parts"]:
            del part["digests"]

    _edit(folder, without)
    read = read_parallel(serial, adapter, folder)
    assert differences(saved.digest, read.digest) == part_differences(read) == ()
    _edit(folder, lambda manifest: manifest.update(version=3))
    with pytest.raises(IncompleteError, match="written by a newer version"):
        read_parallel(serial, adapter, folder)


@pytest.mark.parametrize("label", ["Delta", "Lance"])
def test_formats_with_their_own_log_have_no_digests(serial, tmp_path, label):
    adapter = data_formats.find(label)
    save_parallel(serial, adapter, PLAN, tmp_path / "table")
    read = read_parallel(serial, adapter, tmp_path / "table")
    assert part_differences(read) == ()
    assert [report.piece.digests for report in read.reports] == [{}] * 3


@pytest.mark.parametrize("label", ARRAYS)
def test_each_mistake_in_an_array_is_found_without_its_values(serial, tmp_path, label):
    store, folder, other = array_stores.find(label), tmp_path / "array", tmp_path / "other"
    if not store.availability():
        pytest.skip(store.availability().reason)
    saved = save_array(serial, store, ARRAY_PLAN, folder)

    def read():
        return read_array(serial, store, folder, ARRAY_PLAN.partitions)

    assert array_differences(saved, read()) == region_differences(read()) == ()
    names = [f"part-{number:05}{store.suffix}" for number in range(3)]
    _exchange(folder, store)
    assert [each.partition(":")[0] for each in region_differences(read())] == names[:2]
    _exchange(folder, store)
    part = folder / names[1]
    values = store.read(part)
    store.remove(part)
    store.save(np.ascontiguousarray(values[::-1]), part)
    _accept_sizes(folder, store)
    assert region_differences(read()) == (f"{names[1]}: other values, or another order",)
    save_array(serial, store, ArrayPlan("era5-small", 6, 3, seed=2), other)
    store.remove(part)
    (other / names[1]).rename(part)
    _accept_sizes(folder, store)
    assert region_differences(read()) == (f"{names[1]}: other values, or another order",)

    def without(manifest):
        manifest["version"] = 1
        for each in manifest["parts"]:
            del each["digest"]

    _edit(folder, without)
    assert region_differences(read()) == ()
    _edit(folder, lambda manifest: manifest.update(version=3))
    with pytest.raises(IncompleteError, match="written by a newer version"):
        read()


def test_the_digest_of_a_column_knows_order_and_its_sum_does_not():
    df = PLAN.partition(0)
    one, two = digest(df), digest(df.iloc[::-1].reset_index(drop=True))
    assert differences(one, two) == ()
    for name, column in one.columns.items():
        is_constant = df[name].nunique(dropna=False) == 1
        assert (column.text == two.columns[name].text) == is_constant
        assert len(column.text) == 16
