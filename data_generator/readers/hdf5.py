"""Reader of HDF5 files that pandas wrote, through PyTables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.readers._pickles import DANGER
from data_generator.readers._pickles import foreign_name as pickled_name
from data_generator.readers._reader import ReadRequest, TableReader

if TYPE_CHECKING:
    import h5py
    import pandas as pd


class HDF5Reader(TableReader):
    """Reader of one table in either layout of `DataFrame.to_hdf`, fixed or table.

    pandas stores text and metadata as pickles inside such files. Unless pickles are trusted, all of them
    are first searched for names that data do not need.
    """

    kind = "HDF5"
    endings = (".h5", ".hdf5", ".hdf", ".he5")
    signatures = ((0, b"\x89HDF\r\n\x1a\n"),)
    requires = ("tables", "h5py")
    has_several_tables = True
    crashes = True

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the only table, or the named one."""
        import pandas as pd

        if not request.trust_pickle:
            with self.guard(request):
                name = foreign_name(request.path)
            if name is not None:
                raise InvalidDataError(request.path, f"contains a pickle that calls {name}", DANGER)
        with self.guard(request), pd.HDFStore(request.path, mode="r") as store:
            keys = _tables(list(store.keys()))
        if not keys:
            raise InvalidDataError(
                request.path, "contains no table that pandas wrote", "write it by DataFrame.to_hdf"
            )
        key = request.only(keys, "table")
        with self.guard(request):
            found = pd.read_hdf(request.path, key=key, mode="r")
        if isinstance(found, pd.Series):
            return found.to_frame()
        if not isinstance(found, pd.DataFrame):
            raise InvalidDataError(
                request.path, f"contains no table at {key}, but a {type(found).__name__}"
            )
        return found


def _tables(keys: list[str]) -> list[str]:
    """Return the keys of tables."""
    # pandas lists the categories of a table's columns as keys below the table.
    own = [key for key in keys if not any(key.startswith(f"{other}/meta/") for other in keys)]
    return [key.removeprefix("/") for key in own]


def foreign_name(path: Path) -> str | None:
    """Return the first name in a pickle of the file that data do not need; None if all are harmless."""
    import h5py

    with h5py.File(path, "r") as file:
        nodes: list[Any] = [file]
        file.visititems(lambda _, node: nodes.append(node))
        pickles = (data for node in nodes for data in _pickles_of(node))
        return next(filter(None, map(pickled_name, pickles)), None)


def _pickles_of(node: h5py.Group | h5py.Dataset) -> Iterator[bytes]:
    """Yield everything in a node that PyTables would unpickle."""
    import h5py
    import numpy as np

    # PyTables treats attributes of bytes that end with a full stop as pickles, and stores objects as
    # arrays of bytes: https://www.pytables.org/usersguide/file_format.html.

    for name in node.attrs:
        for value in np.ravel(node.attrs[name]):
            if isinstance(value, bytes):
                yield value
            elif isinstance(value, str):
                yield value.encode("utf-8", "surrogateescape")
    if isinstance(node, h5py.Dataset) and h5py.check_vlen_dtype(node.dtype) == np.dtype("u1"):
        for array in node:
            yield array.tobytes()
