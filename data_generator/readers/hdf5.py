"""HDF5 as pandas writes it, through PyTables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator.readers._hdf5_pickles import foreign_name
from data_generator.readers._pickles import DANGER
from data_generator.readers._reader import Request, TableReader

if TYPE_CHECKING:
    import pandas as pd


class Reader(TableReader):
    """One table, in either of the layouts that `DataFrame.to_hdf` has.

    pandas keeps text and notes as pickles inside such files. Unless pickles are trusted, all of them are
    first searched for anything that data do not need.
    """

    what = "HDF5"
    endings = (".h5", ".hdf5", ".hdf", ".he5")
    signatures = ((0, b"\x89HDF\r\n\x1a\n"),)
    requires = ("tables", "h5py")
    holds_several = True
    crashes = True

    def read(self, request: Request) -> pd.DataFrame:
        """Return the only table, or the one that was named."""
        import pandas as pd

        if not request.trust_pickle:
            with self.guard(request):
                name = foreign_name(request.path)
            if name is not None:
                raise InvalidDataError(request.path, f"holds a pickle that calls {name}", DANGER)
        with self.guard(request), pd.HDFStore(request.path, mode="r") as store:
            keys = _tables(list(store.keys()))
        if not keys:
            raise InvalidDataError(
                request.path, "holds no table that pandas wrote", "write it by DataFrame.to_hdf"
            )
        key = request.only(keys, "table")
        with self.guard(request):
            found = pd.read_hdf(request.path, key=key, mode="r")
        if isinstance(found, pd.Series):
            return found.to_frame()
        if not isinstance(found, pd.DataFrame):
            raise InvalidDataError(
                request.path, f"holds no table at {key}, but a {type(found).__name__}"
            )
        return found


def _tables(keys: list[str]) -> list[str]:
    """Return the keys of tables; pandas lists the categories of their columns as well."""
    own = [key for key in keys if not any(key.startswith(f"{other}/meta/") for other in keys)]
    return [key.removeprefix("/") for key in own]
