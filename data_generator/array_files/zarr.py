"""Zarr arrays and groups in folders, format 2 or 3."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data_generator.array_files._file import ArrayFile, StoredArray
from data_generator.array_files._zarr_codecs import check_codecs, metadata_in
from data_generator.foreign_parts import check_folder

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import Selection

MARKS = ("zarr.json", ".zarray", ".zgroup", ".zmetadata")
"""Files of which the folder of an array or a group has one at least."""


class ZarrFolder(ArrayFile):
    """Zarr array or group in a folder."""

    kind = "Zarr"
    requires = ("zarr",)
    own_attributes = frozenset({"_ARRAY_DIMENSIONS"})

    @classmethod
    def is_in(cls, folder: Path) -> bool:
        """Return True for a folder with metadata of Zarr."""
        return any((folder / mark).is_file() for mark in MARKS)

    def arrays(self) -> list[StoredArray]:
        """Return the arrays of all groups."""
        import zarr

        self._check()
        with self._store() as store:
            root = self._opened(store)
            if isinstance(root, zarr.Array):
                return [_of_zarr("", root, {})]
            found = {name: node for name, node in root.members(None) if isinstance(node, zarr.Array)}
            return [_of_zarr(name, node, found) for name, node in found.items()]

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Return the values; chunks that are not stored have the fill value."""
        with self._store() as store:
            root = self._opened(store)
            values: np.ndarray = (root[name] if name else root)[selection]
        return values

    def _check(self) -> None:
        """Raise `InvalidDataError` for links out of the folder, and for codecs that may run code."""
        check_folder(self.path)
        check_codecs(self.path, metadata_in(self.path))

    def _store(self) -> Any:
        """Return a store of zarr-python, which closes itself after a `with` statement."""
        import zarr

        # Not by a text, which might be a URL.
        return zarr.storage.LocalStore(self.path, read_only=True)

    def _prefix(self) -> str:
        """Return the folder of the array or group within the store."""
        return ""

    def _opened(self, store: Any) -> Any:
        import zarr

        # One damaged member ends the listing, and asyncio would print what the others under way raise.
        logging.getLogger("asyncio").disabled = True
        place = self._prefix()
        try:
            # Consolidated metadata might name places outside.
            return zarr.open_group(store, mode="r", path=place, use_consolidated=False)
        except (zarr.errors.ContainsArrayError, zarr.errors.GroupNotFoundError):
            return zarr.open_array(store, mode="r", path=place)


def _of_zarr(name: str, array: Any, others: Mapping[str, Any]) -> StoredArray:
    attributes = dict(array.attrs)
    named = getattr(array.metadata, "dimension_names", None) or attributes.get("_ARRAY_DIMENSIONS") or ()
    group, _, own = name.rpartition("/")
    beside = {dimension: f"{group}/{dimension}".strip("/") for dimension in filter(None, named)}
    return StoredArray(
        name,
        array.shape,
        array.dtype,
        array.chunks,
        tuple(named) if all(named) and len(named) == len(array.shape) else (),
        attributes,
        {key: path for key, path in beside.items() if path in others and others[path].ndim == 1},
        tuple(named) == (own,),
    )
