"""An object server with a proxy: versitygw where it has been built, else the stand-in."""

from __future__ import annotations

import pytest

from format_bench.network import object_server as servers
from format_bench.network.proxy import Proxy


@pytest.fixture(scope="session")
def running(tmp_path_factory):
    """Provide a server and its proxy to all tests of a process."""
    kind = servers.REAL if servers.availability() else servers.STAND_IN
    folder = tmp_path_factory.mktemp("server")
    with servers.ObjectServer(folder, kind) as server, Proxy(server.port) as proxy:
        yield server, proxy


@pytest.fixture
def store(running, monkeypatch):
    """Provide them without faults and records, with its credentials in the environment."""
    server, proxy = running
    proxy.set()
    proxy.take()
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server, proxy
