"""Folder of the benchmark in a bucket, its lease, and the removal of leftovers there.

The benchmark writes below a folder ``format-bench-`` and eight hexadecimal digits, which contains a
marker. Nothing else is ever removed, and the folder of a live measurement by force alone.

The marker is the lease of a measurement: it proves that the folder is the benchmark's own. It is written
again and again, so that its age shows whether the measurement is alive, and so that a folder that was
removed too early can still be found, with all objects written there afterwards.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

from adapter_core import RemoteFile
from adapter_core.credentials import Credentials
from adapter_core.errors import ObjectStoreError
from adapter_core.text import printable
from format_bench.network.bucket import Bucket, IncompleteUpload, StoredObject
from format_bench.system.background import repeated

MARKER = ".format-bench"
"""Name of the object that marks a folder as the benchmark's own."""

# Time between two writes of a marker: requests that disturb no measurement of seconds.
REFRESH_SECONDS = 60.0

# Age of a marker from which on its measurement counts as ended, e.g. killed on another machine.
#
# Fifteen writes may fail before: a server or a line can be away for minutes.
LIVE_SECONDS = 900.0

_CONTENT = {"program": "format-bench", "remove with": "format-bench clean"}


@dataclass(frozen=True)
class Holder:
    """Process that measures in a folder."""

    user: str
    host: str
    """Name of the machine."""
    kernel: str
    """Id of the running kernel and of the process namespace, where the number of a process means one."""
    process: int
    start: int
    """Start of the process in ticks since the kernel's start."""
    since: str
    """Time in UTC, ISO 8601."""

    @classmethod
    def here(cls) -> Holder:
        """Return this process."""
        process = os.getpid()
        since = datetime.now(UTC).isoformat(timespec="seconds")
        name, start = os.uname().nodename, _start_time_of(process) or 0
        return cls(_user(), name, _kernel(), process, start, since)

    @property
    def has_ended(self) -> bool:
        """Whether the process is known to have ended; on another machine that is not known."""
        return self.kernel == _kernel() and _start_time_of(self.process) != self.start

    def __str__(self) -> str:
        """Return who measures where since when, in words."""
        return printable(f"process {self.process} of {self.user} on {self.host}, since {self.since}")


@dataclass(frozen=True)
class Lease:
    """Marker of a folder, as a server has it."""

    holder: Holder | None
    """None in a folder of a version without leases."""
    age_seconds: float

    @property
    def is_live(self) -> bool:
        """Whether a measurement may still write to the folder."""
        has_ended = self.holder is None or self.holder.has_ended
        return not has_ended and self.age_seconds < LIVE_SECONDS


def write_lease(bucket: Bucket, folder_key: str, holder: Holder) -> None:
    """Write the marker of a folder.

    Raises
    ------
    ObjectStoreError
        If the server refuses or cannot be reached.
    """
    bucket.put(f"{folder_key}/{MARKER}", json.dumps({**_CONTENT, "holder": asdict(holder)}).encode())


def read_lease(bucket: Bucket, key: str) -> Lease | None:
    """Return the lease that an object of a marker's name contains; None if it is not a marker.

    Raises
    ------
    ObjectStoreError
        If the server refuses or cannot be reached.
    """
    body, headers = bucket.get(key)
    try:
        facts = json.loads(body)
        found = facts.pop("holder", None)
        holder = Holder(**found) if found else None
    except (ValueError, TypeError, AttributeError):
        return None
    return Lease(holder, _age(headers)) if facts == _CONTENT else None


def _age(headers: dict[str, str]) -> float:
    """Return the age of an object by the clock of its server, as clocks of two machines may differ."""
    try:
        now, modified = (parsedate_to_datetime(headers[each]) for each in ("date", "last-modified"))
    except (KeyError, ValueError):
        raise ObjectStoreError("the server sends no date with an object, unlike one of S3") from None
    return (now - modified).total_seconds()


@contextmanager
def kept_alive(bucket: Bucket, folder: RemoteFile) -> Iterator[None]:
    """Write the marker of a folder of this process again and again until the end of the block."""
    holder = Holder.here()

    def refresh() -> None:
        # A server that cannot be reached for a while is the measurement's own affair.
        with contextlib.suppress(ObjectStoreError):
            write_lease(bucket, folder.key, holder)

    # Its end is waited for: else it might write the marker of a folder that has just been removed.
    with repeated(refresh, REFRESH_SECONDS):
        yield


def _start_time_of(process: int) -> int | None:
    """Return the start of a process in ticks since the machine's; None if it has ended."""
    with contextlib.suppress(OSError):
        # After the name in brackets, which may contain spaces.
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return None if fields[0] in {"Z", "X"} else int(fields[19])
    return None


def _kernel() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {Path('/proc/self/ns/pid').readlink()}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


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
    write_lease(bucket, folder.key, Holder.here())
    # Servers of other protocols may accept anything.
    if not read_lease(bucket, f"{folder.key}/{MARKER}"):
        raise ObjectStoreError(f"{folder.url}: {below.origin} is not an S3 server: it kept no object")
    return folder


def find_leftovers(address: RemoteFile, *, with_live: bool = False) -> Leftovers:
    """Return the benchmark's leftovers below an address.

    Parameters
    ----------
    address : RemoteFile
        Address in a bucket.
    with_live : bool
        Also objects of live measurements, except the markers of their folders: without these, later
        their objects could not be distinguished from a user's own.

    Raises
    ------
    ObjectStoreError
        If no folder of the benchmark is there, or the server refuses or cannot be reached.
    """
    bucket = Bucket(address)
    prefix = f"{address.key.rstrip('/')}/" if address.key.rstrip("/") else ""
    objects = bucket.objects(prefix)
    uploads = bucket.uploads(prefix)
    held = {
        each.key.removesuffix(MARKER): found for each in objects if (found := _lease(bucket, each.key))
    }
    if not held:
        raise ObjectStoreError(
            f"{address.url}: there is no folder format-bench-* with the marker {MARKER}, "
            "so nothing is removed"
        )
    live = tuple(LiveFolder(folder, each) for folder, each in held.items() if each.is_live)
    kept = {f"{each.prefix}{MARKER}" for each in live}
    folders = tuple(each for each in held if with_live or not held[each].is_live)
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
    write_lease(bucket, folder.key, Holder.here())
    remove_leftovers(folder, find_leftovers(folder, with_live=True))
    bucket.remove(f"{folder.key}/{MARKER}")


def _lease(bucket: Bucket, key: str) -> Lease | None:
    """Return the lease of a key that names a marker, in a folder of the benchmark's form."""
    folder = key.removesuffix(MARKER)
    if not key.endswith(MARKER) or not _FOLDER.fullmatch(folder):
        return None
    return read_lease(bucket, key)
