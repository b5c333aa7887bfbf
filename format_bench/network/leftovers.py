"""Folder of the benchmark in a bucket, and the removal of leftovers there.

The benchmark writes below a folder ``format-bench-`` and eight hexadecimal digits, which contains a
marker. Nothing else is ever removed, and the folder of a live measurement by force alone.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapter_core.errors import ObjectStoreError
from format_bench.network import leases
from format_bench.network.bucket import Bucket, IncompleteUpload, StoredObject
from format_bench.network.leases import MARKER, Holder, Lease

if TYPE_CHECKING:
    from adapter_core import RemoteFile
    from adapter_core.credentials import Credentials

_FOLDER = re.compile(r"(?:^|.*/)format-bench-[0-9a-f]{8}/")


@dataclass(frozen=True)
class LiveFolder:
    """A folder in which a measurement is at work."""

    prefix: str
    """With a slash at its end."""
    lease: Lease


@dataclass(frozen=True)
class Leftovers:
    """Objects and incomplete uploads in folders of the benchmark."""

    folders: tuple[str, ...]
    """Prefixes of the folders to empty, each with a slash at its end."""
    objects: tuple[StoredObject, ...]
    uploads: tuple[IncompleteUpload, ...]
    others: int
    """Objects and uploads below the address that are not to be removed."""
    live: tuple[LiveFolder, ...] = ()
    """Folders of live measurements, which stay unless forced, and whose markers stay in any case."""


def new_folder(below: RemoteFile, credentials: Credentials | None = None) -> RemoteFile:
    """Create a folder of the benchmark below an address, and return its address without a slash.

    Parameters
    ----------
    below : RemoteFile
        Address in a bucket.
    credentials : Credentials, optional
        By default the usual places.

    Raises
    ------
    ObjectStoreError
        If the marker cannot be written, or the server does not keep it.
    """
    name = f"format-bench-{secrets.token_hex(4)}"
    folder = replace(below, url=f"{below.url.rstrip('/')}/{name}")
    bucket = Bucket(below, credentials)
    leases.write(bucket, folder.key, Holder.here())
    # Servers of other protocols may accept anything.
    if not leases.read(bucket, f"{folder.key}/{MARKER}"):
        raise ObjectStoreError(f"{folder.url}: {below.origin} is not an S3 server: it kept no object")
    return folder


def find_leftovers(address: RemoteFile, *, with_live: bool = False) -> Leftovers:
    """Return the benchmark's leftovers below an address.

    Parameters
    ----------
    address : RemoteFile
        Address in a bucket.
    with_live : bool
        Also what live measurements have written, except the markers of their folders: without these,
        what they write later could not be told from a user's own objects.

    Raises
    ------
    ObjectStoreError
        If no folder of the benchmark is there, or the server refuses or cannot be reached.
    """
    bucket = Bucket(address)
    prefix = f"{address.key.rstrip('/')}/" if address.key.rstrip("/") else ""
    objects = bucket.objects(prefix)
    uploads = bucket.uploads(prefix)
    leases = {
        each.key.removesuffix(MARKER): found for each in objects if (found := _lease(bucket, each.key))
    }
    if not leases:
        raise ObjectStoreError(
            f"{address.url}: there is no folder format-bench-* with the marker {MARKER}, "
            "so nothing is removed"
        )
    live = tuple(LiveFolder(folder, each) for folder, each in leases.items() if each.is_live)
    kept = {f"{each.prefix}{MARKER}" for each in live}
    folders = tuple(each for each in leases if with_live or not leases[each].is_live)
    own = tuple(each for each in objects if each.key.startswith(folders) and each.key not in kept)
    own_uploads = tuple(each for each in uploads if each.key.startswith(folders))
    others = len(objects) - len(own) + len(uploads) - len(own_uploads)
    return Leftovers(folders, own, own_uploads, others, live)


def remove_leftovers(address: RemoteFile, found: Leftovers) -> None:
    """Remove leftovers; the markers last, since an interrupted removal is repeated.

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


def remove_folder(folder: RemoteFile) -> None:
    """Remove a folder of this process's own measurement, which has ended.

    Raises
    ------
    ObjectStoreError
        If the server refuses or cannot be reached.
    """
    bucket = Bucket(folder)
    # It may have been removed too early, with what had been written until then.
    leases.write(bucket, folder.key, Holder.here())
    remove_leftovers(folder, find_leftovers(folder, with_live=True))
    bucket.remove(f"{folder.key}/{MARKER}")


def _lease(bucket: Bucket, key: str) -> Lease | None:
    """Return the lease of a key that names a marker, in a folder of the benchmark's form."""
    folder = key.removesuffix(MARKER)
    if not key.endswith(MARKER) or not _FOLDER.fullmatch(folder):
        return None
    return leases.read(bucket, key)
