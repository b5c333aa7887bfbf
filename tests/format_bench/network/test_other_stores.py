"""Saves and reads at servers of Azure Blob Storage and Google Cloud Storage, where installed."""

from __future__ import annotations

import base64
import os
import secrets
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import array_stores
import data_formats
from adapter_core import RemoteFile
from adapter_core.errors import RemoteReadError
from data_generator import catalog
from format_bench.network.client import digest_of
from format_bench.network.object_server import free_port

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "formatbench"
AZURITE = CACHE / "azurite-3.35.0" / "node_modules" / ".bin" / "azurite-blob"
FAKE_GCS = CACHE / "fake-gcs-server-1.56.1" / "fake-gcs-server"
ACCOUNT, CONTAINER = "tester", "benchmark"


@contextmanager
def running(command, port, **environment):
    """Run a server until the end of the block."""
    with subprocess.Popen(
        [*map(str, command)],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            end = time.monotonic() + 30
            while time.monotonic() < end:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def azure():
    """Provide a folder of a container at Azurite, with its key in the environment."""
    if not AZURITE.exists():
        pytest.skip("Azurite is not installed (docs/object_stores.md)")
    port, key = free_port(), base64.b64encode(secrets.token_bytes(32)).decode()
    options = ("--silent", "--loose", "--inMemoryPersistence", "--disableTelemetry")
    command = (AZURITE, *options, "--skipApiVersionCheck", "--blobPort", port)
    endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT)
        patch.setenv("AZURE_STORAGE_ACCOUNT_KEY", key)
        with running(command, port, AZURITE_ACCOUNTS=f"{ACCOUNT}:{key}"):
            file = RemoteFile(f"az://{CONTAINER}/folder", endpoint, anonymous=False)
            file.arrow_file_system().create_dir(CONTAINER)
            yield file


@pytest.fixture(scope="module")
def google():
    """Provide a folder of a bucket at fake-gcs-server, which needs no credentials."""
    if not FAKE_GCS.exists():
        pytest.skip("fake-gcs-server is not built (docs/object_stores.md)")
    port = free_port()
    place = ("-host", "127.0.0.1", "-port", port, "-external-url", f"http://127.0.0.1:{port}")
    command = (FAKE_GCS, "-scheme", "http", "-backend", "memory", *place)
    with pytest.MonkeyPatch.context() as patch, running(command, port):
        patch.setenv("GOOGLE_CLOUD_PROJECT", "tester")  # a bucket belongs to a project
        file = RemoteFile(f"gs://{CONTAINER}/folder", f"http://127.0.0.1:{port}")
        file.arrow_file_system().create_dir(CONTAINER)
        yield file


def _round_trip(label, folder, tmp_path):
    adapter = data_formats.find(label)
    df = catalog.table("core", 500).df
    adapter.save(df, tmp_path / "local")
    file = RemoteFile(f"{folder.url}/{label}", folder.endpoint, folder.anonymous)
    adapter.save_remote(df, file)
    assert digest_of(adapter.read_remote(file)) == digest_of(adapter.read(tmp_path / "local"))


@pytest.mark.slow
@pytest.mark.parametrize("label", ["Parquet", "Parquet[polars]", "CSV", "Lance", "Delta"])
def test_tables_come_back_from_azure(azure, label, tmp_path):
    _round_trip(label, azure, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("label", ["Zarr.dir", "Lance"])
def test_arrays_come_back_from_azure(azure, label):
    adapter = array_stores.find(label)
    values = np.arange(8 * 30, dtype="float32").reshape(8, 30)
    file = RemoteFile(f"{azure.url}/array {label}", azure.endpoint, anonymous=False)
    adapter.save_remote(values, file, chunks=(2, 30))
    part = adapter.read_remote(file, (slice(2, 5), slice(None)))
    assert np.array_equal(part, values[2:5])


@pytest.mark.parametrize("label", ["Parquet", "CSV", "Avro"])
def test_tables_come_back_from_google(google, label, tmp_path):
    _round_trip(label, google, tmp_path)


def test_the_key_of_azure_is_not_shown(azure, monkeypatch):
    key = base64.b64encode(b"a key that no message may show").decode()
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", key)
    for label in ("Parquet", "Parquet[polars]"):
        with pytest.raises(RemoteReadError) as found:
            data_formats.find(label).read_remote(azure)
        assert key not in str(found.value)
