"""Base class of array stores in Icechunk repositories on a local file system."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayReader, ArraySource, PartitionedArray, Partitions, Region, RemoteFile
from adapter_core.arrays.zarr import ZarrRegions, ZarrStore
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np


BRANCH = "main"


class IcechunkStore(ZarrStore, Partitions):
    """An Icechunk repository with a Zarr group of format 3, in a directory.

    Saving and appending are a commit each. Chunks up to 512 bytes are in the manifest, others are files,
    and the manifest contains their lengths: a missing or shorter one is an error.

    Format: https://icechunk.io/en/latest/spec/
    """

    file_facts = FileFacts(
        silent="its metadata have a form that the library alone reads", threads="all cores"
    )
    _code_of_store: ClassVar = {
        "modules": "import icechunk",
        "open": "repository = icechunk.Repository.create(icechunk.local_filesystem_storage({path}))\n"
        'session = repository.writable_session("main")\nstore = session.store',
        "close": 'session.commit("Save the array")',
        "reopen": "repository = icechunk.Repository.open(icechunk.local_filesystem_storage({path}))\n"
        'store = repository.readonly_session("main").store',
    }

    def _save_remote(
        self, source: ArraySource, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        import icechunk

        repository = icechunk.Repository.create(remote_storage(file), _configuration(file))
        with repository.transaction(BRANCH, message="Save the array") as store:
            self._save_to(store, source, codec, level)

    def _open_remote(self, file: RemoteFile) -> ArrayReader:
        return self._reader_of(opened(file).readonly_session(BRANCH).store)

    @contextmanager
    def _writing(self, path: Path) -> Iterator[Any]:
        import icechunk

        repository = icechunk.Repository.create(storage_of(path))
        with repository.transaction(BRANCH, message="Save the array") as store:
            yield store

    @contextmanager
    def _appending(self, path: Path) -> Iterator[Any]:
        with opened(path).transaction(BRANCH, message="Append to the array") as store:
            yield store

    def _reading(self, path: Path) -> Any:
        return opened(path).readonly_session(BRANCH).store

    def partitioned(self, path: str | os.PathLike[str]) -> PartitionedArray:
        """Return a repository whose processes write chunks in sessions that one commit merges."""
        return IcechunkRegions(Path(path), self)


class IcechunkRegions(ZarrRegions):
    """A repository to which each process writes chunks in a fork of one session.

    The array without values is a commit, since only a session without changes can be forked. All
    values are the next commit.

    https://icechunk.io/en/latest/parallel/
    """

    _fork: Any

    def _create(self, source: ArraySource) -> None:
        import icechunk

        repository = icechunk.Repository.create(storage_of(self.unfinished))
        with repository.transaction(BRANCH, message="Create the array") as store:
            self.store.create_empty(store, source)
        self._fork = repository.writable_session(BRANCH).fork()

    def write(self, region: Region, values: np.ndarray) -> Region:
        """Write the chunks of a region in a session, which the commit merges."""
        # Engines may call this in the process of the client, where forks are not copied by pickling.
        fork = self._fork.fork()
        self.store.write_region(fork.store, region, values)
        return replace(region, facts={"session": fork})

    def _finish(self, regions: Sequence[Region]) -> None:
        session = opened(self.unfinished).writable_session(BRANCH)
        session.merge(*(region.facts["session"] for region in regions))
        session.commit("Write the values")


def opened(place: Path | RemoteFile) -> Any:
    """Open a repository."""
    import icechunk

    if isinstance(place, Path):
        return icechunk.Repository.open(storage_of(place))
    return icechunk.Repository.open(remote_storage(place), _configuration(place))


def storage_of(path: Path) -> Any:
    """Return the place of a repository."""
    import icechunk

    # Else each call prints that commits of several processes at a time are not safe.
    icechunk.set_logs_filter("error")
    return icechunk.local_filesystem_storage(str(path))


def remote_storage(file: RemoteFile) -> Any:
    """Return the place of a repository in an object store."""
    import icechunk

    icechunk.set_logs_filter("error")
    found = file.credentials()
    keys: dict[str, Any] = {"anonymous": True}
    if found:
        keys = {
            "access_key_id": found.access_key,
            "secret_access_key": found.secret_key,
            "session_token": found.session_token or None,
        }
    return icechunk.s3_storage(
        bucket=file.bucket,
        prefix=file.key,
        region=file.region,
        endpoint_url=file.origin,
        allow_http=file.endpoint.startswith("http://"),
        force_path_style=True,
        **keys,
    )


def _configuration(file: RemoteFile) -> Any:
    """Return the configuration of a repository, with the number of attempts."""
    import icechunk

    retries = icechunk.StorageRetriesSettings(max_tries=file.attempts)
    return icechunk.RepositoryConfig(storage=icechunk.StorageSettings(retries=retries))
