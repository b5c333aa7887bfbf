"""Clients reach the server that they are given, whatever variables, profiles and proxies say."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import array_stores
import data_formats
from data_generator import catalog
from format_bench.network import object_server as servers
from format_bench.network.client import ARRAY, TABLE
from format_bench.network.environment import (
    LOOPBACK_HOSTS,
    as_client,
    client_environment,
    store_variables,
)
from format_bench.network.places import StorePlace, user_place
from format_bench.network.processes import CommandedProcess
from format_bench.network.proxy import Proxy
from format_bench.network.trials import Trial, remote_labels

KIND = servers.REAL if servers.availability() else servers.STAND_IN


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Provide a further server with a proxy, which nothing may reach."""
    with ExitStack() as stack:
        server = stack.enter_context(servers.ObjectServer(tmp_path_factory.mktemp("other"), KIND))
        yield server, stack.enter_context(Proxy(server.port))


@pytest.fixture
def hostile(other, monkeypatch, tmp_path):
    """Name the other server by variables and by Amazon's files; check afterwards that nothing came."""
    server, proxy = other
    before = {each.key for each in server.bucket.objects()}
    url = f"http://127.0.0.1:{proxy.port}"
    for name, text in {
        "config": "[default]\nregion = eu-west-1\nendpoint_url = {0}\nservices = it\n[services it]\n"
        "s3 =\n  endpoint_url = {0}\n",
        "credentials": "[default]\naws_access_key_id = other\naws_secret_access_key = other\n",
    }.items():
        (tmp_path / name).write_text(text.format(url))
    for name, value in {
        **dict.fromkeys(("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"), url),
        **dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), "eu-west-1"),
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": url,
    }.items():
        monkeypatch.setenv(name, value)
    proxy.take()
    yield url
    assert proxy.take() == []
    assert {each.key for each in server.bucket.objects()} == before


@pytest.fixture
def proxied(hostile, monkeypatch):
    """Let all variables of proxies name the other server, too."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, hostile)
        monkeypatch.setenv(name.upper(), hostile)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)


def _available(registry, label):
    adapter = registry.find(label)
    if not adapter.availability():
        pytest.skip(adapter.availability().reason)
    return adapter


@pytest.mark.slow
@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("label", remote_labels(TABLE))
def test_tables_are_at_the_server_that_was_given(store, label):
    server, proxy = store
    adapter = _available(data_formats, label)
    df = catalog.table("core", 60).df
    file = server.address(proxy.port, f"given/{label}")
    adapter.save_remote(df, file)
    assert proxy.take()
    assert server.bucket.objects(f"given/{label}")
    assert len(adapter.read_remote(file)) == len(df)
    assert proxy.take()


@pytest.mark.slow
@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("label", remote_labels(ARRAY))
def test_arrays_are_at_the_server_that_was_given(store, label):
    server, proxy = store
    adapter = _available(array_stores, label)
    values = np.arange(8 * 30, dtype="float32").reshape(8, 30)
    file = server.address(proxy.port, f"given arrays/{label}")
    adapter.save_remote(values, file, chunks=(2, 30))
    assert proxy.take()
    assert server.bucket.objects(f"given arrays/{label}")
    assert np.array_equal(adapter.read_remote(file), values)
    assert proxy.take()


@pytest.mark.slow
@pytest.mark.usefixtures("proxied")
@pytest.mark.parametrize(
    ("family", "label", "source"),
    [
        (TABLE, "Parquet", "core:60"),
        (TABLE, "Parquet[polars]", "core:60"),
        (TABLE, "Lance", "core:60"),
        (TABLE, "Delta", "core:60"),
        (ARRAY, "Zarr.dir", "era5-small:2"),
        (ARRAY, "Zarr[tensorstore]", "era5-small:2"),
        (ARRAY, "TileDB", "era5-small:2"),
    ],
)
def test_clients_of_a_trial_know_no_proxy_and_no_other_server(store, family, label, source):
    server, proxy = store
    trial = Trial(family, label, source)
    place = StorePlace(server.address(proxy.port, server.folder), proxy, server.environment)
    costs = list(trial.costs(place, (0.0,)))
    assert [each.error for each in costs] == [""] * 3
    assert all(each.traffic.reads + each.traffic.writes for each in costs)


@pytest.mark.slow
def test_a_step_without_requests_is_an_error(store):
    server, proxy = store
    trial = Trial(TABLE, "Parquet[polars]", "core:60")
    # Clients go past this proxy, as to another server.
    folder = server.address(server.port, server.folder)
    past = StorePlace(folder, proxy, server.environment)
    costs = list(trial.costs(past, (0.0,)))
    assert [each.error for each in costs] == [f"made no request to {folder.endpoint}"] * 3
    # Without a proxy, as over TLS, a save leaves objects.
    direct = StorePlace(folder, None, server.environment)
    assert [each.error for each in trial.costs(direct, (0.0,))] == [""] * 3
    assert not direct.has_objects(direct.address("absent"))


@pytest.mark.usefixtures("proxied")
def test_a_users_server_is_reached_and_cleaned_without_proxies(store):
    server, _ = store
    below = server.address(server.port, "users own")
    with user_place(below) as place:
        assert place.proxy is not None
        assert server.bucket.objects("users own/")
    assert server.bucket.objects("users own/") == []


def test_a_client_has_no_variable_of_a_user(hostile, monkeypatch):
    monkeypatch.setenv("https_proxy", hostile)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/secret")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "secret")
    found = client_environment({"AWS_ACCESS_KEY_ID": "mine"})
    assert hostile not in found.values()
    assert not [name for name in found if name.startswith(("GOOGLE_", "AZURE_"))]
    assert found["AWS_ACCESS_KEY_ID"] == "mine"
    assert found["AWS_CONFIG_FILE"] == found["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull
    assert found["no_proxy"] == found["NO_PROXY"] == LOOPBACK_HOSTS
    assert found["PATH"] == os.environ["PATH"]


def test_a_remote_server_of_a_user_is_reached_through_the_users_proxy(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    monkeypatch.delenv("no_proxy", raising=False)
    found = client_environment(store_variables(None, is_remote=True))
    assert found["HTTPS_PROXY"] == "http://proxy.example:3128"
    assert found["no_proxy"] == found["NO_PROXY"] == f"intranet.example,{LOOPBACK_HOSTS}"
    assert "AWS_ACCESS_KEY_ID" not in found


def test_workers_of_this_process_inherit_the_environment_of_a_client(hostile, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "mine")
    before = dict(os.environ)
    with as_client({"AWS_ACCESS_KEY_ID": "workers"}):
        assert os.environ["AWS_ACCESS_KEY_ID"] == "workers"
        assert "AWS_PROFILE" not in os.environ
        assert hostile not in os.environ.values()
    assert dict(os.environ) == before


@pytest.mark.usefixtures("proxied")
def test_programs_that_take_commands_start_in_that_environment(store):
    server, _ = store
    with CommandedProcess(
        "format_bench.network.proxy", str(server.port), "127.0.0.1", "127.0.0.1"
    ) as process:
        process.answer()
        environment = Path(f"/proc/{process._process.pid}/environ").read_text()
    assert "AWS_ENDPOINT_URL" not in environment
    assert "http_proxy" not in environment
