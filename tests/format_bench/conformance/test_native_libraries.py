"""Tests of the order in which native libraries enter a process."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

SAVES = """
import sys
from format_bench.conformance.native_libraries import load_hdf5_before_root
if sys.argv[1] == "ordered":
    load_hdf5_before_root()
import rasterio
import ROOT
ROOT.RDataFrame(3).Define("x", "1.0").Count().GetValue()
import h5py, tables
with tables.open_file(sys.argv[2], "w") as file:
    file.create_array("/", "x", [1, 2])
with h5py.File(sys.argv[2]) as file:
    print(file["x"][:].tolist())
"""


@pytest.mark.costly("array_stores", "data_formats")
@pytest.mark.parametrize(("order", "works"), [("ordered", True), ("as imported", False)])
def test_hdf5_libraries_work_beside_root(tmp_path, order, works):
    modules = ("ROOT", "h5py", "rasterio", "tables")
    missing = [name for name in modules if not importlib.util.find_spec(name)]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SAVES, order, str(tmp_path / "x.h5")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (ended.stdout == "[1, 2]\n") == works, ended.stderr[-2000:]
