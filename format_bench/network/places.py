"""Places of trials: an object server of our own, a folder in a user's bucket, a folder over a link."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol, Self
from urllib.parse import urlsplit

from adapter_core import RemoteFile
from adapter_core.credentials import profile_endpoint
from adapter_core.errors import LinkError, ObjectStoreError, UnavailableError
from format_bench.network.bucket import Bucket
from format_bench.network.environment import LOOPBACK, NO_REQUEST, store_variables
from format_bench.network.folder_server import FolderServer
from format_bench.network.leftovers import kept_alive, new_folder, remove_folder
from format_bench.network.namespaces import SERVER_HOST, LinkedNetwork
from format_bench.network.object_server import REAL, ObjectServer
from format_bench.network.processes import Started
from format_bench.network.proxy import READS, Call, Proxy, retries_of, waits_of
from format_bench.network.xrootd import PORT, XRootDServer

if TYPE_CHECKING:
    from format_bench.network.client import Outcome

    Step = Callable[[RemoteFile], Outcome]

S3 = "s3"

BUCKET = "bucket"
"""Folder of the files that a link serves, and their bucket."""

NETWORK, DELAYS = "network", "delays"
"""Kinds of link: packets delayed between two namespaces, or requests delayed by the proxy."""

ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""Variables of the user's own server, in order."""

_HTTP_PORT = 80


@dataclass(frozen=True)
class Traffic:
    """Counts of the requests of a step."""

    reads: int = 0
    """Requests by GET and HEAD, or any of XRootD."""
    writes: int = 0
    """Requests by PUT, POST and DELETE."""
    connections: int = 0
    up_bytes: int = 0
    """Bytes of the bodies of requests."""
    down_bytes: int = 0
    """Bytes of the bodies of answers."""
    retries: int = 0
    """Requests that were sent before in the same form, and failed."""
    waits: int = 0
    """Round trips waited for one after the other; 0 if unknown."""

    @classmethod
    def of(cls, calls: Sequence[Call], gap_seconds: float = 0.0) -> Self:
        """Return the counts of the proxy's records; for the gap see `waits_of`."""
        reads = sum(each.method in READS for each in calls)
        return cls(
            reads,
            len(calls) - reads,
            len({each.connection for each in calls}),
            sum(each.up_bytes for each in calls),
            sum(each.down_bytes for each in calls),
            retries_of(calls),
            waits_of(calls, gap_seconds),
        )


class Place(Protocol):
    """Where the steps of a trial save and read."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables of clients, besides `client_environment`."""

    @property
    def client_prefix(self) -> Sequence[str]:
        """The command that starts a client; empty for none."""

    def set(self, round_trip_seconds: float = 0.0, bytes_per_second: float = 0.0) -> None:
        """Change round-trip time and bandwidth; a bandwidth of 0 is not limited."""

    def reach(self, scheme: str, key: str, step: Step) -> tuple[Outcome, Traffic | None]:
        """Do a step and count its requests; None where they cannot be counted.

        The outcome of a step that reached another server, or none, is an error.
        """


def _checked(outcome: Outcome, file: RemoteFile, *, is_reached: bool) -> Outcome:
    if outcome.error or is_reached:
        return outcome
    return replace(outcome, error=f"{NO_REQUEST} {file.origin if file.scheme == S3 else file.url}")


@dataclass(frozen=True)
class StorePlace:
    """A folder of an object store, as clients reach it."""

    folder: RemoteFile
    proxy: Proxy | None = None
    """The proxy before the server; None if clients reach the server itself."""
    environment: Mapping[str, str] = field(default_factory=dict)
    client_prefix: Sequence[str] = ()

    def address(self, key: str) -> RemoteFile:
        """Return the address of an object in the folder."""
        return self.folder / key

    def set(self, round_trip_seconds: float = 0.0, bytes_per_second: float = 0.0) -> None:
        """Let the proxy delay and pace; without one, nothing changes."""
        if self.proxy:
            self.proxy.set(round_trip_seconds=round_trip_seconds, bytes_per_second=bytes_per_second)

    def reach(self, scheme: str, key: str, step: Step) -> tuple[Outcome, Traffic | None]:
        """Do a step and count its requests; errors of the server are raised as `ObjectStoreError`."""
        del scheme  # S3's alone
        file = self.address(key)
        if self.proxy is None:
            outcome = step(file)
            return _checked(outcome, file, is_reached=self.has_objects(file)), None
        self.proxy.take()
        outcome = step(file)
        calls = self.proxy.take()
        return _checked(outcome, file, is_reached=bool(calls)), Traffic.of(calls)

    def has_objects(self, file: RemoteFile) -> bool:
        """Return whether the store has an object at an address, or below it.

        Raises
        ------
        ObjectStoreError
            If the server refuses or cannot be reached.
        """
        found = Bucket(self.folder).objects(file.key)
        return any(each.key == file.key or each.key.startswith(f"{file.key}/") for each in found)


@contextmanager
def own_place(kind: str = REAL) -> Iterator[StorePlace]:
    """Start a server and its proxy, which end with the block.

    Raises
    ------
    UnavailableError
        If the server has not been built.
    LinkError
        If it does not start.
    """
    with (
        TemporaryDirectory() as folder,
        ObjectServer(Path(folder), kind) as server,
        Proxy(server.port) as proxy,
    ):
        yield StorePlace(server.address(proxy.port, server.folder), proxy, server.environment)


@contextmanager
def user_place(below: RemoteFile) -> Iterator[StorePlace]:
    """Create a folder of the benchmark in a user's bucket, and remove it with its contents.

    A proxy is between if the endpoint's protocol is ``http``. Requests over TLS cannot be counted.

    Parameters
    ----------
    below : RemoteFile
        Address in a bucket of S3; credentials come from the usual places.

    Raises
    ------
    ObjectStoreError
        If the address is not one of S3, or the store cannot be reached or refuses.
    """
    folder = new_folder(below)
    with ExitStack() as opened:
        # Called last, when clients and the proxy have ended.
        opened.callback(_remove, folder)
        opened.enter_context(kept_alive(Bucket(folder), folder))
        endpoint = urlsplit(folder.endpoint)
        proxy = None
        if endpoint.scheme == "http":
            host, port = endpoint.hostname or "", endpoint.port or _HTTP_PORT
            proxy = opened.enter_context(Proxy(port, host))
        variables = store_variables(folder.credentials(), is_remote=proxy is None)
        reached = replace(folder, endpoint=f"http://{LOOPBACK}:{proxy.port}") if proxy else folder
        yield StorePlace(reached, proxy, variables)


def users_address(url: str, endpoint: str, region: str) -> RemoteFile:
    """Return the address of a user's bucket.

    Raises
    ------
    ObjectStoreError
        If no endpoint is given and the profile names one, where the user's data might belong; or if
        the address has "?" or "#".
    """
    # Clients take what follows for a part of the address that is no key, and so write to another one.
    if {*"?#"} & {*url}:
        raise ObjectStoreError(f'{url}: an address with "?" or "#" is not that of a folder; use another')
    profile = "" if endpoint else profile_endpoint()
    if profile:
        raise ObjectStoreError(f"{url}: the profile {profile} names a server; give it by --endpoint")
    return RemoteFile(url, endpoint=endpoint, anonymous=False, region=region)


def environments_address(url: str) -> RemoteFile:
    """Return the address of a user's bucket at the server and in the region that variables name.

    Raises
    ------
    ObjectStoreError
        As `users_address` does.
    """
    endpoint, region = (
        next(filter(None, map(os.environ.get, names)), "") for names in (ENDPOINTS, REGIONS)
    )
    return users_address(url, endpoint or "", region or "us-east-1")


def _remove(folder: RemoteFile) -> None:
    try:
        remove_folder(folder)
    except ObjectStoreError as error:
        raise ObjectStoreError(
            f"{error}; what is left is removed by: format-bench clean {folder.url}"
        ) from None


# Share of a round trip from the end of an answer, at the server's end, to a request that depends on it.
# It is a whole one, half for the answer's last packet and half for the request, less a timer's error: a
# request that arrives sooner was sent before the answer was there.
_ARRIVAL = 0.9


class Link(Started):
    """A folder that a server serves over a link with a round-trip time and a bandwidth.

    The link is a network of namespaces where that is permitted, else the proxy's delays. It ends with
    the block.

    Parameters
    ----------
    folder : Path
        Folder in which `BUCKET` is made, for the files to serve.
    delays_only : bool
        True to use the proxy's delays where namespaces are permitted, too.
    """

    environment: Mapping[str, str] = {}

    def __init__(self, folder: Path, *, delays_only: bool = False) -> None:
        self.bucket = folder / BUCKET
        self.bucket.mkdir(exist_ok=True)
        self.reason = "the delaying server was asked for" if delays_only else ""
        """Reason for the proxy's delays; empty for a network."""
        self._xrootd_port = PORT
        super().__init__()

    def _start(self, started: ExitStack) -> None:
        self._network: LinkedNetwork | None = None
        if not self.reason:
            try:
                self._network = started.enter_context(LinkedNetwork())
            except LinkError as error:
                self.reason = str(error)
        self._host = SERVER_HOST if self._network else LOOPBACK
        prefix = self._network.server_prefix if self._network else ()
        server = started.enter_context(FolderServer(self.bucket.parent, prefix))
        self._proxy = started.enter_context(Proxy(server.port, LOOPBACK, self._host, prefix))
        self.set()

    @property
    def kind(self) -> str:
        """Return `NETWORK` or `DELAYS`."""
        return NETWORK if self._network else DELAYS

    @property
    def client_prefix(self) -> Sequence[str]:
        """The command that starts a client at the other end."""
        return self._network.client_prefix if self._network else ()

    def set(self, round_trip_seconds: float = 0.0, bytes_per_second: float = 0.0) -> None:
        """Change round-trip time and bandwidth; a bandwidth of 0 is not limited."""
        self._gap_seconds = 0.0
        if self._network:
            self._network.set(round_trip_seconds, bytes_per_second)
            self._gap_seconds = round_trip_seconds * _ARRIVAL
        else:
            self._proxy.set(round_trip_seconds=round_trip_seconds, bytes_per_second=bytes_per_second)

    def reach(self, scheme: str, key: str, step: Step) -> tuple[Outcome, Traffic | None]:
        """Do a step at a port that neither client nor library has used before.

        Raises
        ------
        UnavailableError
            If the protocol is XRootD and there is no server of it, or no network to delay it.
        LinkError
            If the client does not answer within its limit.
        """
        if scheme == "root":
            return self._reach_by_xrootd(key, step)
        port = self._proxy.open_port()
        self._proxy.take()
        origin = f"http://{self._host}:{port}"
        file = RemoteFile(f"{origin}/{BUCKET}/{key}")
        if scheme == S3:
            file = RemoteFile(f"s3://{BUCKET}/{key}", endpoint=origin)
        outcome = step(file)
        calls = [each for each in self._proxy.take() if each.port == port]
        traffic = Traffic.of(calls, self._gap_seconds)
        return _checked(outcome, file, is_reached=bool(calls)), traffic

    def _reach_by_xrootd(self, key: str, step: Step) -> tuple[Outcome, Traffic]:
        if self._network is None:
            reason = "its server cannot be delayed but by a network"
            raise UnavailableError("XRootD", reason, "a machine that permits network namespaces")
        self._xrootd_port += 1
        prefix = self._network.server_prefix
        with XRootDServer(self.bucket.parent, self._xrootd_port, prefix) as server:
            file = RemoteFile(f"root://{SERVER_HOST}:{self._xrootd_port}//{BUCKET}/{key}")
            outcome = step(file)
            requests, connections, sent_bytes = server.counts()
            return outcome, Traffic(requests, 0, connections, 0, sent_bytes)
