"""Pickles, also those inside HDF5 files, run nothing unless they are trusted."""

from __future__ import annotations

import contextlib
import os
import pickle
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pandas as pd
import pytest
import tables

from data_generator.readers.hdf5 import foreign_name
from data_generator.user.table import load_table
from tests.factories.bad_files import refused

if TYPE_CHECKING:
    from pathlib import Path


class _Call:
    """Makes a folder when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


TRUST = (
    "a pickle can run any program when it is loaded; if you trust where it comes from, "
    "add --trust-pickle"
)


def test_pickles_are_loaded_only_if_they_are_trusted(tmp_path):
    mark, path = tmp_path / "mark", tmp_path / "a.pkl"
    path.write_bytes(pickle.dumps(_Call(mark)))
    assert refused(path) == f"is a pickle; {TRUST}"
    assert not mark.exists()
    assert refused(path, trust_pickle=True) == "contains a NoneType, not a pandas DataFrame"
    assert mark.exists()


def _attribute(path: Path, call: _Call) -> None:
    with h5py.File(path, "a") as hdf5:
        hdf5["k"].attrs["evil"] = np.bytes_(pickle.dumps(call, 0))


def _text_attribute(path: Path, call: _Call) -> None:
    with h5py.File(path, "a") as hdf5:
        text = pickle.dumps(call, 0).decode()
        hdf5.attrs.create("evil", text, dtype=h5py.string_dtype("ascii"))


def _after_text_of_python_2(path: Path, call: _Call) -> None:
    """Make the first of PyTables' three attempts fail before the harmful part."""
    with h5py.File(path, "a") as hdf5:
        hdf5["k"].attrs["evil"] = np.bytes_(b"(S'\\xff'\n" + pickle.dumps(call, 0))


def _column(path: Path, call: _Call) -> None:
    with tables.open_file(path, "a") as hdf5:
        hdf5.root.k.block0_values._f_remove()
        hdf5.create_vlarray("/k", "block0_values", tables.ObjectAtom()).append(call)


@pytest.mark.parametrize("hide", [_attribute, _text_attribute, _after_text_of_python_2, _column])
def test_pickles_in_hdf5_are_found_before_they_run(hide, tmp_path):
    mark, path = tmp_path / "mark", tmp_path / "a.h5"
    pd.DataFrame({"a": ["x", "y"]}).to_hdf(path, key="k")
    hide(path, _Call(mark))
    assert foreign_name(path) == "posix.mkdir"
    assert not mark.exists()
    with contextlib.suppress(Exception):
        pd.read_hdf(path)
    assert mark.exists(), "it would have run"


def test_pickles_in_hdf5_do_not_run(tmp_path):
    mark, path = tmp_path / "mark", tmp_path / "a.h5"
    pd.DataFrame({"a": ["x", "y"]}).to_hdf(path, key="k")
    _attribute(path, _Call(mark))
    assert refused(path) == f"contains a pickle that calls posix.mkdir; {TRUST}"
    assert not mark.exists()


def test_times_in_the_index_of_hdf5_are_no_danger(tmp_path):
    times = pd.date_range("2020", periods=3, freq="h", tz="Europe/Paris")
    pd.DataFrame({"a": [1, 2, 3]}, index=times).to_hdf(tmp_path / "a.h5", key="k")
    assert load_table(tmp_path / "a.h5").df["index"].tolist() == times.tolist()
