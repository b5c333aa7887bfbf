"""Remote reads of all formats from a server that runs: values, requests, delays and errors."""

from __future__ import annotations

import socket

import pytest

import data_formats
from adapter_core import Feature, RemoteFile, RemoteReadError, UnsupportedError
from adapter_core.errors import LinkError
from data_generator import catalog
from format_bench.network.client import PART, READ, TABLE, Client, digest_of
from format_bench.network.environment import LOOPBACK
from format_bench.network.folder_server import FolderServer
from format_bench.network.proxy import CUT, UNAVAILABLE, Fault, Proxy
from tests.helpers import chosen

REMOTE = [
    name for name in chosen(data_formats, __name__) if Feature.REMOTE in data_formats.find(name).supports
]
COLUMNS = ["H1_PX", "H1_isMuon"]

# Retries of Polars over HTTP cannot be set, and take 7 s.
RETRYING = {("Parquet[polars]", UNAVAILABLE), ("Parquet[polars]", CUT)}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "bucket").mkdir()
    with FolderServer(folder) as server, Proxy(server.port) as proxy:
        yield proxy, folder / "bucket"


def _file(port, name, scheme="http"):
    origin = f"http://{LOOPBACK}:{port}"
    if scheme == "s3":
        return RemoteFile(f"s3://bucket/{name}", endpoint=origin)
    return RemoteFile(f"{origin}/bucket/{name}")


@pytest.fixture(scope="module")
def closed_port():
    with socket.socket() as unused:
        unused.bind((LOOPBACK, 0))
        yield unused.getsockname()[1]


@pytest.mark.slow
@pytest.mark.parametrize("label", REMOTE)
def test_remote_reads_return_the_table_or_one_clear_error(served, closed_port, label):
    proxy, bucket = served
    adapter = data_formats.find(label)
    if not adapter.availability():
        pytest.skip(adapter.availability().reason)
    df = catalog.table("kaons", 3000).df
    df["text"] = [f"number {i % 7}" + "x" * (i % 5) for i in range(len(df))]
    path = bucket / f"table{adapter.suffix}"
    adapter.save(df, path)
    scheme = next(each for each in adapter.remote_schemes if each != "root")
    with Client(TABLE, label, str(path), columns=COLUMNS) as client:
        sent = []
        for step, columns in ((READ, None), (PART, COLUMNS)):
            proxy.set(round_trip_seconds=0.004)
            port = proxy.open_port()
            found = client.run(step, _file(port, path.name, scheme))
            calls = [each for each in proxy.take() if each.port == port]
            assert found.error == ""
            assert found.digest == digest_of(adapter.read(path, columns))
            sent.append(sum(each.down_bytes for each in calls))
            # A new connection waits for two round trips.
            assert found.seconds >= 0.008
            assert all(each.seconds >= 0.004 for each in calls)
        # The blocks that DuckDB's files are fetched in are larger than this file.
        assert 0 < sent[1] <= sent[0] or label == "Parquet[duckdb]"
        absent = f"absent{adapter.suffix}"
        for case, name in (("", absent), (UNAVAILABLE, path.name), (CUT, path.name)):
            if (label, case) not in RETRYING:
                proxy.set(Fault(case, reads=True))
                file = _file(proxy.open_port(), name, scheme)
                _is_clear(client.run(PART, file).error, label, file)
        if label != "Parquet[polars]":
            file = _file(closed_port, path.name, scheme)
            _is_clear(client.run(PART, file).error, label, file)


def _is_clear(error, label, file):
    assert error.startswith(f"{label} cannot read {file.url}: ")
    assert "\n" not in error
    assert "Traceback" not in error
    assert len(error) < 800


def test_formats_without_a_remote_reader_say_so():
    file = RemoteFile("http://localhost/table")
    with pytest.raises(UnsupportedError, match="SQLite has no reader of files on servers"):
        data_formats.find("SQLite").read_remote(file)
    with pytest.raises(UnsupportedError, match="Parquet reads s3:// and gs:// and az://, not http://"):
        data_formats.find("Parquet").read_remote(file)


def test_an_unknown_column_is_an_error_with_its_name(served):
    proxy, bucket = served
    proxy.set()
    adapter = data_formats.find("CSV")
    adapter.save(catalog.table("kaons", 10).df, bucket / "few.csv")
    file = _file(proxy.open_port(), "few.csv")
    with pytest.raises(RemoteReadError, match="nothing"):
        adapter.read_remote(file, ["H1_PX", "nothing"])


def test_a_client_that_does_not_answer_is_given_up():
    with socket.create_server((LOOPBACK, 0)) as silent, Client(TABLE, "CSV", "core:10") as client:
        file = RemoteFile(f"http://{LOOPBACK}:{silent.getsockname()[1]}/b/t.csv")
        with pytest.raises(LinkError, match="the client has not answered after"):
            client.run(READ, file, limit_seconds=1)
