"""Trials of adapters on an object server: costs, faults, and their tables."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from itertools import product
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from adapter_core import UnknownNameError
from adapter_core.errors import LinkError, UnavailableError
from format_bench.network import object_server as servers
from format_bench.network.client import ARRAY, TABLE
from format_bench.network.places import StorePlace, Traffic
from format_bench.network.proxy import Call, Proxy, retries_of
from format_bench.network.trials import STEPS, StepCost, Trial
from format_bench.studies import faults, object_stores
from format_bench.studies.faults import KILLED, Found, Saved, fault_results
from tests.helpers import ROOT

KIND = servers.REAL if servers.availability() else servers.STAND_IN


@pytest.mark.slow
@pytest.mark.parametrize(
    "trial",
    [Trial(TABLE, "Parquet[polars]", "core:500"), Trial(ARRAY, "Zarr.v2", "era5-small:2")],
)
def test_costs_have_the_same_requests_at_each_round_trip(store, trial):
    server, proxy = store
    place = StorePlace(server.address(proxy.port, server.folder), proxy, server.environment)
    costs = list(trial.costs(place, (0.0, 20.0)))
    assert [each.error for each in costs] == [""] * 6
    near, far = costs[:3], costs[3:]
    assert [each.step for each in near] == [*STEPS]
    for close, distant in zip(near, far, strict=True):
        counts = [(each.traffic.reads, each.traffic.writes) for each in (close, distant)]
        assert counts[0] == counts[1]
        assert distant.seconds >= 0.02
    save, read, part = (each.traffic for each in near)
    assert save.writes > 0
    assert save.up_bytes > 1000
    assert 0 < part.down_bytes <= read.down_bytes
    text = object_stores.tables(costs)
    assert f"| {trial.label} | {read.reads} | 0 |" in text
    assert all(f"### {step.capitalize()}" in text for step in STEPS)


def test_a_client_that_no_longer_answers_is_the_error_of_the_steps_that_are_left(monkeypatch):
    steps = iter([*STEPS, *STEPS, "save"])  # first ones that do not count, then those at 0 ms

    @contextmanager
    def client(*_):
        yield SimpleNamespace(expected=dict)

    def cost(self, step, *_):
        if next(steps, None) != step:
            raise LinkError("the client has not answered after 120 seconds")
        return StepCost(self.family, self.label, step, 0.0, seconds=1.0)

    monkeypatch.setattr(Trial, "client", client)
    monkeypatch.setattr(Trial, "_cost", cost)
    place = SimpleNamespace(environment={}, client_prefix=(), set=lambda *_: None)
    costs = list(Trial(TABLE, "Parquet", "core:60").costs(place, (0.0, 20.0)))
    assert [(each.step, each.round_trip_ms) for each in costs] == [
        *product(STEPS, (0.0,)),
        *product(STEPS, (20.0,)),
    ]
    assert [bool(each.error) for each in costs] == [False] * 4 + [True] * 2


@pytest.mark.slow
def test_each_fault_ends_with_a_sentence_and_no_part_is_taken_for_the_whole():
    trial = Trial(TABLE, "Parquet", "core:500")
    results = {each.fault: each for each in fault_results(trial, KIND)}
    assert set(results) == set(faults.FAULTS) - ({"full disk"} if KIND == servers.STAND_IN else set())
    for name in ("slow down twice", "reset once"):
        assert results[name].ends == (Saved.DONE, Found.WHOLE)
        assert results[name].retries >= 1
    for name in ("slow down always", "reset always", "expired credentials"):
        found = results[name]
        assert found.ends == (Saved.ERROR, Found.ABSENT)
        assert faults.error_of(found).startswith("Parquet cannot write s3://benchmark/format-bench-")
        # The upload was started, and the library does not abort it.
        assert (found.objects, found.uploads) == (0, 1)
    assert results[KILLED].ends == (Saved.KILLED, Found.ABSENT)
    cell = faults.cell_of(results["slow down twice"])
    assert cell.startswith("done, ")
    assert cell.endswith(" s, 2 retries; whole (1 object)")


def test_repeated_requests_are_retries_only_after_a_failure():
    calls = [
        Call("PUT", "/a", 503),
        Call("PUT", "/a", 0),
        Call("PUT", "/a", 200),
        Call("PUT", "/a", 200),
    ]
    assert retries_of(calls) == 2
    assert retries_of([Call("GET", "/a", 404), Call("GET", "/a", 404)]) == 0


def _refuse_once(server):
    connection, _ = server.accept()
    with connection:
        connection.recv(1 << 16)
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\nreason")
        connection.recv(1)


def test_an_answer_in_place_of_a_request_for_the_body_is_passed_on_whole():
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_refuse_once, args=(server,))
        thread.start()
        with Proxy(server.getsockname()[1]) as proxy:
            with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as client:
                client.sendall(b"PUT /b/k HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
                found = b"".join(iter(lambda: client.recv(1 << 16), b""))
            (call,) = proxy.take()
        thread.join()
    assert found.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert found.endswith(b"\r\n\r\nreason")
    assert (call.status, call.up_bytes, call.down_bytes) == (403, 0, 6)


def test_the_page_has_all_adapters_with_their_protocols_or_reasons():
    text = object_stores.declarations()
    assert text in (ROOT / "docs/object_stores.md").read_text(encoding="utf-8"), text
    assert "| `s3://`, `gs://` | Iceberg | - |" in text
    done = CliRunner().invoke(object_stores.command, ["--declarations"])
    assert done.output == f"{text}\n"


def test_an_adapter_without_a_writer_is_unknown():
    assert len(object_stores.trials_of([], 10, 2)) >= 33
    both = object_stores.trials_of(["Lance"], 10, 2)
    costs = [StepCost(each.family, each.label, STEPS[0], 0.0, 1.0, traffic=Traffic()) for each in both]
    text = object_stores.tables(costs)
    assert "| Lance | 0 |" in text
    assert "| Lance (array) | 0 |" in text
    with pytest.raises(UnknownNameError, match="Excel"):
        object_stores.trials_of(["Excel"], 10, 2)


def test_a_build_without_go_is_unavailable(tmp_path, monkeypatch):
    from format_bench.cli.main import format_bench

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    done = CliRunner().invoke(format_bench, ["build", "object-server", "--optional"])
    assert done.exit_code == 0
    assert "the object server is unavailable: Go is not installed" in done.output
    with pytest.raises(UnavailableError, match="Go is not installed"):
        servers.build()
    assert list(tmp_path.iterdir()) == []
