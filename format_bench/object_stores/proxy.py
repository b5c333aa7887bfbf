"""HTTP/1.1 proxy before an object store: counts requests and bytes, delays, and breaks them.

Requests pass unchanged, so that signatures stay valid. The process reads commands from its standard
input, one JSON object a line, and answers each by a line: ``set`` (`Fault`), ``take`` (the `Call`
records so far) and ``stalled``. It ends with its standard input.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

PIECE_BYTES = 1 << 16
"""Bytes that are passed on at once."""

UPLOADS = frozenset({"PUT", "POST"})
"""Methods of requests that write."""

_HEAD_BYTES = 1 << 16
_NO_CONTENT, _NOT_MODIFIED = 204, 304

SLOW_DOWN, RESET, STALL, EXPIRED, FULL = "slow down", "reset", "stall", "expired", "full"

_ANSWERS = {
    SLOW_DOWN: ("503 Slow Down", "SlowDown", "Please reduce your request rate."),
    EXPIRED: ("400 Bad Request", "ExpiredToken", "The provided token has expired."),
    FULL: ("507 Insufficient Storage", "XStorageFull", "The disk of the server is full."),
}


@dataclass(frozen=True)
class Fault:
    """A failure of some requests that write, or of all requests if `reads` is true."""

    kind: str = ""
    """``slow down``, ``reset``, ``stall``, ``expired`` or ``full``; empty for none."""
    at: int = 0
    """Number of such requests that pass before it."""
    times: int = 0
    """Number of failures; 0 for all further requests."""
    reads: bool = False
    """Whether requests that read fail, too."""
    round_trip_seconds: float = 0.0
    """Delay of each request, and once more of each new connection."""


@dataclass
class Call:
    """A request and its answer."""

    method: str
    path: str
    status: int = 0
    """0 if the connection was cut."""
    up_bytes: int = 0
    """Bytes of the request's body."""
    down_bytes: int = 0
    """Bytes of the answer's body."""
    failed: bool = False
    """Whether the proxy made it fail."""


class _Proxy:
    def __init__(self, upstream_port: int, upstream_host: str) -> None:
        self._upstream = upstream_host, upstream_port
        self._fault = Fault()
        self._calls: list[Call] = []
        self._seen = 0
        self._stalled = False

    async def serve(self) -> None:
        """Answer commands until the standard input ends."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=_HEAD_BYTES)
        commands = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(commands), sys.stdin
        )
        print(json.dumps(server.sockets[0].getsockname()[1]), flush=True)  # noqa: T201 (protocol)
        while line := await commands.readline():
            print(json.dumps(self._obey(json.loads(line))), flush=True)  # noqa: T201 (protocol)

    def _obey(self, command: dict[str, Any]) -> Any:
        match command.pop("do"):
            case "set":
                self._fault, self._seen, self._stalled = Fault(**command), 0, False
                return True
            case "stalled":
                return self._stalled
        taken, self._calls = self._calls, []
        return [asdict(each) for each in taken]

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(self._fault.round_trip_seconds)
        ends = OSError, asyncio.IncompleteReadError, asyncio.CancelledError
        try:
            with contextlib.suppress(*ends):
                while await self._exchange(reader, writer):
                    pass
        finally:
            writer.transport.abort()

    async def _exchange(self, client: asyncio.StreamReader, answer: asyncio.StreamWriter) -> bool:
        """Pass one request and its answer on; return whether the connection stays open."""
        head = await client.readuntil(b"\r\n\r\n")
        method, path, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
        call = Call(method, path)
        self._calls.append(call)
        await asyncio.sleep(self._fault.round_trip_seconds)
        headers, kind = _headers(head), self._failure_of(method)
        call.failed = bool(kind)
        if kind in _ANSWERS:
            return await self._refuse(kind, headers, client, answer, call)
        # versitygw 1.8.0 takes the end of a chunked body for another request, and closes the connection.
        server, request = await asyncio.open_connection(*self._upstream, limit=_HEAD_BYTES)
        try:
            request.write(head)
            if "100-continue" in headers.get("expect", ""):
                interim = await server.readuntil(b"\r\n\r\n")
                answer.write(interim)
                if b" 100" not in interim.split(b"\r\n", 1)[0]:
                    raise ConnectionResetError
            await self._pass_body(client, request, headers, kind, call)
            return await self._answer(method, server, answer, call)
        finally:
            request.transport.abort()

    async def _pass_body(
        self,
        client: asyncio.StreamReader,
        request: asyncio.StreamWriter,
        headers: dict[str, str],
        kind: str,
        call: Call,
    ) -> None:
        """Pass the body of a request on, or half of it if the request is to fail."""
        limit = None
        if kind:
            limit = int(headers.get("content-length", "0")) // 2
        async for piece in _body(client, headers, has_body=_has_body(headers)):
            call.up_bytes += len(piece)
            if limit is not None and call.up_bytes >= limit:
                await self._break(kind, client)
            request.write(piece)
            await request.drain()
        if kind:  # a request without a body
            await self._break(kind, client)

    async def _answer(
        self, method: str, server: asyncio.StreamReader, answer: asyncio.StreamWriter, call: Call
    ) -> bool:
        head = await server.readuntil(b"\r\n\r\n")
        while b" 100 " in head.split(b"\r\n", 1)[0]:
            head = await server.readuntil(b"\r\n\r\n")
        call.status = int(head.split(b" ", 2)[1])
        headers = _headers(head)
        answer.write(head)
        has_body = method != "HEAD" and call.status not in {_NO_CONTENT, _NOT_MODIFIED}
        async for piece in _body(server, headers, has_body=has_body):
            call.down_bytes += len(piece)
            answer.write(piece)
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
            async for piece in _body(client, headers, has_body=_has_body(headers)):
                call.up_bytes += len(piece)
        status, code, message = _ANSWERS[kind]
        body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
        call.status = int(status.split(" ")[0])
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}"
        answer.write(f"{head}\r\nConnection: close\r\n\r\n".encode())
        if call.method != "HEAD":
            answer.write(body)
        await answer.drain()
        answer.close()
        await answer.wait_closed()
        return False

    async def _break(self, kind: str, client: asyncio.StreamReader) -> None:
        """Cut the connections to both ends; a stalled request's when the client has gone."""
        if kind == STALL:
            self._stalled = True
            while await client.read(PIECE_BYTES):
                pass
        raise ConnectionResetError


def _headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _has_body(headers: dict[str, str]) -> bool:
    return "content-length" in headers or "transfer-encoding" in headers


async def _body(reader: asyncio.StreamReader, headers: dict[str, str], *, has_body: bool) -> Any:
    """Yield the pieces of a body with the frames of a chunked one: RFC 9112, section 6.3."""
    if not has_body:
        return
    if "chunked" in headers.get("transfer-encoding", "").lower():
        while True:
            head = await reader.readuntil(b"\r\n")
            length = int(head.partition(b";")[0], 16)
            yield head + await reader.readexactly(length) + await reader.readuntil(b"\r\n")
            if not length:
                return
    left = int(headers.get("content-length", "0"))
    while left:
        piece = await reader.read(min(left, PIECE_BYTES))
        if not piece:
            raise ConnectionResetError
        left -= len(piece)
        yield piece


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_Proxy(int(sys.argv[1]), sys.argv[2]).serve())
