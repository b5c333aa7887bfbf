"""The pickles in an HDF5 file, found without loading them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data_generator.readers import _pickles

if TYPE_CHECKING:
    import h5py


def foreign_name(path: Path) -> str | None:
    """Return the first name in any pickle of the file that data do not need; None if there is none."""
    import h5py

    with h5py.File(path, "r") as file:
        nodes: list[Any] = [file]
        file.visititems(lambda _, node: nodes.append(node))
        pickles = (data for node in nodes for data in _pickles_of(node))
        return next(filter(None, map(_pickles.foreign_name, pickles)), None)


def _pickles_of(node: h5py.Group | h5py.Dataset) -> Iterator[bytes]:
    """Yield whatever PyTables would unpickle.

    It takes attributes of bytes that end with a full stop for pickles, and keeps objects as arrays of
    bytes: https://www.pytables.org/usersguide/file_format.html.
    """
    import h5py
    import numpy as np

    for name in node.attrs:
        for value in np.ravel(node.attrs[name]):
            if isinstance(value, bytes):
                yield value
            elif isinstance(value, str):
                yield value.encode("utf-8", "surrogateescape")
    if isinstance(node, h5py.Dataset) and h5py.check_vlen_dtype(node.dtype) == np.dtype("u1"):
        for array in node:
            yield array.tobytes()
