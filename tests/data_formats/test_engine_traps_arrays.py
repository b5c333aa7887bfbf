"""Traps in formats of arrays, which the adapters avoid."""

from __future__ import annotations

import awkward as ak
import blosc2
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import tiledb
import uproot
import zarr

import data_formats
from adapter_core import CannotHoldError
from adapter_core.tables import root_uproot
from format_bench.verification.tables import verify

NULLS = pd.DataFrame({"c": ["a", None, "bcd", "", None, "e"], "i": pd.array([1, None, 2, 3, 4, 5])})
NULS = pd.DataFrame({"same": ["a\0", "\0b", "\0\0"], "differ": ["a\0", "\0\0\0", ""]})
LONG_TAIL = pd.DataFrame({"c": ["x"] * 4_000 + ["y" * 100_000]})
ARRAY_FORMATS = ["Blosc2", "HDF5[h5py]", "NPZ", "ROOT.RNTuple", "ROOT.TTree", "TileDB", "Zarr"]


@pytest.fixture(params=ARRAY_FORMATS)
def adapter(request):
    return data_formats.get(request.param)


def kept(adapter, df, path):
    adapter.save(df, path)
    return verify(df, adapter.read(path))


@pytest.mark.parametrize(
    "df", [NULLS, NULS, NULLS.head(0), LONG_TAIL], ids="nulls NULs empty long".split()
)
def test_array_formats_lose_nothing(adapter, df, tmp_path):
    assert kept(adapter, df, tmp_path / f"t{adapter.suffix}").exact


def test_a_long_value_does_not_fill_the_file(adapter, tmp_path):
    path = tmp_path / f"t{adapter.suffix}"
    adapter.save(LONG_TAIL, path)
    assert adapter.size_bytes(path) < 4 * LONG_TAIL["c"].str.len().sum()


def test_numpy_pickles_text_of_objects_and_drops_nuls(tmp_path):
    path = tmp_path / "naive.npz"
    np.savez(path, c=NULLS["c"].to_numpy(object), s=np.array(["a\0"], "S2"))
    with np.load(path) as file:
        with pytest.raises(ValueError, match="allow_pickle=False"):
            file["c"]
        assert file["s"].tolist() == [b"a"]


def test_npz_has_no_array_of_objects(tmp_path):
    path = tmp_path / "t.npz"
    data_formats.get("NPZ").save(NULLS, path)
    with np.load(path, allow_pickle=False) as file:
        assert not any(file[name].dtype.hasobject for name in file)


def test_hdf5_makes_empty_text_of_nulls(tmp_path):
    with h5py.File(tmp_path / "naive.h5", "w") as file:
        data = NULLS["c"].fillna("").to_numpy(object)
        file.create_dataset("c", data=data, dtype=h5py.string_dtype())
        with pytest.raises(TypeError, match="non-string objects"):
            file.create_dataset("null", data=NULLS["c"].to_numpy(object), dtype=h5py.string_dtype())
        assert file["c"][1] == file["c"][3] == b""


def test_text_of_one_length_is_utf8_to_every_reader_of_hdf5(tmp_path):
    path = tmp_path / "t.h5"
    data_formats.get("HDF5[h5py]").save(pd.DataFrame({"c": ["größe", "Zürich"]}), path)
    with h5py.File(path) as file:
        assert h5py.check_string_dtype(file["c"].dtype) == ("utf-8", 7)
        assert file["c"].asstr()[:].tolist() == ["größe", "Zürich"]


@pytest.mark.filterwarnings("ignore:The data type.*does not have a Zarr V3 specification")
def test_zarr_makes_a_word_of_a_null(tmp_path):
    group = zarr.create_group(tmp_path / "naive.zarr")
    array = group.create_array("c", shape=(6,), dtype=np.dtypes.StringDType())
    array[...] = NULLS["c"].to_numpy(object)
    assert [each for each in array[...] if each in ("None", "nan")]


def test_a_chunk_of_zarr_that_is_missing_is_noticed(tmp_path):
    path = tmp_path / "t.zarr"
    adapter = data_formats.get("Zarr")
    adapter.save(pd.DataFrame({"a": [1, 2]}), path)
    (path / "a" / "c" / "0").unlink()
    assert zarr.open_group(path)["a"][...].tolist() == [0, 0]
    with pytest.raises(FileNotFoundError, match="the chunk a/c/0 is missing"):
        adapter.read(path)


def test_chunks_of_zarr_are_of_equal_size(tmp_path, monkeypatch):
    monkeypatch.setattr("data_formats.zarr.CHUNK_BYTES", 800)
    path = tmp_path / "t.zarr"
    adapter = data_formats.get("Zarr")
    df = pd.DataFrame({"a": np.zeros(201), "b": ["x" * 10] * 201})
    adapter.save(df, path)
    assert [each.stat().st_size for each in (path / "a" / "c").iterdir()] == [67 * 8] * 3
    assert kept(adapter, df, path).exact


def test_code_in_a_file_of_blosc2_does_not_run(tmp_path):
    path = tmp_path / "t.b2d"
    adapter = data_formats.get("Blosc2")
    adapter.save(pd.DataFrame({"a": [1.5, 2.5]}), path)
    operand = blosc2.asarray(np.array([1.0, 2.0]), urlpath=str(tmp_path / "o.b2nd"), mode="w")
    lazy = blosc2.lazyexpr("o0 + 1", {"o0": operand})
    lazy.save(urlpath=str(path / "a.b2nd"), mode="w")
    with pytest.raises(Exception, match="only if you trust this data"):
        adapter.read(path)


def test_rntuple_shifts_values_behind_nulls_of_arrow(tmp_path):
    with uproot.recreate(tmp_path / "naive.root") as file:
        file.mkrntuple("t", {"c": ak.from_arrow(pa.array(NULLS["c"]))})
    with uproot.open(tmp_path / "naive.root") as file:
        assert (
            file["t"]["c"].array().to_list()
            != NULLS["c"].astype(object).where(NULLS["c"].notna(), None).tolist()
        )


def test_a_ttree_has_no_nulls(tmp_path):
    nulls = ak.from_arrow(pa.array(NULLS["c"]))
    with uproot.recreate(tmp_path / "naive.root") as file, pytest.raises(TypeError, match="string"):
        file.mktree("t", {"c": nulls.type.content}).extend({"c": nulls})


@pytest.mark.parametrize("label", ["ROOT.TTree", "ROOT.RNTuple"])
def test_many_columns_are_in_several_tables_of_root(label, tmp_path, monkeypatch):
    monkeypatch.setattr(root_uproot, "MAX_COLUMNS", 2)
    adapter, path = data_formats.get(label), tmp_path / "t.root"
    df = pd.DataFrame({"a": ["x", "yz"], "a__size": [1, 2], "na": [3, None], "a__valid": ["x", None]})
    assert kept(adapter, df, path).exact
    assert adapter.read(path, columns=["na"])["na"].tolist()[0] == 3
    with uproot.open(path) as file:
        assert {"table", "table_1", "table_2"} <= set(file.keys(cycle=False))


def dense(path, **attributes):
    row = tiledb.Dim("row", domain=(0, 2), tile=3, dtype=np.uint64)
    schema = tiledb.ArraySchema(
        tiledb.Domain(row), [tiledb.Attr(name, **options) for name, options in attributes.items()]
    )
    tiledb.Array.create(str(path), schema)
    return str(path)


def test_tiledb_writes_no_array_without_rows(tmp_path):
    path = dense(tmp_path / "naive.tdb", i={"dtype": "int64"})
    with tiledb.open(path, "w") as array, pytest.raises(tiledb.TileDBError, match="number of cells"):
        array[:] = {"i": np.array([], "int64")}


def test_a_condition_on_a_dense_array_of_tiledb_gives_fill_values(tmp_path):
    path = dense(tmp_path / "naive.tdb", i={"dtype": "int64"})
    with tiledb.open(path, "w") as array:
        array[:] = {"i": np.array([1, 2, 3])}
    with tiledb.open(path) as array:
        assert array.query(cond="i > 2")[:]["i"].tolist() == [-(2**63), -(2**63), 3]


def test_ascii_of_tiledb_drops_nuls(tmp_path):
    path = dense(tmp_path / "naive.tdb", c={"dtype": "ascii", "var": True})
    with tiledb.open(path, "w") as array:
        array[:] = {"c": np.array([b"a\0", b"\0\0", b"b"], object)}
    with tiledb.open(path) as array:
        assert array[:]["c"].tolist() == [b"a", b"", b"b"]


@pytest.mark.parametrize("single", ["\0", b"\0"])
def test_tiledb_refuses_the_one_text_that_it_loses(tmp_path, single):
    path = dense(tmp_path / "naive.tdb", c={"dtype": type(single), "var": True})
    values = np.array([single, single * 2, single * 0], object)
    with tiledb.open(path, "w") as array:
        array[:] = {"c": values}
    with tiledb.open(path) as array:
        assert array[:]["c"].tolist() == [single * 0, single * 2, single * 0]
    with pytest.raises(CannotHoldError, match="column 'c' contains a single NUL"):
        data_formats.get("TileDB").check(pd.DataFrame({"c": values}))


@pytest.mark.parametrize("cut", ["a0.tdb", "a1.tdb", "a1_var.tdb"])
def test_a_file_of_tiledb_that_is_cut_short_does_not_end_the_process(tmp_path, cut):
    adapter, path = data_formats.get("TileDB"), tmp_path / "t.tdb"
    adapter.save(pd.DataFrame({"i": range(1_000), "c": ["x" * (i % 9) for i in range(1_000)]}), path)
    (file,) = path.glob(f"__fragments/*/{cut}")
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ValueError, match="files have another size than written"):
        adapter.read(path)


def test_damaged_offsets_of_tiledb_do_not_end_the_process(tmp_path):
    adapter, path = data_formats.get("TileDB"), tmp_path / "t.tdb"
    adapter.save(pd.DataFrame({"c": ["x" * (i % 9) for i in range(1_000)]}), path)
    (file,) = path.glob("__fragments/*/a0.tdb")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0x80
    file.write_bytes(data)
    with pytest.raises(tiledb.TileDBError, match="Checksum"):
        adapter.read(path)


def test_tiles_of_tiledb_are_of_equal_size(tmp_path, monkeypatch):
    adapter, path = data_formats.get("TileDB"), tmp_path / "t.tdb"
    monkeypatch.setattr(adapter, "_tile_rows", 100)
    df = pd.DataFrame({"a": np.arange(201), "b": ["x" * (i % 9) for i in range(201)]})
    assert kept(adapter, df, path).exact
    assert tiledb.ArraySchema.load(str(path)).domain.dim("_row").tile == 67
