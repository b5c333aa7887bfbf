"""The server of a folder, and the proxy before it: HTTP, S3, records, delays, pace and failures."""

from __future__ import annotations

import contextlib
import http.client
import socket
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET

import pytest

from format_bench.network.environment import LOOPBACK
from format_bench.network.folder_server import BOUNDARY, FolderServer
from format_bench.network.proxy import CUT, UNAVAILABLE, Fault, Proxy

CONTENTS = bytes(range(256)) * 400


@pytest.fixture(scope="module")
def server_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def proxy(server_folder):
    folder = server_folder
    (folder / "bucket" / "sub").mkdir(parents=True)
    (folder / "secret").write_text("outside of all buckets")
    (folder / "bucket" / "a.bin").write_bytes(CONTENTS)
    for name in ("b.bin", "sub/c.bin", "sub/d.bin"):
        (folder / "bucket" / name).write_bytes(b"1")
    with FolderServer(folder) as running, Proxy(running.port) as proxy:
        yield proxy


@pytest.fixture
def port(proxy):
    proxy.take()
    yield proxy.open_port()
    proxy.set()


def _get(port, path, method="GET", **headers):
    request = urllib.request.Request(f"http://{LOOPBACK}:{port}{path}", headers=headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        error.close()
        raise


def test_whole_files_and_ranges_have_the_right_bytes(proxy, port):
    assert _get(port, "/bucket/a.bin")[2] == CONTENTS
    for header, expected in (
        ("bytes=5-9", (5, 10)),
        ("bytes=102390-", (102390, 102400)),
        ("bytes=-7", (102393, 102400)),
        ("bytes=102399-999999", (102399, 102400)),
    ):
        status, headers, body = _get(port, "/bucket/a.bin", Range=header)
        assert status == 206
        assert body == CONTENTS[slice(*expected)]
        assert headers["Content-Range"] == f"bytes {expected[0]}-{expected[1] - 1}/102400"
    calls = [(each.status, each.down_bytes) for each in proxy.take()]
    assert calls == [(200, 102400), (206, 5), (206, 10), (206, 7), (206, 1)]


def test_several_ranges_come_as_parts_of_one_response(proxy, port):
    _, headers, body = _get(port, "/bucket/a.bin", Range="bytes=0-9, 300-304")
    assert headers["Content-Type"] == f"multipart/byteranges; boundary={BOUNDARY}"
    parts = [part.partition(b"\r\n\r\n")[2] for part in body.split(f"\r\n--{BOUNDARY}".encode())]
    assert parts[1:3] == [CONTENTS[:10], CONTENTS[300:305]]
    (call,) = proxy.take()
    assert call.down_bytes == len(body)


def test_head_sends_no_body(proxy, port):
    status, headers, body = _get(port, "/bucket/a.bin", method="HEAD")
    assert (status, headers["Content-Length"], body) == (200, "102400", b"")
    (call,) = proxy.take()
    assert (call.method, call.down_bytes) == ("HEAD", 0)


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/bucket/missing", "GET", {}, 404),
        ("/bucket/%2e%2e/%2e%2e/etc/passwd", "GET", {}, 404),
        ("/bucket/a.bin", "GET", {"Range": "bytes=200000-"}, 416),
        ("/./secret", "GET", {}, 404),
        ("/bucket/a.bin", "PUT", {}, 405),
    ],
)
def test_what_it_does_not_have_is_refused(port, path, method, headers, status):
    with pytest.raises(urllib.error.HTTPError) as refused:
        _get(port, path, method, **headers)
    assert refused.value.code == status


def _keys(body):
    tree = ET.fromstring(body)
    found = [each.text for each in tree.iterfind("{*}Contents/{*}Key")]
    found += [each.text for each in tree.iterfind("{*}CommonPrefixes/{*}Prefix")]
    return found, tree.findtext("{*}NextContinuationToken")


def test_a_bucket_is_listed_by_prefix_and_page(port):
    assert _keys(_get(port, "/bucket?list-type=2&prefix=sub/")[2]) == (["sub/c.bin", "sub/d.bin"], None)
    assert _keys(_get(port, "/bucket?list-type=2&delimiter=/")[2]) == (["a.bin", "b.bin", "sub/"], None)
    first, token = _keys(_get(port, "/bucket?list-type=2&max-keys=3")[2])
    rest, end = _keys(_get(port, f"/bucket?list-type=2&max-keys=3&continuation-token={token}")[2])
    assert first + rest == ["a.bin", "b.bin", "sub/c.bin", "sub/d.bin"]
    assert end is None


def test_requests_wait_a_round_trip_and_connections_another(proxy, port):
    proxy.set(round_trip_seconds=0.01)
    connection = http.client.HTTPConnection(LOOPBACK, port)
    for _ in range(3):
        connection.request("GET", "/bucket/b.bin")
        connection.getresponse().read()
    connection.close()
    _get(port, "/bucket/b.bin")
    found = proxy.take()
    first = found[0].connection
    assert [each.connection - first for each in found] == [0, 0, 0, 1]
    assert {each.port for each in found} == {port}
    for each, round_trips in zip(found, (2, 1, 1, 2), strict=True):
        assert each.seconds >= 0.01 * round_trips


def test_bodies_take_the_time_of_the_bandwidth(proxy, port):
    proxy.set(bytes_per_second=2_000_000)
    start = time.perf_counter()
    _get(port, "/bucket/a.bin")
    # The last piece has been sent when its time is over, so the whole takes no less.
    assert time.perf_counter() - start >= len(CONTENTS) / 2_000_000


@pytest.mark.slow
def test_slow_clients_get_all_before_their_connections_close(server_folder, port):
    # Not in the bucket that others list.
    (server_folder / "large").mkdir()
    (server_folder / "large" / "large.bin").write_bytes(CONTENTS * 50)
    # Of one of these lengths, the end is still in the proxy when the sockets' buffers are full.
    lengths = range(2_000_000, 4_500_000, 60_000)
    with contextlib.ExitStack() as opened:
        clients = {}
        for length in lengths:
            client = clients[length] = opened.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((LOOPBACK, port))
            head = f"GET /large/large.bin HTTP/1.1\r\nHost: x\r\nRange: bytes=0-{length - 1}\r\n"
            client.sendall(f"{head}Connection: close\r\n\r\n".encode())
        time.sleep(1)
        for length, client in clients.items():
            answer = b"".join(iter(lambda client=client: client.recv(1 << 20), b""))
            assert len(answer.partition(b"\r\n\r\n")[2]) == length


def test_failures_are_made_on_request(proxy, port):
    proxy.set(Fault(UNAVAILABLE, reads=True))
    with pytest.raises(urllib.error.HTTPError, match="503"):
        _get(port, "/bucket/a.bin")
    proxy.set(Fault(CUT, reads=True))
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        _get(port, "/bucket/a.bin")
