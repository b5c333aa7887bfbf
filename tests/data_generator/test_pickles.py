"""Pickles, also those inside HDF5 files, run nothing unless they are trusted."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import os
import pickle
import sys
import zoneinfo
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pandas as pd
import pytest
import tables

from adapter_core.errors import ForeignPickleError, InvalidDataError
from data_generator.readers import _pickles
from data_generator.readers._reader import ReadRequest
from data_generator.readers.hdf5 import HDF5Reader
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


def _column_of_signed_bytes(path: Path, call: _Call) -> None:
    """Store objects as variable-length data of a base type that PyTables does not write."""
    with h5py.File(path, "a") as hdf5:
        attributes = dict(hdf5["k/block0_values"].attrs)
        del hdf5["k/block0_values"]
        made = hdf5.create_dataset("k/block0_values", (1,), h5py.vlen_dtype(np.int8))
        made[0] = np.frombuffer(pickle.dumps(call), np.int8)
        made.attrs.update(attributes)


HIDDEN = {
    _attribute: f"contains a pickle that calls posix.mkdir; {TRUST}",
    _text_attribute: f"contains a pickle that calls posix.mkdir; {TRUST}",
    _after_text_of_python_2: f"contains a pickle that calls posix.mkdir; {TRUST}",
    _column: f"contains a pickle that calls posix.mkdir; {TRUST}",
    _column_of_signed_bytes: f"contains objects that are not bytes, in k/block0_values; {TRUST}",
}


def _request(path: Path) -> ReadRequest:
    return ReadRequest(path, codec=None, table=None, sample_rows=None, seed=0, trust_pickle=False)


def _refused_here(path: Path) -> str:
    """Return the message of the reader itself, in this process."""
    with pytest.raises(InvalidDataError) as error:
        HDF5Reader().read(_request(path))
    return str(error.value).removeprefix(f"{path}: ")


def test_a_pickle_in_hdf5_is_refused_with_advice(tmp_path):
    pd.DataFrame({"a": ["x", "y"]}).to_hdf(tmp_path / "a.h5", key="k")
    _attribute(tmp_path / "a.h5", _Call(tmp_path / "mark"))
    assert refused(tmp_path / "a.h5") == HIDDEN[_attribute]


@pytest.mark.parametrize("hide", HIDDEN)
def test_pickles_in_hdf5_do_not_run(hide, tmp_path):
    mark, path = tmp_path / "mark", tmp_path / "a.h5"
    pd.DataFrame({"a": ["x", "y"]}).to_hdf(path, key="k")
    hide(path, _Call(mark))
    assert _refused_here(path) == HIDDEN[hide]
    assert not mark.exists()
    with contextlib.suppress(Exception):
        pd.read_hdf(path)
    assert mark.exists(), "it would have run"


@pytest.mark.parametrize("hide", [_attribute, _column, _column_of_signed_bytes])
def test_pytables_itself_is_given_no_pickle_that_calls(hide, tmp_path):
    """Look past the inspection of types, which a file that changes meanwhile would pass."""
    mark, path = tmp_path / "mark", tmp_path / "a.h5"
    pd.DataFrame({"a": ["x", "y"]}).to_hdf(path, key="k")
    hide(path, _Call(mark))
    with pytest.raises(ForeignPickleError, match=r"^posix\.mkdir$"), _pickles.data_alone():
        pd.read_hdf(path)
    assert not mark.exists()


def _opaque(path: Path) -> None:
    """Store eight bytes that h5py takes for the address of an object."""
    with h5py.File(path, "a") as hdf5:
        opaque = h5py.h5t.create(h5py.h5t.OPAQUE, 8)
        opaque.set_tag(b"NUMPY:O")
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        made = h5py.h5a.create(hdf5["k"].id, b"address", opaque, space)
        made.write(np.array(b"AAAAAAAA", "V8"), opaque)


def _external_link(path: Path) -> None:
    with h5py.File(path, "a") as hdf5:
        hdf5["k/further"] = h5py.ExternalLink("other.h5", "/k")


def _soft_link(path: Path) -> None:
    with h5py.File(path, "a") as hdf5:
        hdf5["k/further"] = h5py.SoftLink("/k")


def _external_values(path: Path) -> None:
    with h5py.File(path, "a") as hdf5:
        hdf5.create_dataset("k/further", (8,), "u1", external="/etc/hostname")


STRANGE = {
    _opaque: "an attribute of a strange type, address, in k",
    _external_link: "a link, k/further",
    _soft_link: "a link, k/further",
    _external_values: "values that are in other files, in k/further",
}


@pytest.mark.parametrize("hide", STRANGE)
def test_hdf5_that_pandas_does_not_write_is_refused(hide, tmp_path):
    path = tmp_path / "a.h5"
    pd.DataFrame({"a": ["x", "y"]}).to_hdf(path, key="k")
    hide(path)
    assert _refused_here(path) == f"contains {STRANGE[hide]}; {TRUST}"


class _State:
    """Is pickled as a call of NumPy, with an inner state that NumPy would take as it is."""

    def __init__(self, *parts: object) -> None:
        self.parts = parts

    def __reduce__(self):
        return self.parts


_NUMBERS, _OBJECTS = np.dtype("i8"), np.dtype("O")
_RECONSTRUCT = np.zeros(1).__reduce__()[0]
_EMPTY = (_RECONSTRUCT, (np.ndarray, (0,), b"b"))
CRAFTED = {
    "flags of objects for numbers": (
        _State(np.dtype, ("i8", False, True), (3, "<", None, None, None, -1, -1, 63)),
        np.dtype("<i8"),
    ),
    "a size that is not the type's": (
        _State(np.dtype, ("S3", False, True), (3, "|", None, None, None, 10**6, 1, 0)),
        np.dtype("S3"),
    ),
    "a subarray": (
        _State(np.dtype, ("i8", False, True), (3, "<", (_OBJECTS, (9,)), None, None, -1, -1, 0)),
        "numpy.dtype with parts",
    ),
    "fields": (
        _State(
            np.dtype,
            ("V8", False, True),
            (3, "|", None, ("a",), {"a": (_OBJECTS, 0)}, 8, 1, 27),
        ),
        "numpy.dtype of 'V8'",
    ),
    "bytes for objects": (
        _State(*_EMPTY, (1, (1,), _OBJECTS, False, b"AAAAAAAA")),
        "numpy.ndarray of objects that are not there",
    ),
    "fewer objects": (
        _State(*_EMPTY, (1, (2,), _OBJECTS, False, [1])),
        "numpy.ndarray of objects that are not there",
    ),
    "fewer bytes": (
        _State(*_EMPTY, (1, (2,), _NUMBERS, False, b"AAAAAAAA")),
        "numpy.ndarray with values of another size",
    ),
    "a negative shape": (
        _State(*_EMPTY, (1, (-1, -1), _NUMBERS, False, b"AAAAAAAA")),
        "numpy.ndarray of another shape",
    ),
}


@pytest.mark.parametrize("protocol", [0, 2, 5])
@pytest.mark.parametrize("name", CRAFTED)
def test_numpy_gets_no_inner_state_from_a_pickle(name, protocol):
    state, expected = CRAFTED[name]
    data = pickle.dumps(state, protocol)
    if isinstance(expected, np.dtype):
        found = _pickles.loads(data)
        assert (found, found.flags, found.itemsize) == (expected, expected.flags, expected.itemsize)
    else:
        with pytest.raises(ForeignPickleError) as error:
            _pickles.loads(data)
        assert str(error.value) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x80\x02\x82\x01.", "opcode EXT1"),
        (b"\x80\x02K\x01Q.", "opcode BINPERSID"),
        (b"(iposix\nsystem\n.", "posix.system"),
        (b"cposix\nsystem\n(Vtrue\ntR.", "posix.system"),
        (b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x940h\x00h\x01\x93.", "opcode POP"),
        (b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94h\x00h\x01\x93.", "posix.system"),
        (b"c__builtin__\ngetattr\n(cdatetime\ndate\nVfromisoformat\ntR.", "builtins.getattr"),
        (b"\x80\x02cdatetime\ndate\n)\x81.", "opcode NEWOBJ"),
        (b"\x80\x02cdatetime\ndate\n}b.", "opcode BUILD for Name"),
        (b"\x80\x02K\x01K\x02\x93.", "something without a name"),
    ],
)
def test_pickles_of_other_than_data_are_refused(data, expected):
    with pytest.raises(ForeignPickleError) as error:
        _pickles.loads(data)
    assert str(error.value) == expected


@pytest.mark.parametrize("data", [b"", b"Petersburg.", b"1 hour.", b"a.", b"2.", b"\x80\x06.", b"t."])
def test_text_is_no_pickle(data):
    with pytest.raises(pickle.UnpicklingError):
        _pickles.loads(data)


OBJECTS = [
    1, -1, 2**80, 1.5, float("inf"), 1 + 2j, True, None, "text", "ä\n", b"bytes", bytearray(b"b"),
    (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [1, [2]], {"a": {"b": 1}}, {1, 2}, frozenset({1}),
    datetime.date(2020, 1, 2), datetime.time(1, 2, 3, 4), datetime.timedelta(1, 2, 3),
    datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC),
    datetime.datetime(2020, 1, 2, tzinfo=zoneinfo.ZoneInfo("Europe/Paris")),
    decimal.Decimal("1.50"), pd.NA, pd.NaT, pd.Timestamp("2020", tz="UTC"),
    pd.Timedelta("1h"), np.float32(1.5), np.int64(3), np.str_("x"), np.datetime64("2020", "D"),
    np.timedelta64(5, "2h"), np.bool_(True), np.dtype(">M8[us]"), pd.offsets.BusinessHour(2),
]  # fmt: skip
ARRAYS = [
    np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array([], "U3"),
    np.array(["a", "bc"]), np.array([b"a", b"bc"]), np.array(["2020"], "M8[2D]"), np.array(5, ">i2"),
    np.array([True, False]), np.array([1, "x", None, [2]], dtype=object), np.zeros((0, 3)),
]  # fmt: skip


@pytest.mark.parametrize("protocol", range(6))
def test_data_are_made_as_python_makes_them(protocol):
    for value in OBJECTS:
        data = pickle.dumps(value, protocol)
        assert repr(_pickles.loads(data)) == repr(pickle.loads(data)) == repr(value)
        assert type(_pickles.loads(data)) is type(value)
    for array in ARRAYS:
        data = pickle.dumps(array, protocol)
        found, expected = _pickles.loads(data), pickle.loads(data)
        np.testing.assert_array_equal(found, expected, strict=True)
        assert str(found.flags) == str(expected.flags)


def test_text_of_python_2_has_the_encoding_that_is_given():
    data = b"S'\\xff'\n."
    assert _pickles.loads(data, encoding="latin1") == "\xff"
    assert _pickles.loads(data, encoding="bytes") == b"\xff"
    with pytest.raises(UnicodeDecodeError):
        _pickles.loads(data)


def test_no_module_of_pytables_keeps_the_module_pickle():
    keepers = [name for name, each in sys.modules.items() if name.startswith("tables.")]
    with _pickles.data_alone():
        assert not [name for name in keepers if getattr(sys.modules[name], "pickle", None) is pickle]
    assert tables.atom.pickle is tables.attributeset.pickle is pickle


def test_times_in_the_index_of_hdf5_are_no_danger(tmp_path):
    times = pd.date_range("2020", periods=3, freq="h", tz="Europe/Paris")
    pd.DataFrame({"a": [1, 2, 3]}, index=times).to_hdf(tmp_path / "a.h5", key="k")
    assert load_table(tmp_path / "a.h5").df["index"].tolist() == times.tolist()


@pytest.mark.parametrize("layout", ["fixed", "table"])
def test_tables_of_all_kinds_are_read_from_hdf5_without_trust(layout, tmp_path):
    times = pd.date_range("2020", periods=2, freq="2h", tz="Europe/Paris", name="end.")
    kinds = pd.DataFrame({"t": times, "s": ["x", None], "f": [1.5, 2], "b": [True, False]})
    levels = pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["k", None])
    categories = pd.DataFrame({"c": pd.Categorical(["x", "y"]), "n": [1, 2]})
    cases = [
        kinds,
        kinds.set_index(times),
        kinds.set_index(levels),
        pd.DataFrame({"a": [1, 2]}, index=pd.date_range("2020", periods=2, freq="BME")),
        pd.DataFrame({"a": [1, 2]}, index=pd.period_range("2020", periods=2, freq="M")),
        pd.DataFrame({"a": [1, 2]}, index=pd.Index([1, 2], name=np.int64(7))),
        categories if layout == "table" else categories[["n"]],
    ]
    for number, df in enumerate(cases):
        path = tmp_path / f"{number}.h5"
        df.to_hdf(path, key="k", format=layout)
        expected = pd.read_hdf(path)
        pd.testing.assert_frame_equal(HDF5Reader().read(_request(path)), expected)
