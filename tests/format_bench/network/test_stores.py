"""Saves and reads of all formats on an object server that runs, and their errors."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

import array_stores
import data_formats
from adapter_core import Feature, RemoteFile, RemoteReadError, UnsupportedError
from adapter_core.credentials import find_credentials, without_secrets
from adapter_core.errors import RemoteWriteError
from data_generator import catalog
from format_bench.network import object_server as servers
from format_bench.network.client import digest_of
from format_bench.network.proxy import EXPIRED, RESET, SLOW_DOWN, Fault, Proxy
from tests.helpers import chosen

TABLES = [name for name in chosen(data_formats, __name__) if data_formats.find(name).save_schemes]
ARRAYS = [name for name in chosen(array_stores, __name__) if array_stores.find(name).remote_schemes]


def _available(adapter):
    if not adapter.availability():
        pytest.skip(adapter.availability().reason)
    return adapter


def test_adapters_that_write_to_object_stores():
    tables = {name for name in data_formats.names() if data_formats.find(name).save_schemes}
    arrays = {name for name in array_stores.names() if array_stores.find(name).remote_schemes}
    assert {"Parquet", "Parquet[polars]", "Feather", "ORC", "CSV"} <= tables
    assert {"Lance", "Delta", "Iceberg", "Vortex"} <= tables
    assert {"Zarr.dir", "Zarr.sharded", "Icechunk", "TileDB"} <= arrays
    assert all(Feature.REMOTE_SAVE in data_formats.find(name).supports for name in tables)


@pytest.mark.slow
@pytest.mark.parametrize("label", TABLES)
def test_tables_come_back_from_an_object_store_as_from_a_file(store, label, tmp_path):
    server, proxy = store
    adapter = _available(data_formats.find(label))
    df = catalog.table("core", 2000).df
    path = tmp_path / f"table{adapter.suffix}"
    adapter.save(df, path)
    file = server.address(proxy.port, f"tables/{label}")
    adapter.save_remote(df, file)
    saved = proxy.take()
    assert sum(each.up_bytes for each in saved) > 10_000
    assert server.bucket.uploads("tables/") == []
    whole = adapter.read_remote(file)
    whole_bytes = sum(each.down_bytes for each in proxy.take())
    assert digest_of(whole) == digest_of(adapter.read(path))
    assert not [each for each in saved if each.status == 0 or each.failed]
    if Feature.COLUMNS not in adapter.supports:
        return
    columns = list(df.columns[:2][::-1])
    part = adapter.read_remote(file, columns)
    part_bytes = sum(each.down_bytes for each in proxy.take())
    assert digest_of(part) == digest_of(adapter.read(path, columns))
    assert 0 < part_bytes <= whole_bytes


@pytest.mark.parametrize("label", ["CSV", "Avro"])
def test_a_writer_that_fails_leaves_no_object(store, label, monkeypatch):
    server, proxy = store
    adapter = data_formats.find(label)
    df = catalog.table("core", 5000).df
    file = server.address(proxy.port, f"broken/{label}")

    class Raising:
        def __init__(self, stream):
            self._stream, self._left = stream, 3

        def __getattr__(self, name):
            return getattr(self._stream, name)

        def write(self, piece):
            self._left -= 1
            if not self._left:
                raise MemoryError
            return self._stream.write(piece)

    stream = RemoteFile.arrow_stream

    @contextmanager
    def broken(self):
        with stream(self) as opened:
            yield Raising(opened)

    monkeypatch.setattr(RemoteFile, "arrow_stream", broken)
    with pytest.raises(RemoteWriteError):
        adapter.save_remote(df, file)
    # pyarrow marks the folder of a removed object by an empty one.
    assert {each.key for each in server.bucket.objects("broken/")} <= {"broken/"}
    assert server.bucket.uploads("broken/") == []


@pytest.mark.slow
@pytest.mark.parametrize("label", ARRAYS)
def test_arrays_come_back_from_an_object_store(store, label):
    server, proxy = store
    adapter = _available(array_stores.find(label))
    values = np.arange(8 * 30 * 20, dtype="float32").reshape(8, 30, 20)
    file = server.address(proxy.port, f"arrays/{label}")
    adapter.save_remote(values, file, chunks=(2, 30, 20))
    assert sum(each.up_bytes for each in proxy.take()) > values.nbytes / 2
    assert np.array_equal(adapter.read_remote(file), values)
    whole_bytes = sum(each.down_bytes for each in proxy.take())
    part = adapter.read_remote(file, (slice(2, 4), slice(None), slice(5, 6)))
    assert np.array_equal(part, values[2:4, :, 5:6])
    # A reader may fetch small files whole, and their metadata twice.
    assert sum(each.down_bytes for each in proxy.take()) <= whole_bytes + 5000


def test_zarr_refuses_an_array_with_a_missing_chunk(store):
    server, proxy = store
    adapter = _available(array_stores.find("Zarr.dir"))
    file = server.address(proxy.port, "missing")
    adapter.save_remote(np.ones((4, 5)), file, chunks=(2, 5))
    chunks = [each.key for each in server.bucket.objects("missing/") if "/c/" in each.key]
    server.bucket.remove(chunks[-1])
    with pytest.raises(RemoteReadError, match="missing or empty"):
        adapter.read_remote(file)


def test_errors_are_one_sentence_without_credentials(store, monkeypatch):
    server, proxy = store
    adapter = data_formats.find("Parquet")
    file = server.address(proxy.port, "table", attempts=1)
    df = catalog.table("core", 50).df
    proxy.set(Fault(SLOW_DOWN))
    with pytest.raises(RemoteWriteError, match=r"^Parquet cannot write s3://benchmark/table: ") as found:
        adapter.save_remote(df, file)
    assert "\n" not in str(found.value)
    assert found.value.__cause__ is None
    proxy.set(Fault(EXPIRED))
    with pytest.raises(RemoteWriteError, match=r"(?i)token"):
        adapter.save_remote(df, file)
    key, secret = "AKIDONOTSHOWME", "alsonottobeseen"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    error = RemoteWriteError("Parquet", file.url, OSError(f"the key {key} signed with {secret}"))
    assert key not in str(error)
    assert secret not in str(error)
    assert repr(find_credentials()) == "Credentials()"
    assert "***" in without_secrets(f"{key}!")


@pytest.mark.skipif(not servers.availability(), reason="the stand-in verifies no signatures")
@pytest.mark.parametrize("label", ["Parquet", "Parquet[polars]"])
def test_wrong_credentials_are_refused_and_not_shown(store, label, monkeypatch):
    server, proxy = store
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-secret-of-a-user")
    file = server.address(proxy.port, "refused", attempts=1)
    with pytest.raises(RemoteWriteError) as found:
        data_formats.find(label).save_remote(catalog.table("core", 50).df, file)
    assert server.credentials.access_key not in str(found.value)
    assert "wrong-secret-of-a-user" not in str(found.value)
    assert 403 in [each.status for each in proxy.take()]


def test_a_profile_gives_the_credentials_that_the_environment_lacks(store, tmp_path, monkeypatch):
    server, proxy = store
    keys = server.credentials
    profile = tmp_path / "credentials"
    profile.write_text(
        f"[other]\naws_access_key_id = {keys.access_key}\naws_secret_access_key = {keys.secret_key}\n"
    )
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profile))
    assert find_credentials() is None
    monkeypatch.setenv("AWS_PROFILE", "other")
    df = catalog.table("core", 50).df
    for label in ("Parquet", "Parquet[polars]"):
        file = server.address(proxy.port, f"profile/{label}")
        data_formats.find(label).save_remote(df, file)
        assert len(data_formats.find(label).read_remote(file)) == len(df)


def test_a_transient_fault_is_retried(store):
    server, proxy = store
    adapter = data_formats.find("Parquet")
    df = catalog.table("core", 50).df
    for kind in (SLOW_DOWN, RESET):
        proxy.set(Fault(kind, at=1, times=1))
        file = server.address(proxy.port, f"retried {kind}", attempts=3)
        adapter.save_remote(df, file)
        assert sum(each.failed for each in proxy.take()) == 1
        assert len(adapter.read_remote(file)) == len(df)


def test_a_round_trip_delays_each_request(store):
    server, proxy = store
    proxy.set(round_trip_seconds=0.05)
    import time

    start = time.perf_counter()
    file = server.address(proxy.port, "delayed")
    data_formats.find("Parquet[polars]").save_remote(catalog.table("core", 50).df, file)
    # The library may have kept a connection, which else costs another one.
    assert time.perf_counter() - start >= 0.05 * len(proxy.take())


def test_other_protocols_are_unsupported():
    df = catalog.table("core", 10).df
    with pytest.raises(UnsupportedError, match="Excel has no writer to object stores"):
        data_formats.find("Excel").save_remote(df, RemoteFile("s3://bucket/key"))
    with pytest.raises(UnsupportedError, match="Parquet writes s3:// and gs:// and az://, not http://"):
        data_formats.find("Parquet").save_remote(df, RemoteFile("http://host/key"))
    with pytest.raises(UnsupportedError, match="HDF5 has no object stores: its library goes back"):
        array_stores.find("HDF5").save_remote(np.ones(3), RemoteFile("s3://bucket/key"))


def test_the_stand_in_serves_what_versitygw_serves(tmp_path, monkeypatch):
    with (
        servers.ObjectServer(tmp_path, servers.STAND_IN) as server,
        Proxy(server.port) as proxy,
    ):
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        df = catalog.table("core", 300).df
        for label in ("Parquet", "Delta"):
            file = server.address(proxy.port, label)
            data_formats.find(label).save_remote(df, file)
            assert len(data_formats.find(label).read_remote(file)) == len(df)
        array_stores.find("Icechunk").save_remote(np.ones((4, 5)), server.address(proxy.port, "a"))
        assert array_stores.find("Icechunk").read_remote(server.address(proxy.port, "a")).sum() == 20
