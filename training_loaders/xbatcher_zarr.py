"""Windows of a Zarr directory by xbatcher."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import array_stores
from adapter_core import RemoteFile
from adapter_core.training.xbatcher import XbatcherLoader

if TYPE_CHECKING:
    from adapter_core import ArraySource

_NAME = "array.zarr"


class Adapter(XbatcherLoader):
    """A Zarr group of format 3 in a directory, in the chunks of the array.

    Compressed as Zarr does by itself.
    """

    label = "Zarr[xbatcher]"
    requires = ("numpy", "xarray", "xbatcher>=0.4", "zarr>=3.1", "pcodec")
    remote_requires: ClassVar = ("obstore",)

    def _save(self, array: ArraySource, folder: Path) -> None:
        store = array_stores.get("Zarr.dir")
        store.save(array, folder / _NAME, codec=store.default_codec)

    @staticmethod
    def _store(place: Path | RemoteFile) -> Any:
        group = place / _NAME
        if isinstance(group, Path):
            return group
        from zarr.storage import ObjectStore

        return ObjectStore(group.obstore_store(), read_only=True)
