"""Client of one S3 bucket: lists and removes objects and incomplete uploads, without a library.

The libraries of formats list no incomplete uploads. Requests are signed with AWS Signature Version 4:
https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import (
    BaseHandler,
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)
from xml.etree import ElementTree as ET

from adapter_core.credentials import Credentials, without_secrets
from adapter_core.errors import ObjectStoreError
from adapter_core.text import printable
from format_bench.links.environment import LOOPBACK_HOSTS

if TYPE_CHECKING:
    from adapter_core import RemoteFile

_TIMEOUT_SECONDS = 30
_LISTS = frozenset({"ListBucketResult", "ListMultipartUploadsResult"})
_SHOWN_BYTES = 40
_REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})

NO_CREDENTIALS = "there are no credentials in the environment or in the profile"


@dataclass(frozen=True)
class StoredObject:
    """An object of a bucket."""

    key: str
    size_bytes: int


@dataclass(frozen=True)
class IncompleteUpload:
    """A multipart upload that was neither completed nor aborted; its parts occupy the store."""

    key: str
    upload_id: str


class Bucket:
    """A bucket of S3, addressed by path.

    Parameters
    ----------
    address : RemoteFile
        Any address in the bucket.
    credentials : Credentials, optional
        By default those of the usual places; without any, requests have no signature.

    Raises
    ------
    ObjectStoreError
        If the address is not one of S3; from each method, if the server refuses or cannot be reached.
    """

    def __init__(self, address: RemoteFile, credentials: Credentials | None = None) -> None:
        if address.scheme != "s3" or not address.bucket:
            raise ObjectStoreError(
                f"{address.url}: only buckets of S3 can be listed, s3://bucket/prefix"
            )
        place = urlsplit(address.origin)
        if place.scheme not in {"http", "https"} or not place.hostname or place.path:
            raise ObjectStoreError(
                f"{address.endpoint}: no address of a server, which is http://host:port or https://host"
            )
        self.name, self._region = address.bucket, address.region
        self._origin, self._opener = address.origin, _opener_to(place.hostname)
        self._credentials = credentials or address.credentials()

    def create(self) -> None:
        """Create the bucket; one that exists is left as it is."""
        self._request("PUT", accepted={HTTPStatus.OK, HTTPStatus.CONFLICT})

    def put(self, key: str, body: bytes) -> None:
        """Write a small object."""
        self._request("PUT", key, body=body)

    def get(self, key: str) -> bytes:
        """Return the contents of a small object."""
        return self._request("GET", key)

    def get_with_headers(self, key: str) -> tuple[bytes, dict[str, str]]:
        """Return the contents of a small object, and the headers of the answer in lower case."""
        return self._answer("GET", key)

    def objects(self, prefix: str = "") -> list[StoredObject]:
        """Return all objects whose key starts with a prefix."""
        return [
            StoredObject(_text(each, "Key"), _size(each))
            for page in self._pages({"list-type": "2", "prefix": prefix}, "NextContinuationToken")
            for each in _children(page, "Contents")
        ]

    def uploads(self, prefix: str = "") -> list[IncompleteUpload]:
        """Return all incomplete uploads whose key starts with a prefix."""
        return [
            IncompleteUpload(_text(each, "Key"), _text(each, "UploadId"))
            for page in self._pages({"uploads": "", "prefix": prefix}, "NextUploadIdMarker")
            for each in _children(page, "Upload")
            if _text(each, "Key").startswith(prefix)
        ]

    def remove(self, key: str) -> None:
        """Remove an object; a missing one is ignored."""
        self._request("DELETE", key, accepted={HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND})

    def abort(self, upload: IncompleteUpload) -> None:
        """Remove an incomplete upload with its parts; a missing one is ignored."""
        accepted = {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND}
        self._request("DELETE", upload.key, {"uploadId": upload.upload_id}, accepted=accepted)

    def _pages(self, query: dict[str, str], next_marker: str) -> Iterator[ET.Element]:
        while True:
            page = self._list(query)
            yield page
            marker = _text(page, next_marker)
            if _text(page, "IsTruncated") != "true" or not marker:
                return
            if next_marker == "NextUploadIdMarker":
                query |= {"upload-id-marker": marker, "key-marker": _text(page, "NextKeyMarker")}
            else:
                query |= {"continuation-token": marker}

    def _list(self, query: dict[str, str]) -> ET.Element:
        """Return a list of S3, one of `_LISTS`; raises ObjectStoreError if the answer is another."""
        body = self._request("GET", query=query)
        try:
            page = ET.fromstring(body)  # noqa: S314 (the user's own server)
        except ET.ParseError:
            page = None
        if page is None or _name(page) not in _LISTS:
            raise ObjectStoreError(
                f"{self._origin} is no server of S3: its list of the bucket {self.name} starts with "
                f"{printable(repr(body[:_SHOWN_BYTES].decode(errors='replace')))}"
            )
        return page

    def _request(
        self,
        method: str,
        key: str = "",
        query: dict[str, str] | None = None,
        body: bytes = b"",
        accepted: frozenset[HTTPStatus] | set[HTTPStatus] = frozenset({HTTPStatus.OK}),
    ) -> bytes:
        return self._answer(method, key, query, body, accepted)[0]

    def _answer(
        self,
        method: str,
        key: str = "",
        query: dict[str, str] | None = None,
        body: bytes = b"",
        accepted: frozenset[HTTPStatus] | set[HTTPStatus] = frozenset({HTTPStatus.OK}),
    ) -> tuple[bytes, dict[str, str]]:
        path = quote(f"/{self.name}/{key}" if key else f"/{self.name}", safe="/-_.~")
        text = "&".join(
            f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
            for name, value in sorted((query or {}).items())
        )
        headers = self._signed(method, path, text, body)
        url = f"{self._origin}{path}{'?' if text else ''}{text}"
        request = Request(url, body or None, headers, method=method)  # noqa: S310 (http or https)
        try:
            with self._opener.open(request, timeout=_TIMEOUT_SECONDS) as response:
                headers = {name.lower(): value for name, value in response.headers.items()}
                return response.read(), headers
        except HTTPError as error:
            with error:
                if error.code in accepted:
                    return b"", {}
                reason = _code(error.read()) or error.reason
            problem = f"{error.code} {reason}"
            if error.code in _REFUSALS and not self._credentials:
                problem += f"; {NO_CREDENTIALS}"
        except (URLError, HTTPException, OSError) as error:
            problem = str(error)
        message = printable(without_secrets(f"s3://{self.name}/{key}: {method} failed: {problem}"))
        raise ObjectStoreError(message) from None

    def _signed(self, method: str, path: str, query: str, body: bytes) -> dict[str, str]:
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(body).hexdigest()
        headers = {
            "host": urlsplit(self._origin).netloc,
            "x-amz-content-sha256": digest,
            "x-amz-date": now,
        }
        found = self._credentials
        if found is None:
            return headers
        if found.session_token:
            headers["x-amz-security-token"] = found.session_token
        names = ";".join(sorted(headers))
        lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        canonical = f"{method}\n{path}\n{query}\n{lines}\n{names}\n{digest}"
        scope = f"{now[:8]}/{self._region}/s3/aws4_request"
        hashed = hashlib.sha256(canonical.encode()).hexdigest()
        key = f"AWS4{found.secret_key}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signed = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashed}"
        signature = hmac.new(key, signed.encode(), "sha256").hexdigest()
        return headers | {
            "authorization": (
                f"AWS4-HMAC-SHA256 Credential={found.access_key}/{scope}, "
                f"SignedHeaders={names}, Signature={signature}"
            )
        }


def _children(page: ET.Element, name: str) -> list[ET.Element]:
    return [each for each in page if _name(each) == name]


def _name(element: ET.Element) -> str:
    # Amazon's answers have a namespace, some servers' have none.
    return element.tag.rpartition("}")[2]


def _opener_to(host: str) -> OpenerDirector:
    """Return a client that follows no redirection, since its headers are signed for one server."""
    opener = OpenerDirector()
    is_loopback = host in LOOPBACK_HOSTS.split(",")
    handlers: list[BaseHandler] = [
        ProxyHandler({} if is_loopback else None),
        *(HTTPHandler(), HTTPSHandler(), HTTPErrorProcessor(), HTTPDefaultErrorHandler()),
    ]
    for each in handlers:
        opener.add_handler(each)
    return opener


def _text(page: ET.Element, name: str) -> str:
    return next((each.text or "" for each in _children(page, name)), "")


def _size(entry: ET.Element) -> int:
    text = _text(entry, "Size")
    if not text.isdecimal():
        raise ObjectStoreError(f"the server lists {_text(entry, 'Key')!r} without a size in bytes")
    return int(text)


def _code(body: bytes) -> str:
    """Return the code of an error in XML; empty if there is none."""
    try:
        return _text(ET.fromstring(body), "Code")  # noqa: S314 (the user's own server)
    except ET.ParseError:
        return ""
