"""Links of two namespaces, and of the delaying server: delays, bandwidth, and what is left behind."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import data_formats
from adapter_core.errors import LinkError
from data_generator import catalog
from format_bench.links import network
from format_bench.links.client import digest_of
from format_bench.links.link import DELAYS, NETWORK, Link, Question
from format_bench.links.network import LinkedNetwork

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


def test_a_read_takes_the_time_of_round_trips_and_bytes(link):
    expected = data_formats.find("CSV").read(link.bucket / "table.csv")
    with link.client() as client:
        question = Question("CSV", "http", None)
        link.read(client, "table.csv", question)
        for round_trip, bytes_per_second in ((ROUND_TRIP, 0.0), (0.0, 1e6)):
            link.set(round_trip, bytes_per_second)
            found = link.read(client, "table.csv", question)
            assert found.answer.error == ""
            assert found.answer.digest == digest_of(expected)
            size = (link.bucket / "table.csv").stat().st_size
            assert (found.requests, found.connections, found.sent_bytes) == (1, 1, size)
            # A connection and a request wait for a round trip each.
            assert found.answer.seconds >= 2 * round_trip
            if bytes_per_second:
                assert found.answer.seconds >= size / bytes_per_second


def test_xrootd_counts_requests_or_gives_a_reason(link):
    root = data_formats.find("ROOT.TTree")
    root.save(catalog.table("kaons", ROWS).df, link.bucket / "table.root")
    _open_to_others(link.bucket)
    link.set(ROUND_TRIP)
    with link.client() as client:
        question = Question("ROOT.TTree", "root", ["H1_PX"])
        if link.kind == DELAYS or shutil.which("xrootd") is None:
            with pytest.raises(LinkError, match="XRootD"):
                link.read(client, "table.root", question)
            return
        found = link.read(client, "table.root", question)
    assert found.answer.error == ""
    assert found.answer.digest == digest_of(root.read(link.bucket / "table.root", ["H1_PX"]))
    # Open, read and close at least.
    assert found.requests >= 3
    assert found.connections == 1
    assert found.sent_bytes >= ROWS * 8
    assert found.answer.seconds >= 3 * ROUND_TRIP


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
    monkeypatch.setattr(network.shutil, "which", lambda _: None)
    with pytest.raises(LinkError, match="no network with a link: ip is not installed"):
        LinkedNetwork()
