"""Tests of the order in which native libraries enter a process."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

SAVES = """
import sys
from format_bench.conformance.native_libraries import load_in_order
if sys.argv[1] == "ordered":
    load_in_order()
import rasterio
import ROOT
ROOT.RDataFrame(3).Define("x", "1.0").Count().GetValue()
import h5py, tables
with tables.open_file(sys.argv[2], "w") as file:
    file.create_array("/", "x", [1, 2])
with h5py.File(sys.argv[2]) as file:
    print(file["x"][:].tolist())
"""


TILEDB_SAVES = """
import sys
from format_bench.conformance.native_libraries import load_in_order
if sys.argv[1] == "ordered":
    load_in_order()
import usearch.index
import numpy, tiledb
tiledb.from_numpy(sys.argv[2], numpy.array([1, 2]))
with tiledb.open(sys.argv[2]) as array:
    print(array[:].tolist())
"""


@pytest.mark.costly("array_stores", "data_formats", "query_engines")
@pytest.mark.parametrize(("order", "works"), [("ordered", True), ("as imported", False)])
@pytest.mark.parametrize(
    ("program", "modules"),
    [(SAVES, ("ROOT", "h5py", "rasterio", "tables")), (TILEDB_SAVES, ("tiledb", "usearch"))],
    ids=["HDF5 beside ROOT", "TileDB beside USearch"],
)
def test_libraries_work_beside_others(tmp_path, program, modules, order, works):
    missing = [name for name in modules if not importlib.util.find_spec(name)]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, order, str(tmp_path / "x")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (ended.stdout == "[1, 2]\n") == works, ended.stderr[-2000:]
