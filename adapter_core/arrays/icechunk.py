"""Base class of array stores in Icechunk repositories on a local file system."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adapter_core.arrays.zarr import ZarrStore

BRANCH = "main"


class IcechunkStore(ZarrStore):
    """An Icechunk repository with a Zarr group of format 3, in a directory.

    Saving and appending are a commit each. Chunks up to 512 bytes are in the manifest, others are files,
    and the manifest contains their lengths: a missing or shorter one is an error.

    Format: https://icechunk.io/en/latest/spec/
    """

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


def opened(path: Path) -> Any:
    """Open a repository."""
    import icechunk

    return icechunk.Repository.open(storage_of(path))


def storage_of(path: Path) -> Any:
    """Return the place of a repository."""
    import icechunk

    # Else each call prints that commits of several processes at a time are not safe.
    icechunk.set_logs_filter("error")
    return icechunk.local_filesystem_storage(str(path))
