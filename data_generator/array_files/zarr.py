"""Zarr arrays and groups in folders, format 2 or 3."""

from __future__ import annotations

import base64
import logging
import struct
from collections.abc import Mapping
from contextlib import suppress
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

# Attributes of xarray.
_DIMENSIONS, _FILL_VALUE = "_ARRAY_DIMENSIONS", "_FillValue"


class ZarrFolder(ArrayFile):
    """Zarr array or group in a folder."""

    kind = "Zarr"
    requires = ("zarr",)
    own_attributes = frozenset({_DIMENSIONS})

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


def _attributes_of(array: Any) -> dict[str, Any]:
    """Return the attributes, with the fill value where xarray keeps it.

    That is the metadata in format 2, where the array names its dimensions as xarray does, and an
    attribute in format 3, whose floats are doubles in Base64 (`xarray.backends.zarr.FillValueCoder`).
    """
    found = dict(array.attrs)
    value = found.get(_FILL_VALUE)
    if _DIMENSIONS in found and array.metadata.zarr_format == 2:  # noqa: PLR2004 (its number)
        # 0 is zarr-python's own, where nobody has given one.
        value = array.metadata.fill_value or None
    elif isinstance(value, str) and array.dtype.kind == "f":
        with suppress(ValueError, struct.error):
            (value,) = struct.unpack("<d", base64.b64decode(value, validate=True))
    return found if value is None else {**found, _FILL_VALUE: value}


def _of_zarr(name: str, array: Any, others: Mapping[str, Any]) -> StoredArray:
    attributes = _attributes_of(array)
    named = getattr(array.metadata, "dimension_names", None) or attributes.get(_DIMENSIONS) or ()
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
