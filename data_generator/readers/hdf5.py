"""Reader of HDF5 files that pandas wrote, through PyTables."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import ForeignPickleError, InvalidDataError
from data_generator.readers._pickles import DANGER, data_alone
from data_generator.readers._reader import ReadRequest, TableReader

if TYPE_CHECKING:
    import h5py
    import pandas as pd


class HDF5Reader(TableReader):
    """Reader of one table in either layout of `DataFrame.to_hdf`, fixed or table.

    pandas stores text and metadata as pickles inside such files. Unless pickles are trusted, PyTables
    gets their values from `data_generator.readers._pickles`, which makes nothing but data, and files
    with links or types that pandas does not write are refused.
    """

    kind = "HDF5"
    endings = (".h5", ".hdf5", ".hdf", ".he5")
    signatures = ((0, b"\x89HDF\r\n\x1a\n"),)
    requires = ("tables", "h5py")
    has_several_tables = True
    crashes = True

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the only table, or the named one."""
        if not request.trust_pickle:
            with self.guard(request):
                strange = _strange_part(request.path)
            if strange:
                raise InvalidDataError(request.path, f"contains {strange}", DANGER)
        pickles: AbstractContextManager[None] = nullcontext() if request.trust_pickle else data_alone()
        try:
            with pickles:
                return self._table(request)
        except ForeignPickleError as error:
            problem = f"contains a pickle that calls {error}"
            raise InvalidDataError(request.path, problem, DANGER) from error

    def _table(self, request: ReadRequest) -> pd.DataFrame:
        import pandas as pd

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


def _strange_part(path: Path) -> str:
    """Return the first part of a file that pandas does not write, in words; an empty text if none.

    Types alone are asked for: h5py would take the values of some for addresses of Python objects.
    """
    import h5py

    with h5py.File(path, "r") as file:
        names: list[bytes] = []
        links: list[bytes] = []

        def note(name: bytes, info: h5py.h5l.LinkInfo) -> None:
            (names if info.type == h5py.h5l.TYPE_HARD else links).append(name)

        file.id.links.visit(note, info=True)
        if links:
            return f"a link, {_text(links[0])}"
        for name in [b".", *names]:
            strange = _strange_type(h5py.h5o.open(file.id, name))
            if strange:
                return f"{strange}, in {_text(name)}"
    return ""


def _strange_type(node: h5py.h5g.GroupID | h5py.h5d.DatasetID | h5py.h5t.TypeID) -> str:
    """Return the strange types of a node and of its attributes."""
    import h5py
    from h5py import h5a, h5d

    for number in range(h5a.get_num_attrs(node)):
        attribute = h5a.open(node, index=number)
        if not _is_plain(attribute.get_type()):
            return f"an attribute of a strange type, {_text(attribute.name)}"
    if not isinstance(node, h5d.DatasetID):
        return ""
    layout = node.get_create_plist()
    if layout.get_layout() == h5d.VIRTUAL or layout.get_external_count():
        return "values that are in other files"
    stored = node.get_type()
    if isinstance(stored, h5py.h5t.TypeVlenID):
        # Objects, each as the bytes of a pickle.
        return "" if stored.get_super().equal(h5py.h5t.STD_U8LE) else "objects that are not bytes"
    return "" if _is_plain(stored) else "values of a strange type"


def _is_plain(stored: h5py.h5t.TypeID) -> bool:
    """Return True for numbers, text, truth values, and compounds and arrays of these."""
    from h5py import h5t

    kind = stored.get_class()
    if kind == h5t.COMPOUND:
        return all(_is_plain(stored.get_member_type(i)) for i in range(stored.get_nmembers()))
    if kind == h5t.ARRAY:
        return _is_plain(stored.get_super())
    return kind in (h5t.INTEGER, h5t.FLOAT, h5t.STRING, h5t.BITFIELD, h5t.TIME, h5t.ENUM)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
