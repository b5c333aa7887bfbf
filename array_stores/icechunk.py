"""Icechunk on a local file system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import RemoteArray, Trait
from adapter_core.arrays.icechunk import BRANCH, IcechunkStore, opened
from adapter_core.arrays.zarr import AppendableZarr

if TYPE_CHECKING:
    from adapter_core import ArraySource


class Adapter(IcechunkStore, AppendableZarr, RemoteArray):
    """An Icechunk repository with a Zarr group of format 3, in a directory.

    Saving and appending are a commit each. Chunks up to 512 bytes are in the manifest, others are files,
    and the manifest contains their lengths: a missing or shorter one is an error.

    Format: https://icechunk.io/en/latest/spec/
    """

    label = "Icechunk"
    suffix = ".icechunk"
    requires = ("numpy", "zarr>=3.1", "icechunk", "pcodec")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    remote_schemes: ClassVar = ("s3",)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign each chunk to a slice of `zarr.create_array`, and commit."""
        import icechunk
        import zarr

        repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)))
        session = repository.writable_session(BRANCH)
        array: Any = zarr.create_array(
            session.store,
            shape=source.shape,
            chunks=source.chunks,
            dtype=source.dtype,
            compressors=None,
        )
        for selection, values in source:
            array[selection] = values
        session.commit("Save the array")

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each row of an open array."""
        import zarr

        array: Any = zarr.open_array(opened(path).readonly_session(BRANCH).store, mode="r")
        return sum(len(array[row : row + 1]) for row in range(array.shape[0]))
