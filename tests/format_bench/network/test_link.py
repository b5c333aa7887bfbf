"""Links of two namespaces, and of the delaying server: delays, bandwidth, and what is left behind."""

from __future__ import annotations

import functools
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import data_formats
from adapter_core.errors import LinkError, UnavailableError
from data_generator import catalog
from format_bench.network import namespaces
from format_bench.network.client import PART, READ, TABLE, Client, digest_of
from format_bench.network.namespaces import LinkedNetwork
from format_bench.network.places import DELAYS, NETWORK, Link
from format_bench.network.proxy import Call, waits_of

ROWS = 500
ROUND_TRIP = 0.015


@pytest.fixture(scope="module", params=[NETWORK, DELAYS])
def link(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with Link(folder, delays_only=request.param == DELAYS) as made:
        if made.kind != request.param:
            pytest.skip(made.reason)
        data_formats.find("CSV").save(catalog.table("kaons", ROWS).df, made.bucket / "table.csv")
        yield made


def _client(link, label, name, **options):
    return Client(TABLE, label, str(link.bucket / name), prefix=link.client_prefix, **options)


def test_a_read_takes_the_time_of_round_trips_and_bytes(link):
    expected = data_formats.find("CSV").read(link.bucket / "table.csv")
    with _client(link, "CSV", "table.csv") as client:
        link.reach("http", "table.csv", functools.partial(client.run, READ))
        for round_trip, bytes_per_second in ((ROUND_TRIP, 0.0), (0.0, 1e6)):
            link.set(round_trip, bytes_per_second)
            found, counts = link.reach("http", "table.csv", functools.partial(client.run, READ))
            assert found.error == ""
            assert found.digest == digest_of(expected)
            size = (link.bucket / "table.csv").stat().st_size
            assert (counts.reads, counts.connections, counts.down_bytes) == (1, 1, size)
            assert counts.waits == 2
            # A connection and a request wait for a round trip each.
            assert found.seconds >= 2 * round_trip
            if bytes_per_second:
                assert found.seconds >= size / bytes_per_second


def test_waits_are_of_requests_one_after_the_other():
    def call(start, end, connection):
        return Call("GET", "/", connection=connection, start=start, seconds=end - start)

    one_by_one = [call(0, 1, 0), call(1.5, 2, 0), call(2.5, 3, 0)]
    assert waits_of(one_by_one) == 4  # three requests, and the connection
    together = [call(0, 1, 0), call(0.2, 1, 1), call(0.4, 1, 2)]
    assert waits_of(together) == 2
    assert waits_of([*together, call(1.1, 2, 1)]) == 3
    # Fast answers to what arrived together do not make it wait.
    fast = [call(0, 0.001, 0), call(0.002, 0.003, 1), call(0.004, 0.005, 2)]
    assert (waits_of(fast), waits_of(fast, 0.05)) == (6, 2)
    assert waits_of([]) == 0


def test_a_connection_that_was_opened_in_advance_is_not_waited_for():
    def call(start, end, connection, opened):
        facts = {"connection": connection, "opened": opened}
        return Call("GET", "/", start=start, seconds=end - start, **facts)

    # Of a round trip of 0.1 s: the second connection was made while the first answer was on its way.
    first, second = call(0.2, 0.21, 0, 0.2), call(0.31, 0.32, 1, 0.2)
    assert waits_of([first, second], 0.09) == 3
    assert waits_of([first, replace(second, opened=0.31)], 0.09) == 4
    # A request of 60 ms after an answer was sent before the answer was there.
    assert waits_of([first, call(0.27, 0.28, 1, 0.27)], 0.09) == 2
    # The proxy's own delay is waited for by the first request of every connection.
    assert waits_of([first, second]) == 4


def test_xrootd_counts_requests_or_gives_a_reason(link):
    root = data_formats.find("ROOT.TTree")
    root.save(catalog.table("kaons", ROWS).df, link.bucket / "table.root")
    _open_to_others(link.bucket)
    link.set(ROUND_TRIP)
    with _client(link, "ROOT.TTree", "table.root", columns=["H1_PX"]) as client:
        step = functools.partial(client.run, PART)
        if link.kind == DELAYS or shutil.which("xrootd") is None:
            with pytest.raises(UnavailableError, match="XRootD"):
                link.reach("root", "table.root", step)
            return
        found, counts = link.reach("root", "table.root", step)
    assert found.error == ""
    assert found.digest == digest_of(root.read(link.bucket / "table.root", ["H1_PX"]))
    # Open, read and close at least.
    assert counts.reads >= 3
    assert counts.connections == 1
    assert counts.down_bytes >= ROWS * 8
    assert found.seconds >= 3 * ROUND_TRIP


def _open_to_others(path: Path) -> None:
    """Let XRootD's server, which runs as another user, read a file of pytest's own folder."""
    for each in (path, *path.parents):
        if each.stat().st_uid == os.geteuid() and "pytest" in str(each):
            each.chmod(0o755)


def _places():
    own = Path("/proc/self")
    return (own / "ns/net").readlink(), len(list((own / "fd").iterdir()))


def test_a_network_leaves_nothing_behind():
    before = _places()
    try:
        with LinkedNetwork() as made:
            made.set(0.001)
            assert _places() != before
    except LinkError as error:
        pytest.skip(str(error))
    assert _places() == before


def test_a_missing_tool_is_a_sentence(monkeypatch):
    monkeypatch.setattr(namespaces.shutil, "which", lambda _: None)
    with pytest.raises(LinkError, match="no network with a link: ip is not installed"):
        LinkedNetwork()
