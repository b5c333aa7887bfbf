"""The suite `remote`: its step, its reasons and its formats."""

from __future__ import annotations

import pytest

import array_stores
import data_formats
from adapter_core.errors import UnavailableError
from data_generator import catalog
from format_bench.families.remote_measuring import measure_remote
from format_bench.network import object_server as servers
from format_bench.network.client import ARRAY, TABLE
from format_bench.network.trials import remote_labels
from format_bench.results.status import CellStatus
from format_bench.results.suites import SUITES


def test_the_step_remote_has_a_reason_where_it_has_no_value(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    metrics = ("remote save time", "remote save requests")
    found = measure_remote("tables", "Excel", tmp_path / "file", metrics)
    assert [each.status for each in found] == [CellStatus.UNSUPPORTED] * 2
    assert found[0].sentence == (
        "Excel has no writer to object stores: "
        "its library puts the file together in memory or in a local folder"
    )
    found = measure_remote("tables", "Parquet", tmp_path / "file", metrics)
    assert [each.status for each in found] == [CellStatus.UNAVAILABLE] * 2
    assert found[0].sentence.endswith("try: format-bench build object-server")
    with pytest.raises(UnavailableError, match="is not built"):
        servers.ObjectServer(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not servers.availability(), reason="the object server is not built")
@pytest.mark.parametrize(
    ("family", "label", "suite"),
    [("tables", "Parquet[polars]", "remote"), ("arrays", "Zarr.v2", "remote_arrays")],
)
def test_the_step_remote_measures_all_metrics(tmp_path, family, label, suite):
    path = tmp_path / "saved: data"
    if family == TABLE:
        data_formats.find(label).save(catalog.table("core", 300).df, path)
    else:
        array_stores.find(label).save(catalog.array("era5-small", 2).array, path)
    names = SUITES[suite].benchmarks[1].metrics
    found = measure_remote(family, label, path, names)
    assert [each.metric for each in found] == [*names]
    assert all(each.status is CellStatus.VALUE and each.repeats[0] > 0 for each in found)


@pytest.mark.parametrize(("suite", "family"), [("remote", TABLE), ("remote_arrays", ARRAY)])
def test_the_suites_measure_the_adapters_that_write_to_object_stores(suite, family):
    assert SUITES[suite].formats == tuple(remote_labels(family))
