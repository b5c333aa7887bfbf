"""S3 server in memory, for tests where the real one is not built; no measure of speed.

It has the calls that the formats' libraries make, at path-style addresses: GetObject, HeadObject,
PutObject (also aws-chunked, If-Match, If-None-Match), CopyObject, DeleteObject, DeleteObjects,
ListObjectsV2, multipart uploads and their list. Signatures are not verified.
https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import sys
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from aiohttp import web

_LARGEST_BODY = 1 << 30
_MOST_KEYS = 1000


@dataclass(frozen=True)
class _Object:
    body: bytes
    modified: float = field(default_factory=time.time)

    @property
    def etag(self) -> str:
        return f'"{hashlib.md5(self.body, usedforsecurity=False).hexdigest()}"'


@dataclass
class _Upload:
    key: str
    parts: dict[int, bytes] = field(default_factory=dict)


class StandIn:
    """Buckets in memory; each exists from its first use on."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, _Object]] = {}
        self._uploads: dict[str, dict[str, _Upload]] = {}
        self._numbers = itertools.count(1)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        bucket, _, key = unquote(request.raw_path.partition("?")[0].lstrip("/")).partition("/")
        body = _decoded(await request.read(), request.headers.get("x-amz-content-sha256", ""))
        if not key:
            return self._of_bucket(request, bucket, body)
        if "uploads" in request.query or "uploadId" in request.query:
            return self._of_upload(request, bucket, key, body)
        objects = self._objects.setdefault(bucket, {})
        match request.method:
            case "PUT":
                return _put(request, objects, key, body, self._objects)
            case "DELETE":
                objects.pop(key, None)
                return _response(HTTPStatus.NO_CONTENT)
            case "GET" | "HEAD" if key in objects:
                return _get(request, objects[key])
        return _error("NoSuchKey", HTTPStatus.NOT_FOUND)

    def _of_bucket(self, request: web.Request, bucket: str, body: bytes) -> web.StreamResponse:
        objects, uploads = self._objects.setdefault(bucket, {}), self._uploads.get(bucket, {})
        if request.method == "POST" and "delete" in request.query:
            for each in ET.fromstring(body).iter():  # noqa: S314 (from our own tests)
                if each.tag.endswith("Key"):
                    objects.pop(each.text or "", None)
            return _response(text="<DeleteResult/>")
        if request.method != "GET":
            return _response()
        if "uploads" in request.query:
            found = [
                f"<Upload><Key>{escape(each.key)}</Key><UploadId>{name}</UploadId></Upload>"
                for name, each in uploads.items()
                if each.key.startswith(request.query.get("prefix", ""))
            ]
            text = "".join(found)
            return _response(text=f"<ListMultipartUploadsResult>{text}</ListMultipartUploadsResult>")
        return _response(text=_listing(bucket, objects, dict(request.query)))

    def _of_upload(self, request: web.Request, bucket: str, key: str, body: bytes) -> web.StreamResponse:
        uploads, name = self._uploads.setdefault(bucket, {}), request.query.get("uploadId", "")
        if request.method == "POST" and "uploads" in request.query:
            name = f"upload{next(self._numbers)}"
            uploads[name] = _Upload(key)
            tag = "InitiateMultipartUploadResult"
            facts = f"<Key>{escape(key)}</Key><UploadId>{name}</UploadId>"
            return _response(text=f"<{tag}><Bucket>{bucket}</Bucket>{facts}</{tag}>")
        if name not in uploads:
            return _error("NoSuchUpload", HTTPStatus.NOT_FOUND)
        if request.method == "PUT":
            uploads[name].parts[int(request.query["partNumber"])] = body
            return _response(ETag=_Object(body).etag)
        upload = uploads.pop(name)
        if request.method == "DELETE":
            return _response(HTTPStatus.NO_CONTENT)
        whole = b"".join(part for _, part in sorted(upload.parts.items()))
        self._objects.setdefault(bucket, {})[key] = new = _Object(whole)
        tag = "CompleteMultipartUploadResult"
        facts = f"<Bucket>{bucket}</Bucket><Key>{escape(key)}</Key><ETag>{escape(new.etag)}</ETag>"
        return _response(text=f"<{tag}>{facts}</{tag}>")


def _put(
    request: web.Request,
    objects: dict[str, _Object],
    key: str,
    body: bytes,
    buckets: dict[str, dict[str, _Object]],
) -> web.StreamResponse:
    condition, old = request.headers.get("If-Match"), objects.get(key)
    if request.headers.get("If-None-Match") == "*" and old:
        return _error("PreconditionFailed", HTTPStatus.PRECONDITION_FAILED)
    if condition and (old is None or condition.strip('"') != old.etag.strip('"')):
        return _error("PreconditionFailed", HTTPStatus.PRECONDITION_FAILED)
    source = unquote(request.headers.get("x-amz-copy-source", "")).lstrip("/")
    if source:
        bucket, _, name = source.partition("/")
        if name not in buckets.get(bucket, {}):
            return _error("NoSuchKey", HTTPStatus.NOT_FOUND)
        body = buckets[bucket][name].body
    objects[key] = new = _Object(body)
    copied = f"<CopyObjectResult><ETag>{escape(new.etag)}</ETag></CopyObjectResult>" if source else ""
    return _response(text=copied, ETag=new.etag)


def _get(request: web.Request, found: _Object) -> web.StreamResponse:
    body, size = found.body, len(found.body)
    headers = {
        "ETag": found.etag,
        "Accept-Ranges": "bytes",
        "Last-Modified": formatdate(found.modified, usegmt=True),
        "Content-Type": "application/octet-stream",
    }
    status, wanted = HTTPStatus.OK, request.headers.get("Range", "")
    if wanted:
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, size - int(last))
        stop = min(int(last) + 1, size) if first and last else size
        if start >= size:
            return _error("InvalidRange", HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
        body, status = body[start:stop], HTTPStatus.PARTIAL_CONTENT
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    from aiohttp import web

    # aiohttp leaves out the body of an answer to HEAD, and keeps its length.
    return web.Response(status=status, body=body, headers=headers)


def _decoded(body: bytes, sha256: str) -> bytes:
    """Return a body without the frames of aws-chunked.

    https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
    """
    if not sha256.startswith("STREAMING-"):
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


def _listing(bucket: str, objects: dict[str, _Object], query: dict[str, str]) -> str:
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    after = query.get("continuation-token") or query.get("start-after", "")
    entries: dict[str, str] = {}
    for key in sorted(each for each in objects if each.startswith(prefix)):
        head, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
        if found:
            folder = prefix + head + delimiter
            entries[folder] = f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>"
        else:
            each = objects[key]
            modified = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(each.modified))
            entries[key] = (
                f"<Contents><Key>{escape(key)}</Key><LastModified>{modified}</LastModified>"
                f"<ETag>{escape(each.etag)}</ETag><Size>{len(each.body)}</Size>"
                "<StorageClass>STANDARD</StorageClass></Contents>"
            )
    names = [name for name in entries if name > after]
    shown = names[: int(query.get("max-keys", _MOST_KEYS))]
    more = len(shown) < len(names)
    token = f"<NextContinuationToken>{escape(shown[-1])}</NextContinuationToken>" if more else ""
    return (
        f"<ListBucketResult><Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix>"
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


async def _serve(port: int) -> None:
    from aiohttp import web

    application = web.Application(client_max_size=_LARGEST_BODY)
    application.router.add_route("*", "/{path:.*}", StandIn().handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(int(sys.argv[1])))
