"""Places of trials in an object store: a server of our own, or a folder in a user's bucket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from adapter_core import RemoteFile
from adapter_core.credentials import profile_endpoint
from adapter_core.errors import ObjectStoreError
from format_bench.links.environment import store_variables
from format_bench.object_stores.bucket import Bucket
from format_bench.object_stores.endpoints import FaultProxy
from format_bench.object_stores.lease import kept_alive
from format_bench.object_stores.leftovers import new_folder, remove_folder
from format_bench.object_stores.server import REAL, ObjectServer

_HTTP_PORT = 80


@dataclass(frozen=True)
class StorePlace:
    """A folder of an object store, as clients reach it."""

    folder: RemoteFile
    proxy: FaultProxy | None = None
    """The proxy before the server; None if clients reach the server itself."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of clients, besides those of `client_environment`."""

    def address(self, key: str) -> RemoteFile:
        """Return the address of an object in the folder."""
        return replace(self.folder, url=f"{self.folder.url}/{key}")

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
        FaultProxy(server.port) as proxy,
    ):
        yield StorePlace(server.address(proxy.port, server.folder), proxy, server.environment)


@contextmanager
def user_place(below: RemoteFile) -> Iterator[StorePlace]:
    """Create a folder of the benchmark in a user's bucket, and remove it with its contents.

    A proxy is between if the endpoint's protocol is ``http``. Requests over TLS cannot be counted.

    Parameters
    ----------
    below : RemoteFile
        Address in a bucket of S3; credentials are those of the usual places.

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
            proxy = opened.enter_context(FaultProxy(port, host))
        variables = store_variables(folder.credentials(), is_remote=proxy is None)
        yield StorePlace(_through(folder, proxy), proxy, variables)


def users_address(url: str, endpoint: str, region: str) -> RemoteFile:
    """Return the address of a user's bucket.

    Raises
    ------
    ObjectStoreError
        If no endpoint is given and the profile names one, where the user's data might belong.
    """
    profile = "" if endpoint else profile_endpoint()
    if profile:
        raise ObjectStoreError(f"{url}: the profile {profile} names a server; give it by --endpoint")
    return RemoteFile(url, endpoint=endpoint, anonymous=False, region=region)


def _through(folder: RemoteFile, proxy: FaultProxy | None) -> RemoteFile:
    return replace(folder, endpoint=f"http://127.0.0.1:{proxy.port}") if proxy else folder


def _remove(folder: RemoteFile) -> None:
    try:
        remove_folder(folder)
    except ObjectStoreError as error:
        raise ObjectStoreError(
            f"{error}; what is left is removed by: format-bench clean {folder.url}"
        ) from None
