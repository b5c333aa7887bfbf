"""Zarr format 3 in a ZIP file, through zarr-python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Trait
from adapter_core.arrays.zarr import ZarrStore, strict_store

if TYPE_CHECKING:
    from adapter_core import ArraySource


class Adapter(ZarrStore):
    """A Zarr group of format 3 in a ZIP file, a member for each chunk.

    Members are stored, not deflated: codecs are Zarr's own. Reading checks the CRC-32 of each member,
    and members are read one at a time. The directory is at the file's end, and opening reads it whole.

    Formats: https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html and
    https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
    """

    label = "Zarr.zip"
    suffix = ".zarr.zip"
    requires = ("numpy", "zarr>=3.1", "pcodec")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    _code_of_store: ClassVar = {
        "open": 'store = zarr.storage.ZipStore({path}, mode="w")',
        "close": "store.close()",
        "reopen": 'store = zarr.storage.ZipStore({path}, mode="r")',
    }

    @contextmanager
    def _writing(self, path: Path) -> Iterator[Any]:
        from zarr.storage import ZipStore

        with ZipStore(path, mode="w") as store:
            yield store

    def _reading(self, path: Path) -> Any:
        from zarr.storage import ZipStore

        return strict_store(ZipStore)(path, mode="r")

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign each chunk to a slice of `zarr.create_array`."""
        import zarr

        with zarr.storage.ZipStore(path, mode="w") as store:
            array: Any = zarr.create_array(
                store, shape=source.shape, chunks=source.chunks, dtype=source.dtype, compressors=None
            )
            for selection, values in source:
                array[selection] = values

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each row of an open array."""
        import zarr

        with zarr.storage.ZipStore(path, mode="r") as store:
            array: Any = zarr.open_array(store, mode="r")
            return sum(len(array[row : row + 1]) for row in range(array.shape[0]))
