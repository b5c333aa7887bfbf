"""Windows of an Icechunk repository by xbatcher."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import array_stores
from adapter_core import RemoteFile
from adapter_core.arrays.icechunk import BRANCH, opened
from adapter_core.training.xbatcher import XbatcherLoader

if TYPE_CHECKING:
    from adapter_core import ArraySource

_NAME = "array.icechunk"


class Adapter(XbatcherLoader):
    """An Icechunk repository with a Zarr group, in the chunks of the array; windows of its last commit.

    Compressed as Zarr does by itself.
    """

    label = "Icechunk[xbatcher]"
    requires = ("numpy", "xarray", "xbatcher>=0.4", "zarr>=3.1", "icechunk", "pcodec")

    def _save(self, array: ArraySource, folder: Path) -> None:
        store = array_stores.get("Icechunk")
        store.save(array, folder / _NAME, codec=store.default_codec)

    @staticmethod
    def _store(place: Path | RemoteFile) -> Any:
        return opened(place / _NAME).readonly_session(BRANCH).store
