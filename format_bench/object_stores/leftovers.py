"""Folder of the benchmark in a bucket, and the removal of leftovers there.

The benchmark writes below a folder ``format-bench-`` and eight hexadecimal digits, which contains a
marker. Nothing else is ever removed.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapter_core.errors import ObjectStoreError
from format_bench.object_stores.bucket import Bucket, IncompleteUpload, StoredObject

if TYPE_CHECKING:
    from adapter_core import RemoteFile
    from adapter_core.credentials import Credentials

MARKER = ".format-bench"
"""Name of the object that marks a folder as the benchmark's own."""

_CONTENT = {"program": "format-bench", "remove with": "format-bench clean"}
_FOLDER = re.compile(r"(?:^|.*/)format-bench-[0-9a-f]{8}/")


@dataclass(frozen=True)
class Leftovers:
    """Objects and incomplete uploads in folders of the benchmark."""

    folders: tuple[str, ...]
    """Prefixes of the folders, each with a slash at its end."""
    objects: tuple[StoredObject, ...]
    uploads: tuple[IncompleteUpload, ...]
    others: int
    """Objects and uploads below the address that are not the benchmark's."""


def new_folder(below: RemoteFile, credentials: Credentials | None = None) -> RemoteFile:
    """Create a folder of the benchmark below an address, and return its address without a slash.

    Parameters
    ----------
    below : RemoteFile
        Address in a bucket.
    credentials : Credentials, optional
        By default those of the usual places.

    Raises
    ------
    ObjectStoreError
        If the marker cannot be written.
    """
    name = f"format-bench-{secrets.token_hex(4)}"
    folder = replace(below, url=f"{below.url.rstrip('/')}/{name}")
    Bucket(below, credentials).put(f"{folder.key}/{MARKER}", json.dumps(_CONTENT).encode())
    return folder


def find_leftovers(address: RemoteFile) -> Leftovers:
    """Return the benchmark's leftovers below an address.

    Raises
    ------
    ObjectStoreError
        If no folder of the benchmark is there, or the server refuses or cannot be reached.
    """
    bucket = Bucket(address)
    prefix = f"{address.key.rstrip('/')}/" if address.key.rstrip("/") else ""
    objects = bucket.objects(prefix)
    uploads = bucket.uploads(prefix)
    folders = tuple(each.key.removesuffix(MARKER) for each in objects if _is_marker(bucket, each.key))
    own = [each for each in objects if each.key.startswith(folders)] if folders else []
    own_uploads = [each for each in uploads if each.key.startswith(folders)] if folders else []
    if not folders:
        raise ObjectStoreError(
            f"{address.url}: there is no folder format-bench-* with the marker {MARKER}, "
            "so nothing is removed"
        )
    others = len(objects) - len(own) + len(uploads) - len(own_uploads)
    return Leftovers(folders, tuple(own), tuple(own_uploads), others)


def remove_leftovers(address: RemoteFile, found: Leftovers) -> None:
    """Remove what `find_leftovers` found; the markers last, since an interrupted removal is repeated.

    Raises
    ------
    ObjectStoreError
        If the server refuses or cannot be reached.
    """
    bucket = Bucket(address)
    for upload in found.uploads:
        bucket.abort(upload)
    for each in sorted(found.objects, key=lambda each: each.key.endswith(f"/{MARKER}")):
        bucket.remove(each.key)


def _is_marker(bucket: Bucket, key: str) -> bool:
    """Return whether a key names a marker with its content, in a folder of the benchmark's form."""
    folder = key.removesuffix(MARKER)
    if not key.endswith(MARKER) or not _FOLDER.fullmatch(folder):
        return False
    return bucket.get(key) == json.dumps(_CONTENT).encode()
