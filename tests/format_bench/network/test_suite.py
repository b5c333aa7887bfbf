"""The suite `remote`: its step, its reasons and its formats."""

from __future__ import annotations

from dataclasses import replace

import pytest

import array_stores
import data_formats
from adapter_core.errors import InvalidRequestError, UnavailableError
from data_generator import catalog
from format_bench import conditions
from format_bench.conditions import axes
from format_bench.families.cases import Case
from format_bench.families.elsewhere import measure_remote
from format_bench.network import object_server as servers
from format_bench.network.client import ARRAY, TABLE
from format_bench.network.trials import remote_labels
from format_bench.results import records
from format_bench.results.status import CellStatus
from format_bench.results.suites import SUITES
from tests.commands import run_apart


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


def test_conditions_of_servers_are_parsed_or_refused_in_a_line():
    link, place = axes()["link"], axes()["place"]
    assert link.parse("20ms/100Mbit") == "20 ms, 100 Mbit/s"
    assert place.parse("s3://bucket/folder/") == "s3://bucket/folder"
    for axis, text in ((link, "fast"), (place, "gs://b"), (place, "s3://"), (place, "s3://k:secret@b")):
        with pytest.raises(InvalidRequestError, match=r"write e\.g\.") as refused:
            axis.parse(text)
        assert "secret" not in str(refused.value)
    local, remote = Case("Parquet", "core", 10), Case("Parquet", "core", 10, suite="remote")
    for axis in (link, place):
        assert axis.why_not("any", local) == axis.why_not("any", remote) == ""
        image = Case("ZIP", "imagenet-like", 10, suite="image")
        assert axis.why_not("any", image) == "no image storage writes to object stores"
        tuned = replace(remote, conditions={axis.name: "any", "settings": "defaults"})
        assert conditions.why_not(tuned).endswith("whose adapters are not changed by --settings")


@pytest.mark.slow
@pytest.mark.skipif(not servers.availability(), reason="the object server is not built")
def test_a_run_measures_over_links_and_in_a_users_bucket(store, tmp_path, monkeypatch):
    server, proxy = store
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{proxy.port}")
    words = ("--suite", "remote", "--formats", "Parquet[polars]", "--rows", "200", "--repeats", "1")
    where = ("--link", "5ms,40ms/100Mbit", "--place", "s3://benchmark/by run", "--out", str(tmp_path))
    done = run_apart("run", *words, *where)
    assert done.returncode == 0, done.stderr
    assert proxy.take()
    assert server.bucket.objects("by run/") == []
    found = records.read(tmp_path / "results.jsonl")
    times = {each.conditions["link"]: each for each in found if each.metric == "remote read time"}
    assert list(times) == ["5 ms", "40 ms, 100 Mbit/s"]
    assert times["5 ms"].value >= 0.005
    assert times["40 ms, 100 Mbit/s"].value >= 0.04
    assert {each.conditions["place"] for each in found} == {"s3://benchmark/by run"}
    distant = [each for each in found if each.metric == "distant read time"]
    assert [each.status for each in distant] == [CellStatus.UNSUPPORTED] * 2
    local = ("run", "--formats", "Parquet[polars],Excel", "--rows", "200", "--repeats", "1")
    out = tmp_path / "local"
    done = run_apart(*local, "--datasets", "core", "--link", "30ms", *where[2:-1], str(out))
    assert done.returncode == 0, done.stderr
    cells = {(each.format, each.metric): each for each in records.read(out / "results.jsonl")}
    assert cells["Parquet[polars]", "save time"].value > 0.03
    assert cells["Parquet[polars]", "read time"].value > 0.03
    assert cells["Parquet[polars]", "size"].sentence == "it is not measured with --link"
    assert cells["Excel", "save time"].sentence.startswith("Excel has no writer to object stores")
    assert server.credentials.secret_key not in (tmp_path / "results.jsonl").read_text()
