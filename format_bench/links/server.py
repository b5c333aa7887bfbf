"""HTTP/1.1 range server on loopback that delays, paces and records requests; it also serves S3.

HEAD and GET with ranges follow RFC 9110, several ranges in one response its ``multipart/byteranges``.
Of S3, it has ListObjectsV2, GetObject and HeadObject at path-style addresses, without signatures:
https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html. A bucket is a folder.

The process reads commands from its standard input, one JSON object a line, and answers each by a line:
``open`` (listens at another port), ``set`` (`Conditions`) and ``take`` (the `Exchange` records so far).
It ends with its standard input.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
import time
import weakref
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from email.utils import formatdate
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from aiohttp import web

PIECE_BYTES = 1 << 16
"""Bytes that are sent at once."""

BOUNDARY = "format-bench-range"
"""Boundary of responses with several ranges."""

MOST_KEYS = 1000
"""Keys in one response of ListObjectsV2."""

_OK, _PARTIAL, _NOT_FOUND, _NOT_ALLOWED, _UNSATISFIABLE = 200, 206, 404, 405, 416

_RESET_AFTER = 1 << 10
"""Bytes sent before a connection is reset."""


@dataclass(frozen=True)
class Conditions:
    """Delay, pace and failures of all responses."""

    round_trip_seconds: float = 0.0
    """Time that the server sleeps before each response, and once more for each new connection."""
    bytes_per_second: float = 0.0
    """Bandwidth that all connections share; 0 if not limited."""
    failure: str = ""
    """``503`` or another status of all responses; ``reset`` to cut bodies short; empty for none."""


@dataclass
class Exchange:
    """A request and its response."""

    port: int
    """Port of the server, which distinguishes commands."""
    connection: int
    """Number of the connection, from 0."""
    method: str
    path: str
    """Path with the query."""
    ranges: list[tuple[int, int]]
    """Offset and length of each requested part; empty for responses without the contents of a file."""
    status: int = 0
    sent_bytes: int = 0
    """Bytes of the body, with the frames of several ranges."""
    start_seconds: float = 0.0
    """Arrival of the request, on the server's monotonic clock."""
    seconds: float = 0.0
    """Time until the last byte was handed to the kernel."""


class _Server:
    def __init__(self, root: Path, host: str) -> None:
        self._root = root.resolve()
        self._host = host
        self._conditions = Conditions()
        self._exchanges: list[Exchange] = []
        self._connections: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._accepted = 0
        self._free_at = 0.0

    async def serve(self) -> None:
        """Answer commands until the standard input ends."""
        from aiohttp import web

        # Connections are cut on purpose, which aiohttp would report as errors.
        logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
        runner = web.ServerRunner(web.Server(self._handle, access_log=None))
        await runner.setup()
        commands = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(commands), sys.stdin
        )
        while line := await commands.readline():
            print(json.dumps(await self._obey(runner, json.loads(line))), flush=True)  # noqa: T201 (protocol)
        await runner.cleanup()

    async def _obey(self, runner: web.ServerRunner, command: dict[str, Any]) -> Any:
        from aiohttp import web

        match command.pop("do"):
            case "open":
                site = web.TCPSite(runner, self._host, 0, backlog=128)
                await site.start()
                return runner.addresses[-1][1]
            case "set":
                self._conditions = Conditions(**command)
                return asdict(self._conditions)
        taken, self._exchanges = self._exchanges, []
        return [asdict(each) for each in taken]

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        start = time.monotonic()
        is_new, connection, port = self._connection_of(request)
        await asyncio.sleep(self._conditions.round_trip_seconds * (2 if is_new else 1))
        exchange = Exchange(port, connection, request.method, request.path_qs, [], 0, 0, start)
        self._exchanges.append(exchange)
        try:
            response = await self._respond(request, exchange)
            exchange.status = response.status
            return response
        finally:
            exchange.seconds = time.monotonic() - start

    def _connection_of(self, request: web.BaseRequest) -> tuple[bool, int, int]:
        transport = request.transport
        if transport is None:
            raise ConnectionResetError
        is_new = transport not in self._connections
        if is_new:
            self._connections[transport] = self._accepted
            self._accepted += 1
        return is_new, self._connections[transport], transport.get_extra_info("sockname")[1]

    async def _respond(self, request: web.BaseRequest, exchange: Exchange) -> web.StreamResponse:
        from aiohttp import web

        failure = self._conditions.failure
        if failure.isdigit():
            return web.Response(status=int(failure), text=_error_xml("ServiceUnavailable"))
        if request.method not in {"GET", "HEAD"}:
            return web.Response(status=_NOT_ALLOWED, text=_error_xml("MethodNotAllowed"))
        path = (self._root / request.path.lstrip("/")).resolve()
        if not path.is_relative_to(self._root):
            return web.Response(status=_NOT_FOUND, text=_error_xml("NoSuchKey"))
        if path.parent == self._root and path.is_dir():
            query = dict(request.query) if request.method == "GET" else {}
            text = _listing_xml(path, query)
            exchange.sent_bytes = len(text.encode())
            return web.Response(text=text, content_type="application/xml")
        if not path.is_file():
            return web.Response(status=_NOT_FOUND, text=_error_xml("NoSuchKey"))
        return await self._send(request, exchange, path)

    async def _send(
        self, request: web.BaseRequest, exchange: Exchange, path: Path
    ) -> web.StreamResponse:
        from aiohttp import web

        size, headers = _facts(path)
        wanted = request.headers.get("Range", "")
        ranges = _ranges(wanted, size) if wanted else [(0, size)]
        if not ranges:
            return web.Response(status=_UNSATISFIABLE, headers={"Content-Range": f"bytes */{size}"})
        parts = _parts(ranges, size) if len(ranges) > 1 else [(b"", *ranges[0])]
        end = f"\r\n--{BOUNDARY}--\r\n".encode() if len(ranges) > 1 else b""
        if len(ranges) > 1:
            headers["Content-Type"] = f"multipart/byteranges; boundary={BOUNDARY}"
        elif wanted:
            offset, length = ranges[0]
            headers["Content-Range"] = f"bytes {offset}-{offset + length - 1}/{size}"
        response = web.StreamResponse(status=_PARTIAL if wanted else _OK, headers=headers)
        response.content_length = sum(len(head) + length for head, _, length in parts) + len(end)
        await response.prepare(request)
        if request.method == "HEAD":
            return response
        exchange.ranges = ranges
        async for piece in _pieces(path, parts, end):
            await self._wait_for_turn(len(piece))
            if self._conditions.failure == "reset" and request.transport is not None:
                await response.write(piece[:_RESET_AFTER])
                request.transport.abort()
                raise ConnectionResetError
            await response.write(piece)
            exchange.sent_bytes += len(piece)
        await response.write_eof()
        return response

    async def _wait_for_turn(self, length: int) -> None:
        """Wait until the shared link has sent that many bytes more."""
        if self._conditions.bytes_per_second:
            seconds = length / self._conditions.bytes_per_second
            self._free_at = max(self._free_at, time.monotonic()) + seconds
            await asyncio.sleep(self._free_at - time.monotonic())


def _facts(path: Path) -> tuple[int, dict[str, str]]:
    """Return the size of a file in bytes, and the headers of its responses."""
    facts = path.stat()
    return facts.st_size, {
        "Accept-Ranges": "bytes",
        "Last-Modified": formatdate(facts.st_mtime, usegmt=True),
        "ETag": f'"{facts.st_size:x}-{facts.st_mtime_ns:x}"',
        "Content-Type": "application/octet-stream",
    }


def _ranges(header: str, size: int) -> list[tuple[int, int]]:
    """Return offset and length of each satisfiable range: RFC 9110, section 14.1.2."""
    found = []
    for each in header.removeprefix("bytes=").split(","):
        first, _, last = each.strip().partition("-")
        start = int(first) if first else max(0, size - int(last))
        stop = min(int(last) + 1, size) if first and last else size
        if start < stop:
            found.append((start, stop - start))
    return found


def _parts(ranges: list[tuple[int, int]], size: int) -> list[tuple[bytes, int, int]]:
    """Return head, offset and length of each part of a response: RFC 9110, section 14.6."""
    return [
        (
            f"\r\n--{BOUNDARY}\r\nContent-Type: application/octet-stream\r\n"
            f"Content-Range: bytes {offset}-{offset + length - 1}/{size}\r\n\r\n".encode(),
            offset,
            length,
        )
        for offset, length in ranges
    ]


async def _pieces(path: Path, parts: list[tuple[bytes, int, int]], end: bytes) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        for head, offset, length in parts:
            if head:
                yield head
            file.seek(offset)
            for position in range(0, length, PIECE_BYTES):
                yield file.read(min(PIECE_BYTES, length - position))
    if end:
        yield end


def _listing_xml(bucket: Path, query: dict[str, str]) -> str:
    """Return the response of ListObjectsV2."""
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    after = query.get("continuation-token") or query.get("start-after", "")
    files = {str(each.relative_to(bucket)): each for each in bucket.rglob("*") if each.is_file()}
    entries: dict[str, str] = {}
    for key in sorted(files):
        if not key.startswith(prefix):
            continue
        head, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
        if found:
            folder = prefix + head + delimiter
            entries[folder] = f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>"
        else:
            entries[key] = _contents_xml(key, files[key])
    names = [name for name in entries if name > after]
    shown = names[: int(query.get("max-keys", MOST_KEYS))]
    more = len(shown) < len(names)
    token = f"<NextContinuationToken>{escape(shown[-1])}</NextContinuationToken>" if more else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{escape(bucket.name)}</Name><Prefix>{escape(prefix)}</Prefix>"
        f"<KeyCount>{len(shown)}</KeyCount><MaxKeys>{MOST_KEYS}</MaxKeys>"
        f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}"
        + "".join(entries[name] for name in shown)
        + "</ListBucketResult>"
    )


def _contents_xml(key: str, file: Path) -> str:
    facts = file.stat()
    modified = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(facts.st_mtime))
    return (
        f"<Contents><Key>{escape(key)}</Key><LastModified>{modified}</LastModified>"
        f"<Size>{facts.st_size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
    )


def _error_xml(code: str) -> str:
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f"{head}<Error><Code>{code}</Code><Message>{code}</Message></Error>"


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_Server(Path(sys.argv[1]), sys.argv[2]).serve())
