"""Order in which native libraries enter a test process."""

from __future__ import annotations

import contextlib
import importlib
import sys

WITH_HDF5 = ("h5py", "netCDF4", "tables", "rasterio", "hdf5plugin")
"""Modules with an HDF5 library, or with filters of one."""


class HDF5BeforeRoot:
    """Importer of all modules with an HDF5 library, before ROOT is imported.

    ROOT's interpreter opens the libraries of its process again, with RTLD_GLOBAL. Symbols of an HDF5
    library that is loaded after that are bound to the one before: h5py then creates no data set ("Not a
    datatype"), and PyTables writes another superblock. One that is loaded already keeps its symbols.
    """

    def find_spec(self, fullname: str, *_: object) -> None:
        """Import the modules if ROOT is wanted, and leave it to other finders."""
        if fullname == "ROOT":
            for name in WITH_HDF5:
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)


def load_hdf5_before_root() -> None:
    """Import modules with an HDF5 library before ROOT, in this process from now on."""
    sys.meta_path.insert(0, HDF5BeforeRoot())
