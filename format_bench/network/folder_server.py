"""Server of a folder by HTTP/1.1 and S3, without signatures: for reads over links, and for tests.

GET and HEAD with ranges follow RFC 9110, several ranges in one response its ``multipart/byteranges``. Of
S3 it has the calls that the formats' libraries make, at path-style addresses: GetObject, HeadObject,
PutObject (also aws-chunked, If-Match, If-None-Match), CopyObject, DeleteObject, DeleteObjects,
ListObjectsV2, multipart uploads and their list. A bucket is a subfolder, an object a file.
https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from adapter_core.availability import import_failure, install_hint
from adapter_core.errors import LinkError
from format_bench.network.environment import LOOPBACK
from format_bench.network.processes import CommandedProcess, serve_commands

if TYPE_CHECKING:
    from aiohttp import web

BOUNDARY = "format-bench-range"
"""Boundary of responses with several ranges."""

# As much as the proxy passes on at a time.
_PIECE_BYTES = 1 << 16
_LARGEST_BODY = 1 << 30  # aiohttp refuses more than 1 MiB unless it is told
_MOST_KEYS = 1000  # of S3 itself


class FolderServer(CommandedProcess):
    """A server of a folder on loopback, in a process of its own, which ends with the block.

    Parameters
    ----------
    folder : Path
        The folder, whose subfolders are the buckets.
    prefix : sequence of str
        Command that starts it in a namespace; empty for none.
    writable : bool
        Whether requests that write are answered.

    Raises
    ------
    LinkError
        If the library of the server is missing.
    """

    def __init__(self, folder: Path, prefix: Sequence[str] = (), *, writable: bool = False) -> None:
        reason = import_failure("aiohttp")
        if reason:
            raise LinkError(f"no server of a folder: {reason}; try: {install_hint('links')}")
        super().__init__(__name__, str(folder), "w" if writable else "r", prefix=prefix)

    def _start(self, started: contextlib.ExitStack) -> None:
        super()._start(started)
        self.port: int = self.answer()


@dataclass
class _Upload:
    key: str
    parts: dict[int, bytes] = field(default_factory=dict)


class _Folder:
    def __init__(self, root: Path, *, writable: bool) -> None:
        self._root, self._writable = root.resolve(), writable
        self._uploads: dict[str, dict[str, _Upload]] = {}
        self._numbers = itertools.count(1)
        self._written_ns = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        is_read = request.method in {"GET", "HEAD"}
        if not is_read and not self._writable:
            return _error("MethodNotAllowed", HTTPStatus.METHOD_NOT_ALLOWED)
        name, _, key = unquote(request.raw_path.partition("?")[0].lstrip("/")).partition("/")
        bucket, place = self._root / name, (self._root / name / key).resolve()
        if bucket.parent != self._root or not place.is_relative_to(bucket):
            return _error("NoSuchKey", HTTPStatus.NOT_FOUND)
        body = b"" if is_read else _decoded(await request.read(), request.headers)
        if not key and request.method == "PUT":
            bucket.mkdir(exist_ok=True)
            return _response()
        if not bucket.is_dir():
            return _error("NoSuchBucket", HTTPStatus.NOT_FOUND)
        if not key:
            return self._of_bucket(request, bucket, body)
        if "uploadId" in request.query or "uploads" in request.query:
            return self._of_upload(request, bucket, key, body)
        if request.method == "PUT":
            return self._put(request, place, body, is_folder=key.endswith("/"))
        if request.method == "DELETE":
            _remove(place, bucket)
            return _response(HTTPStatus.NO_CONTENT)
        return await _send(request, place)

    def _of_bucket(self, request: web.Request, bucket: Path, body: bytes) -> web.StreamResponse:
        if request.method == "POST" and "delete" in request.query:
            for each in ET.fromstring(body).iter():  # noqa: S314 (from our own clients)
                if each.tag.endswith("Key"):
                    _remove(bucket / (each.text or ""), bucket)
            return _response(text="<DeleteResult/>")
        if request.method == "GET" and "uploads" in request.query:
            found = [
                f"<Upload><Key>{escape(each.key)}</Key><UploadId>{name}</UploadId></Upload>"
                for name, each in self._uploads.get(bucket.name, {}).items()
                if each.key.startswith(request.query.get("prefix", ""))
            ]
            text = "".join(found)
            return _response(text=f"<ListMultipartUploadsResult>{text}</ListMultipartUploadsResult>")
        return _response(text=_listing(bucket, dict(request.query)))

    def _of_upload(
        self, request: web.Request, bucket: Path, key: str, body: bytes
    ) -> web.StreamResponse:
        uploads, name = self._uploads.setdefault(bucket.name, {}), request.query.get("uploadId", "")
        facts = f"<Bucket>{bucket.name}</Bucket><Key>{escape(key)}</Key>"
        if request.method == "POST" and "uploads" in request.query:
            name = f"upload{next(self._numbers)}"
            uploads[name] = _Upload(key)
            tag = "InitiateMultipartUploadResult"
            return _response(text=f"<{tag}>{facts}<UploadId>{name}</UploadId></{tag}>")
        if name not in uploads:
            return _error("NoSuchUpload", HTTPStatus.NOT_FOUND)
        if request.method == "PUT":
            number = int(request.query["partNumber"])
            uploads[name].parts[number] = body
            return _response(ETag=f'"{name}-{number}"')
        upload = uploads.pop(name)
        if request.method == "DELETE":
            return _response(HTTPStatus.NO_CONTENT)
        whole = b"".join(part for _, part in sorted(upload.parts.items()))
        tag, etag = "CompleteMultipartUploadResult", self._write(bucket / key, whole)
        return _response(text=f"<{tag}>{facts}<ETag>{escape(etag)}</ETag></{tag}>")

    def _put(
        self, request: web.Request, place: Path, body: bytes, *, is_folder: bool
    ) -> web.StreamResponse:
        old = _etag(place) if place.is_file() else ""
        wanted = request.headers.get("If-Match", "").strip('"')
        is_taken = request.headers.get("If-None-Match") == "*" and old
        if is_taken or (wanted and wanted != old.strip('"')):
            return _error("PreconditionFailed", HTTPStatus.PRECONDITION_FAILED)
        source = unquote(request.headers.get("x-amz-copy-source", "")).lstrip("/")
        if source:
            if not (self._root / source).is_file():
                return _error("NoSuchKey", HTTPStatus.NOT_FOUND)
            body = (self._root / source).read_bytes()
        if is_folder:  # an empty object that marks one
            place.mkdir(parents=True, exist_ok=True)
            return _response(ETag='"folder"')
        etag = self._write(place, body)
        copied = f"<CopyObjectResult><ETag>{escape(etag)}</ETag></CopyObjectResult>" if source else ""
        return _response(text=copied, ETag=etag)

    def _write(self, place: Path, body: bytes) -> str:
        """Write a file and return its new entity tag."""
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(body)
        # Two writes within a tick of the kernel's clock would have the same tag.
        self._written_ns = max(time.time_ns(), self._written_ns + 1)
        os.utime(place, ns=(self._written_ns, self._written_ns))
        return _etag(place)


async def _send(request: web.Request, path: Path) -> web.StreamResponse:
    """Send a file, or ranges of it; several as parts of one answer: RFC 9110, section 14.6."""
    from aiohttp import web

    size, headers = _head(path)
    if not headers:
        return _error("NoSuchKey", HTTPStatus.NOT_FOUND)
    wanted = request.headers.get("Range", "")
    ranges = _ranges(wanted, size) if wanted else [(0, size)]
    if not ranges:
        total = {"Content-Range": f"bytes */{size}"}
        return web.Response(status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers=total)
    heads, end = [b""], b""
    places = [f"bytes {start}-{start + length - 1}/{size}" for start, length in ranges]
    if len(ranges) > 1:
        kind = f"Content-Type: {headers['Content-Type']}"
        texts = [f"\r\n--{BOUNDARY}\r\n{kind}\r\nContent-Range: {each}\r\n\r\n" for each in places]
        heads, end = [each.encode() for each in texts], f"\r\n--{BOUNDARY}--\r\n".encode()
        headers["Content-Type"] = f"multipart/byteranges; boundary={BOUNDARY}"
    elif wanted:
        headers["Content-Range"] = places[0]
    status = HTTPStatus.PARTIAL_CONTENT if wanted else HTTPStatus.OK
    response = web.StreamResponse(status=status, headers=headers)
    response.content_length = len(b"".join([*heads, end])) + sum(length for _, length in ranges)
    await response.prepare(request)
    if request.method == "GET":
        with path.open("rb") as file:
            for head, (start, length) in zip(heads, ranges, strict=True):
                await response.write(head)
                file.seek(start)
                for position in range(0, length, _PIECE_BYTES):
                    await response.write(file.read(min(_PIECE_BYTES, length - position)))
        await response.write(end)
        await response.write_eof()
    return response


def _head(path: Path) -> tuple[int, dict[str, str]]:
    """Return the size of a file and the headers of an answer with it; none if it is missing."""
    if not path.is_file():
        return 0, {}
    facts = path.stat()
    return facts.st_size, {
        "Accept-Ranges": "bytes",
        "Last-Modified": formatdate(facts.st_mtime, usegmt=True),
        "ETag": _etag(path),
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


def _remove(place: Path, bucket: Path) -> None:
    """Remove a file, and the folders that it leaves empty; as objects have none."""
    if place.is_dir() and place != bucket:
        with contextlib.suppress(OSError):
            place.rmdir()
    elif place.is_file():
        place.unlink()
    for folder in place.parents:
        if folder == bucket or not folder.is_relative_to(bucket) or any(folder.iterdir()):
            return
        folder.rmdir()


def _etag(path: Path) -> str:
    facts = path.stat()
    return f'"{facts.st_size:x}-{facts.st_mtime_ns:x}"'


def _decoded(body: bytes, headers: Mapping[str, str]) -> bytes:
    """Return a body without the frames of aws-chunked.

    https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
    """
    if not headers.get("x-amz-content-sha256", "").startswith("STREAMING-"):
        return body
    parts: list[bytes] = []
    position = 0
    while True:
        head, _, _ = body[position:].partition(b"\r\n")
        length = int(head.partition(b";")[0], 16)
        if not length:
            return b"".join(parts)
        position += len(head) + 2
        parts.append(body[position : position + length])
        position += length + 2


def _listing(bucket: Path, query: dict[str, str]) -> str:
    """Return the response of ListObjectsV2."""
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    after = query.get("continuation-token") or query.get("start-after", "")
    files = {str(each.relative_to(bucket)): each for each in bucket.rglob("*") if each.is_file()}
    entries: dict[str, str] = {}
    for key in sorted(each for each in files if each.startswith(prefix)):
        head, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
        if found:
            folder = prefix + head + delimiter
            entries[folder] = f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>"
        else:
            facts = files[key].stat()
            modified = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(facts.st_mtime))
            entries[key] = (
                f"<Contents><Key>{escape(key)}</Key><LastModified>{modified}</LastModified>"
                f"<ETag>{escape(_etag(files[key]))}</ETag><Size>{facts.st_size}</Size>"
                "<StorageClass>STANDARD</StorageClass></Contents>"
            )
    names = [name for name in entries if name > after]
    shown = names[: int(query.get("max-keys", _MOST_KEYS))]
    more = len(shown) < len(names)
    token = f"<NextContinuationToken>{escape(shown[-1])}</NextContinuationToken>" if more else ""
    return (
        '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{escape(bucket.name)}</Name><Prefix>{escape(prefix)}</Prefix>"
        f"<KeyCount>{len(shown)}</KeyCount><MaxKeys>{_MOST_KEYS}</MaxKeys>"
        f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}"
        + "".join(entries[name] for name in shown)
        + "</ListBucketResult>"
    )


def _response(status: HTTPStatus = HTTPStatus.OK, text: str = "", **headers: str) -> web.StreamResponse:
    from aiohttp import web

    if not text:
        return web.Response(status=status, headers=headers)
    declaration = '<?xml version="1.0" encoding="UTF-8"?>'
    return web.Response(
        status=status, text=declaration + text, content_type="application/xml", headers=headers
    )


def _error(code: str, status: HTTPStatus) -> web.StreamResponse:
    return _response(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>")


async def _serve(folder: Path, *, writable: bool) -> None:
    from aiohttp import web

    application = web.Application(client_max_size=_LARGEST_BODY)
    application.router.add_route("*", "/{path:.*}", _Folder(folder, writable=writable).handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, 0).start()
    await serve_commands(runner.addresses[0][1], lambda _: None)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(Path(sys.argv[1]), writable=sys.argv[2] == "w"))
