"""Order in which native libraries enter a test process."""

from __future__ import annotations

import contextlib
import importlib
import sys

WITH_HDF5 = ("h5py", "netCDF4", "tables", "rasterio", "hdf5plugin")
"""Modules with an HDF5 library, or with filters of one."""

EARLIER = {"ROOT": WITH_HDF5, "usearch": ("tiledb",)}
"""Modules by the one that they must be imported before."""


class OrderedImporter:
    """Importer of modules whose libraries fail when they are loaded after another one's.

    ROOT's interpreter opens the libraries of its process again, with RTLD_GLOBAL. Symbols of an HDF5
    library that is loaded after that are bound to the one before: h5py then creates no data set ("Not a
    datatype"), and PyTables writes another superblock. After USearch, TileDB's defaults are empty, so
    that it makes no context, or crashes. A library that is loaded already keeps its symbols.
    """

    def find_spec(self, fullname: str, *_: object) -> None:
        """Import the earlier modules if a later one is wanted, and leave it to other finders."""
        for name in EARLIER.get(fullname, ()):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def load_in_order() -> None:
    """Import native libraries in an order in which they work, in this process from now on."""
    sys.meta_path.insert(0, OrderedImporter())
