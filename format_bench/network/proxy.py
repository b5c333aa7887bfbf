"""HTTP/1.1 proxy before a server: counts requests and bytes, delays, paces and breaks them.

Requests pass unchanged, so that signatures stay valid. The process answers the commands of `Proxy`, and
ends with its standard input.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from format_bench.network.environment import LOOPBACK
from format_bench.network.processes import CommandedProcess, serve_commands

UPLOADS = frozenset({"PUT", "POST"})
"""Methods of requests that write."""

READS = frozenset({"GET", "HEAD"})
"""Methods of requests that read."""

# What one read of a socket returns at most; larger pieces would make the pace of slow links uneven.
_PIECE_BYTES = 1 << 16
# asyncio's default, named since both directions must take the same heads.
_HEAD_BYTES = 1 << 16
# A part of the body arrives, as where a connection breaks; no answer at all would be another fault.
_CUT_AFTER_BYTES = 1 << 10
_NO_CONTENT, _NOT_MODIFIED, _SERVER_ERROR = 204, 304, 500

SLOW_DOWN, RESET, STALL, EXPIRED, CUT = "slow down", "reset", "stall", "expired", "cut"
"""Kinds of faults: error 503; a request cut in its middle; one stopped there; error 400; an answer
with contents, no list, cut after 1 KiB."""

UNAVAILABLE = "unavailable"
"""Error 503 of another code, after which libraries give up sooner than after `SLOW_DOWN`."""

_ANSWERS = {
    UNAVAILABLE: ("503 Service Unavailable", "ServiceUnavailable", "The server is unavailable."),
    SLOW_DOWN: ("503 Slow Down", "SlowDown", "Please reduce your request rate."),
    EXPIRED: ("400 Bad Request", "ExpiredToken", "The provided token has expired."),
}


@dataclass(frozen=True)
class Fault:
    """A failure of some requests that write, or of all requests if `reads` is true."""

    kind: str = ""
    """One of the kinds above; empty for none."""
    at: int = 0
    """Number of such requests that pass before it."""
    times: int = 0
    """Number of failures; 0 for all further requests."""
    reads: bool = False
    """Whether requests that read fail, too."""


@dataclass
class Call:
    """A request and its answer."""

    method: str
    path: str
    """Path with the query."""
    status: int = 0
    """0 if the connection was cut."""
    up_bytes: int = 0
    """Bytes of the request's body."""
    down_bytes: int = 0
    """Bytes of the answer's body."""
    failed: bool = False
    """Whether the proxy made it fail."""
    port: int = 0
    """Port of the proxy, which distinguishes commands."""
    connection: int = 0
    """Number of the connection."""
    seconds: float = 0.0
    """Time from the request's head to the end of the answer."""
    start: float = 0.0
    """When the head was there, on a clock of the proxy's own."""
    opened: float = 0.0
    """When its connection was there, on the same clock."""


class Proxy(CommandedProcess):
    """A proxy before a server, which ends with the block.

    Parameters
    ----------
    upstream_port : int
        Port of the server.
    upstream_host : str
        Its name or address.
    host : str
        Address to listen at.
    prefix : sequence of str
        Command that starts it in a namespace; empty for none.
    """

    def __init__(
        self,
        upstream_port: int,
        upstream_host: str = LOOPBACK,
        host: str = LOOPBACK,
        prefix: Sequence[str] = (),
    ) -> None:
        super().__init__(__name__, str(upstream_port), upstream_host, host, prefix=prefix)

    def _start(self, started: contextlib.ExitStack) -> None:
        super()._start(started)
        self.port: int = self.answer()

    def set(
        self,
        fault: Fault = Fault(),
        round_trip_seconds: float = 0.0,
        bytes_per_second: float = 0.0,
    ) -> None:
        """Change the treatment of all further requests.

        Parameters
        ----------
        fault : Fault
            By default none.
        round_trip_seconds : float
            Delay of each request, and once more of the first one of a connection.
        bytes_per_second : float
            Bandwidth of each direction, which all connections share; 0 if not limited.
        """
        self.ask(
            do="set", fault=asdict(fault), round_trip=round_trip_seconds, bandwidth=bytes_per_second
        )

    def open_port(self) -> int:
        """Listen at another port and return it; a library has no connection or cache for it yet."""
        port: int = self.ask(do="open")
        return port

    def take(self) -> list[Call]:
        """Return the records of all requests since the last call."""
        return [Call(**each) for each in self.ask(do="take")]

    def has_stalled(self) -> bool:
        """Return whether a request has been stopped in its middle."""
        return bool(self.ask(do="stalled"))


def retries_of(calls: Sequence[Call]) -> int:
    """Return the number of requests that repeat one without an answer, or with a status of 500 on."""
    failed: set[tuple[str, str]] = set()
    retries = 0
    for each in calls:
        request = each.method, each.path
        if request in failed:
            retries += 1
            failed.discard(request)
        if each.status == 0 or each.status >= _SERVER_ERROR:
            failed.add(request)
    return retries


def waits_of(calls: Sequence[Call], gap_seconds: float = 0.0) -> int:
    """Return the round trips that a client waited for, one after the other.

    They are the round trips of its longest chain of requests, each of which began when the answer before
    had arrived; the first request of a connection waits for the connection as well, unless that had been
    opened in advance. Requests that a client makes at the same time are on different chains, and wait
    together.

    Parameters
    ----------
    calls : sequence of Call
        The requests.
    gap_seconds : float
        Least time from the end of an answer to a request that depends on it: nearly a round trip where
        packets are delayed on their way to the proxy, 0 where the proxy itself delays requests.
    """
    longest: list[tuple[float, int]] = []
    connections = set()
    for each in sorted(calls, key=lambda each: each.start):
        before = [waits for end, waits in longest if end + gap_seconds <= each.start]
        is_new = each.connection not in connections
        is_waited_for = is_new and (not gap_seconds or each.start - each.opened < gap_seconds)
        connections.add(each.connection)
        longest.append((each.start + each.seconds, 1 + is_waited_for + max(before, default=0)))
    return max((waits for _, waits in longest), default=0)


class _Server:
    def __init__(self, upstream: tuple[str, int], host: str) -> None:
        self._upstream, self._host = upstream, host
        self._fault, self._round_trip, self._bandwidth = Fault(), 0.0, 0.0
        self._calls: list[Call] = []
        self._connections = 0
        self._seen = 0
        self._stalled = False
        # Of each direction, when the link will have carried all that was sent.
        self._free_at = {"up": 0.0, "down": 0.0}
        self._servers: list[asyncio.Server] = []

    async def serve(self) -> None:
        """Answer commands until the standard input ends."""
        await serve_commands(await self._open(), self._obey)

    async def _open(self) -> int:
        server = await asyncio.start_server(self._connected, self._host, 0, limit=_HEAD_BYTES)
        self._servers.append(server)
        port: int = server.sockets[0].getsockname()[1]
        return port

    def _obey(self, command: dict[str, Any]) -> Any:
        match command["do"]:
            case "set":
                self._fault, self._seen, self._stalled = Fault(**command["fault"]), 0, False
                self._round_trip, self._bandwidth = command["round_trip"], command["bandwidth"]
                return True
            case "open":
                return self._open()
            case "stalled":
                return self._stalled
        taken, self._calls = self._calls, []
        return [asdict(each) for each in taken]

    async def _connected(self, client: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        number, port = self._connections, answer.get_extra_info("sockname")[1]
        opened = time.monotonic()
        self._connections += 1
        is_new = is_open = True
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while is_open:
                    head = await client.readuntil(b"\r\n\r\n")
                    method, path, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
                    call = Call(method, path, port=port, connection=number, opened=opened)
                    self._calls.append(call)
                    start = call.start = time.monotonic()
                    await asyncio.sleep(self._round_trip * (2 if is_new else 1))
                    is_new = False
                    # A client may ask for the record before its answer has ended here.
                    call.seconds = time.monotonic() - start
                    try:
                        is_open = await self._exchange(head, client, answer, call)
                    finally:
                        call.seconds = time.monotonic() - start
                # Aborting would drop what the client has not fetched yet.
                answer.close()
                await answer.wait_closed()
        finally:
            if not answer.is_closing():
                answer.transport.abort()

    async def _exchange(
        self, head: bytes, client: asyncio.StreamReader, answer: asyncio.StreamWriter, call: Call
    ) -> bool:
        """Pass one request and its answer on; return whether the connection stays open."""
        headers, kind = _headers(head), self._failure_of(call.method)
        call.failed = bool(kind)
        if kind in _ANSWERS:
            return await self._refuse(kind, headers, client, answer, call)
        # versitygw 1.8.0 takes the end of a chunked body for another request, and closes the connection.
        server, request = await asyncio.open_connection(*self._upstream, limit=_HEAD_BYTES)
        try:
            request.write(head)
            if "100-continue" in headers.get("expect", ""):
                interim = await server.readuntil(b"\r\n\r\n")
                if not _is_interim(interim):
                    await self._pass_answer(interim, server, answer, kind, call)
                    return False  # whether the body of the request follows is the client's choice
                answer.write(interim)
            await self._pass_request(client, request, headers, "" if kind == CUT else kind, call)
            head = await server.readuntil(b"\r\n\r\n")
            while _is_interim(head):
                head = await server.readuntil(b"\r\n\r\n")
            return await self._pass_answer(head, server, answer, kind, call)
        finally:
            request.transport.abort()

    async def _pass_request(
        self,
        client: asyncio.StreamReader,
        request: asyncio.StreamWriter,
        headers: dict[str, str],
        kind: str,
        call: Call,
    ) -> None:
        """Pass the body of a request on, or half of it if the request is to fail."""
        limit = int(headers.get("content-length", "0")) // 2 if kind else None
        async for piece in _body(client, headers):
            call.up_bytes += len(piece)
            if limit is not None and call.up_bytes >= limit:
                break
            await self._wait_for_turn("up", len(piece))
            request.write(piece)
            await request.drain()
        if kind == STALL:  # until the client has gone
            self._stalled = True
            while await client.read(_PIECE_BYTES):
                pass
        if kind:
            raise ConnectionResetError

    async def _pass_answer(
        self,
        head: bytes,
        server: asyncio.StreamReader,
        answer: asyncio.StreamWriter,
        kind: str,
        call: Call,
    ) -> bool:
        """Pass a final answer on; return whether the server keeps the connection."""
        call.status = int(head.split(b" ", 2)[1])
        headers = _headers(head)
        answer.write(head)
        # A list that is cut is asked for again, for minutes by some libraries.
        is_cut = kind == CUT and "xml" not in headers.get("content-type", "")
        if call.method != "HEAD" and call.status not in {_NO_CONTENT, _NOT_MODIFIED}:
            async for piece in _body(server, headers):
                await self._wait_for_turn("down", len(piece))
                answer.write(piece[:_CUT_AFTER_BYTES] if is_cut else piece)
                if is_cut:
                    raise ConnectionResetError
                call.down_bytes += len(piece)
                await answer.drain()
        await answer.drain()
        return headers.get("connection", "").lower() != "close"

    def _failure_of(self, method: str) -> str:
        """Return the kind of failure of the next request; empty for none."""
        fault = self._fault
        if not fault.kind or not (fault.reads or method in UPLOADS):
            return ""
        number = self._seen - fault.at
        self._seen += 1
        return fault.kind if number >= 0 and (not fault.times or number < fault.times) else ""

    async def _refuse(
        self,
        kind: str,
        headers: dict[str, str],
        client: asyncio.StreamReader,
        answer: asyncio.StreamWriter,
        call: Call,
    ) -> bool:
        """Answer with an error; the server sees nothing of the request."""
        if "100-continue" not in headers.get("expect", ""):
            async for piece in _body(client, headers):
                call.up_bytes += len(piece)
        status, code, message = _ANSWERS[kind]
        body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
        call.status = int(status.split(" ")[0])
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}"
        answer.write(f"{head}\r\nConnection: close\r\n\r\n".encode())
        if call.method != "HEAD":
            answer.write(body)
        await answer.drain()
        return False

    async def _wait_for_turn(self, direction: str, length: int) -> None:
        """Wait until the link has carried that many bytes more."""
        if self._bandwidth:
            start = max(self._free_at[direction], time.monotonic())
            self._free_at[direction] = start + length / self._bandwidth
            await asyncio.sleep(self._free_at[direction] - time.monotonic())


def _is_interim(head: bytes) -> bool:
    return head.partition(b" ")[2].startswith(b"100")


def _headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> AsyncIterator[bytes]:
    """Yield the pieces of a body with the frames of a chunked one: RFC 9112, section 6.3."""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        while True:
            head = await reader.readuntil(b"\r\n")
            length = int(head.partition(b";")[0], 16)
            yield head + await reader.readexactly(length) + await reader.readuntil(b"\r\n")
            if not length:
                return
    left = int(headers.get("content-length", "0"))
    while left:
        piece = await reader.read(min(left, _PIECE_BYTES))
        if not piece:
            raise ConnectionResetError
        left -= len(piece)
        yield piece


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_Server((sys.argv[2], int(sys.argv[1])), sys.argv[3]).serve())
