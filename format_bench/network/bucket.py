"""Client of one S3 bucket: lists and removes objects and incomplete uploads.

The clients of formats list no incomplete uploads, so signed requests are sent by requests.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as ET

from adapter_core.availability import import_failure, install_hint
from adapter_core.credentials import Credentials, without_secrets
from adapter_core.errors import ObjectStoreError
from adapter_core.text import printable
from format_bench.network.environment import LOOPBACK_HOSTS

if TYPE_CHECKING:
    import requests

    from adapter_core import RemoteFile

# A store far away answers within seconds; one that is gone must not hold up the removal of a folder.
_TIMEOUT_SECONDS = 30
_LISTS = frozenset({"ListBucketResult", "ListMultipartUploadsResult"})
# Enough to tell a page of HTML from a list of S3.
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
        By default from the usual places; without any, requests have no signature.

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
        self.name, self._origin = address.bucket, address.origin
        self._credentials = credentials or address.credentials()
        self._session = _session_to(place.hostname, address.region, self._credentials)

    def create(self) -> None:
        """Create the bucket; one that exists is left as it is."""
        self._request("PUT", accepted=(HTTPStatus.CONFLICT,))

    def put(self, key: str, body: bytes) -> None:
        """Write a small object."""
        self._request("PUT", key, body=body)

    def get(self, key: str) -> tuple[bytes, dict[str, str]]:
        """Return the contents of a small object, and the headers of the answer in lower case."""
        return self._request("GET", key)

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
        self._request("DELETE", key, accepted=(HTTPStatus.NOT_FOUND,))

    def abort(self, upload: IncompleteUpload) -> None:
        """Remove an incomplete upload with its parts; a missing one is ignored."""
        query = {"uploadId": upload.upload_id}
        self._request("DELETE", upload.key, query, accepted=(HTTPStatus.NOT_FOUND,))

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
        body, _ = self._request("GET", query=query)
        page = _parsed(body)
        if page is None or _name(page) not in _LISTS:
            raise ObjectStoreError(
                f"{self._origin} is not an S3 server: its list of the bucket {self.name} starts with "
                f"{printable(repr(body[:_SHOWN_BYTES].decode(errors='replace')))}"
            )
        return page

    def _request(
        self,
        method: str,
        key: str = "",
        query: dict[str, str] | None = None,
        body: bytes = b"",
        accepted: Collection[HTTPStatus] = (),
    ) -> tuple[bytes, dict[str, str]]:
        """Return the body and the headers of an answer; nothing if its error is accepted."""
        import requests

        url = self._origin + quote(f"/{self.name}/{key}" if key else f"/{self.name}", safe="/-_.~")
        try:
            # A redirection would lead to a server that the user has not named.
            answer = self._session.request(
                method,
                url,
                query,
                body or None,
                timeout=_TIMEOUT_SECONDS,
                allow_redirects=False,
                # The authorities that all clients of S3 take; the session's are those of any program.
                verify=os.environ.get("AWS_CA_BUNDLE") or None,
            )
            if answer.status_code < HTTPStatus.MULTIPLE_CHOICES:
                return answer.content, {name.lower(): text for name, text in answer.headers.items()}
            if answer.status_code in accepted:
                return b"", {}
            page = _parsed(answer.content)
            reason = (_text(page, "Code") if page is not None else "") or answer.reason
            problem = f"{answer.status_code} {reason}"
            if answer.status_code in _REFUSALS and not self._credentials:
                problem += f"; {NO_CREDENTIALS}"
        except (requests.RequestException, OSError) as error:
            problem = str(getattr(error.args[0] if error.args else "", "reason", error))
        message = printable(without_secrets(f"s3://{self.name}/{key}: {method} failed: {problem}"))
        raise ObjectStoreError(message) from None


def _session_to(host: str, region: str, credentials: Credentials | None) -> requests.Session:
    """Return a client whose requests are signed, if there are credentials.

    Raises
    ------
    ObjectStoreError
        If a library of the client is missing.
    """
    reason = import_failure("requests_aws4auth")
    if reason:
        raise ObjectStoreError(f"no client of S3: {reason}; try: {install_hint('links')}")
    import requests
    from requests_aws4auth import AWS4Auth

    session = requests.Session()
    session.trust_env = host not in LOOPBACK_HOSTS.split(",")
    # The authorities that the system trusts, as other programs do.
    places = ssl.get_default_verify_paths()
    session.verify = places.cafile or places.capath or True
    # Without a function, the keys of a .netrc file would be sent.
    session.auth = lambda request: request
    if credentials:
        keys, token = (credentials.access_key, credentials.secret_key), credentials.session_token
        session.auth = AWS4Auth(*keys, region, "s3", session_token=token or None)
    return session


def _parsed(body: bytes) -> ET.Element | None:
    """Return an answer in XML; None if it is none."""
    try:
        return ET.fromstring(body)  # noqa: S314 (the user's own server)
    except ET.ParseError:
        return None


def _children(page: ET.Element, name: str) -> list[ET.Element]:
    return [each for each in page if _name(each) == name]


def _name(element: ET.Element) -> str:
    # Amazon's answers have a namespace, some servers' have none.
    return element.tag.rpartition("}")[2]


def _text(page: ET.Element, name: str) -> str:
    return next((each.text or "" for each in _children(page, name)), "")


def _size(entry: ET.Element) -> int:
    text = _text(entry, "Size")
    if not text.isdecimal():
        raise ObjectStoreError(f"the server lists {_text(entry, 'Key')!r} without a size in bytes")
    return int(text)
