"""A user's own arrays: NPY, classic NetCDF, NetCDF-4, HDF5 and Zarr, read piece by piece."""

from __future__ import annotations

import json
import pickle
import shutil
import tracemalloc
import zipfile
from contextlib import closing

import h5py
import numpy as np
import pandas as pd
import pytest
import tables
import zarr
from scipy.io import netcdf_file

from adapter_core.array_source import ArraySource
from data_generator.readers import _reader
from data_generator.user.array import load_array, usual_chunks
from data_generator.user.load import fingerprint, load_data
from data_generator.user.summary import ArrayDescription, describe_array
from tests.factories.bad_files import refused

SHAPE = (6, 5, 8)
VALUES = (np.arange(240, dtype=np.float32) / 8).reshape(SHAPE)
VALUES[1, 2, 3] = np.nan
HOURS = np.arange(6, dtype=np.int64) * 3
LATITUDES = np.linspace(50, 48, 5)


def npy(folder):
    np.save(folder / "field.npy", VALUES)
    return folder / "field.npy"


def classic(folder):
    path = folder / "field.nc"
    with closing(netcdf_file(path, "w", version=2)) as file:
        for name, edge in (("time", None), ("lat", 5), ("lon", 8)):
            file.createDimension(name, edge)
        time = file.createVariable("time", "i4", ("time",))
        time[:] = HOURS
        latitude = file.createVariable("lat", "f8", ("lat",))
        latitude[:] = LATITUDES
        latitude.units = "degrees_north"
        field = file.createVariable("field", "f4", ("time", "lat", "lon"))
        field[:] = VALUES
        field.units, field.scale_factor, field.levels = "K", 0.5, np.array([1, 2], "i4")
    return path


def hdf5(folder, name="field.h5", **options):
    path = folder / name
    with h5py.File(path, "w") as file:
        file["time"], file["lat"] = HOURS, LATITUDES
        file["lat"].attrs["units"] = "degrees_north"
        field = file.create_dataset("field", data=VALUES, chunks=(1, 5, 8), **options)
        for axis, dimension in enumerate(("time", "lat")):
            file[dimension].make_scale(dimension)
            field.dims[axis].attach_scale(file[dimension])
        file["lon"] = np.zeros(8, "f4")
        # As the library of NetCDF-4 marks dimensions without coordinates.
        file["lon"].make_scale("This is a netCDF dimension but not a netCDF variable.         8")
        field.dims[2].attach_scale(file["lon"])
        field.attrs.update(units="K", scale_factor=0.5, levels=[1, 2], _FillValue=np.float32(-1))
    return path


def netcdf4(folder):
    return hdf5(folder, "field.nc", compression="gzip", shuffle=True)


def zarr_of(version, folder):
    path = folder / "field.zarr"
    group = zarr.create_group(path, zarr_format=version)
    dims = ("time", "lat", "lon")
    kept = {"units": "K", "scale_factor": 0.5, "levels": [1, 2]}
    made = [
        ("time", HOURS, dims[:1], {}),
        ("lat", LATITUDES, dims[1:2], {"units": "degrees_north"}),
        ("field", VALUES, dims, kept),
    ]
    for name, values, names, attributes in made:
        chunks = (1, *values.shape[1:])
        array = group.create_array(
            name,
            shape=values.shape,
            dtype=values.dtype,
            chunks=chunks,
            dimension_names=names if version == 3 else None,
        )
        array[...] = values
        array.attrs.update(attributes)
        if version == 2:
            array.attrs["_ARRAY_DIMENSIONS"] = list(names)
    return path


def zarr_2(folder):
    return zarr_of(2, folder)


def zarr_3(folder):
    return zarr_of(3, folder)


def zipped(folder, inside=""):
    whole = zarr_3(folder)
    path = folder / "field.zarr.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for each in sorted(whole.rglob("*")):
            archive.write(each, f"{inside}{each.relative_to(whole)}")
    shutil.rmtree(whole)
    return path


def zipped_folder(folder):
    return zipped(folder, "field.zarr/").rename(folder / "field.zip")


def npz(folder):
    np.savez_compressed(folder / "field.npz", field=VALUES, words=np.array(["a"]))
    return folder / "field.npz"


def tiledb_array(folder):
    import tiledb

    path = folder / "field.tdb"
    edges = zip(("time", "lat", "lon"), SHAPE, strict=True)
    dims = [tiledb.Dim(name, domain=(5, 4 + edge), tile=4, dtype="int32") for name, edge in edges]
    attributes = [tiledb.Attr("field", dtype="float32"), tiledb.Attr("count", dtype="int16")]
    tiledb.Array.create(str(path), tiledb.ArraySchema(tiledb.Domain(*dims), attributes))
    with tiledb.open(str(path), "w") as array:
        array[5:11, 5:10, 5:13] = {"field": VALUES, "count": np.ones(SHAPE, "int16")}
        array.meta["__tiledb_attr.field.units"] = "K"
        array.meta["__tiledb_attr.count.units"] = "1"
        array.meta["levels"] = (1, 2)
    return path


WITH_NAMES = [classic, hdf5, netcdf4, zarr_2, zarr_3, zipped, zipped_folder]
MAKERS = [npy, npz, tiledb_array, *WITH_NAMES]


@pytest.mark.parametrize("make", MAKERS)
def test_every_kind_of_file_is_read_unchanged(make, tmp_path):
    path = make(tmp_path)
    before = fingerprint(path)
    found = load_data(path)
    source = found.array
    assert (found.name, source.name) == ("field", "field")
    assert (found.df, found.images) == (None, None)
    assert source.shape == SHAPE
    assert source.dtype == np.dtype("float32")
    assert source.dtype.isnative
    whole = source.read(tuple(slice(0, edge) for edge in SHAPE))
    assert whole.tobytes() == VALUES.tobytes()
    selection = (slice(1, 3), slice(2, 3), slice(3, 8))
    part = source.read(selection)
    assert part.flags.c_contiguous
    assert part.dtype == source.dtype
    assert part.tobytes() == np.ascontiguousarray(VALUES[selection]).tobytes()
    assert fingerprint(path) == before


@pytest.mark.parametrize("make", WITH_NAMES)
def test_coordinates_and_attributes_are_kept(make, tmp_path):
    source = load_data(make(tmp_path)).array
    assert source.dims == ("time", "lat", "lon")
    kept = {name: value for name, value in source.attributes.items() if name != "missing_value"}
    assert kept == {"units": "K", "scale_factor": 0.5, "levels": [1, 2]}
    assert set(source.coordinates) == {"time", "lat"}
    assert source.coordinates["time"].tolist() == HOURS.tolist()
    assert source.coordinates["lat"].tolist() == LATITUDES.tolist()
    assert source.coordinate_attributes == {"time": {}, "lat": {"units": "degrees_north"}}
    assert all(values.dtype.isnative for values in source.coordinates.values())


@pytest.mark.parametrize("make", WITH_NAMES)
def test_attributes_that_are_not_applied_are_mentioned(make, tmp_path):
    (remark,) = [each for each in load_data(make(tmp_path)).remarks if "not applied" in each]
    assert remark.startswith(
        "values are those in the file, float32; not applied, but kept as attributes: scale_factor"
    )


@pytest.mark.parametrize("make", MAKERS)
def test_arrays_travel_between_processes_as_paths(make, tmp_path):
    text = pickle.dumps(load_data(make(tmp_path)))
    assert len(text) < 10_000
    last = pickle.loads(text).array.read((slice(5, 6), slice(0, 5), slice(0, 8)))
    assert last.tobytes() == VALUES[-1:].tobytes()


@pytest.mark.parametrize("make", WITH_NAMES)
def test_a_variable_is_chosen_by_name(make, tmp_path):
    path = make(tmp_path)
    found = load_data(f"{path}::lat")
    assert found.name == "field_lat"
    assert found.array.read((slice(0, 5),)).tolist() == LATITUDES.tolist()
    assert refused(f"{path}::wind").startswith("contains no variable 'wind'; it contains ")
    assert fingerprint(f"{path}::lat") == fingerprint(path)


@pytest.mark.parametrize(
    ("dtype", "rows", "problem"),
    [(str, 2, "has values of type object"), ("f8", 0, "contains no values")],
)
def test_a_dimension_without_coordinates_is_no_array(dtype, rows, problem, tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "names.nc"
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("station", rows)
        file.createDimension("level", 3)
        file.createVariable("name", dtype, ("station", "level"))
    assert refused(path).startswith(f"contains one array, which {problem}")


def test_files_of_the_netcdf_library_are_read(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "a.nc"
    with netcdf.Dataset(path, "w") as file:
        for name, edge in (("time", None), ("lat", 4), ("bound", 2)):
            file.createDimension(name, edge)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "hours since 1900-01-01"
        file.createVariable("bounds", "f8", ("time", "bound"))
        kept = {"zlib": True, "fill_value": -32767, "chunksizes": (1, 4)}
        field = file.createVariable("field", "i2", ("time", "lat"), **kept)
        field.add_offset, field.valid_range = 273.15, np.array([-5, 5], "i2")
        field.set_auto_maskandscale(False)
        field[:5], time[:] = np.arange(20).reshape(5, 4), np.arange(5)
        file.createVariable("text", str, ("lat",))
        file.createGroup("deep").createVariable("wind", "f4", ("time", "lat"))[:] = 3
    source = load_data(f"{path}::field").array
    assert (source.dims, source.chunks) == (("time", "lat"), (1, 4))
    assert source.attributes == {
        "add_offset": 273.15,
        "valid_range": [-5, 5],
        "missing_value": -32767,
    }
    assert {name: values.tolist() for name, values in source.coordinates.items()} == {
        "time": [0, 1, 2, 3, 4]
    }
    assert source.read((slice(0, 5), slice(0, 4))).tolist() == np.arange(20).reshape(5, 4).tolist()
    wind = load_data(f"{path}::deep/wind").array
    assert (wind.name, wind.dims, set(wind.coordinates)) == ("wind", ("time", "lat"), {"time"})
    assert refused(f"{path}::text").startswith("contains 'text', which has values of type object")


def test_a_variable_named_like_its_dimension_has_no_coordinates(tmp_path):
    source = load_data(f"{classic(tmp_path)}::lat").array
    assert (source.name, source.dims, source.coordinates) == ("lat", ("lat",), {})


def test_without_a_name_the_largest_variable_is_taken(tmp_path):
    path = hdf5(tmp_path)
    with h5py.File(path, "a") as file:
        file["deep/down/larger"] = np.zeros((20, 30))
        file["text"] = "words"
    found = load_data(path)
    assert found.array.name == "larger"
    assert (
        "deep/down/larger is the largest variable of data; others: field; "
        "field.h5::deep/down/larger,field takes several"
    ) in found.remarks
    assert load_data(f"{path}::deep/down/larger").array.shape == (20, 30)


def ocean(path):
    """Write a file as of an ocean model: bounds and areas are larger than the temperature."""
    with h5py.File(path, "w") as file:
        file["bounds_lat"] = np.zeros((60, 80, 4), "f8")
        file["area"] = np.zeros((60, 80), "f8")
        file["quality"] = np.zeros((2, 60, 80), "f8")
        for name in ("nav_lat", "nav_lon"):
            file[name] = np.zeros((60, 80), "f8")
        file["nav_lat"].attrs["bounds"] = "bounds_lat"
        file["tos"] = np.zeros((2, 60, 80), "f4")
        file["tos"].attrs.update(
            coordinates=np.bytes_("nav_lat nav_lon"),
            cell_measures="area: area",
            ancillary_variables="quality",
            _FillValue=np.float32(1e20),
        )
    return path


def test_variables_that_describe_others_are_not_the_data(tmp_path):
    found = load_data(ocean(tmp_path / "ocean.nc"))
    assert found.array.name == "tos"
    others = "area, bounds_lat, nav_lat, nav_lon, quality"
    assert f"left out, since they describe others: {others}" in found.remarks
    assert not [each for each in found.remarks if "largest" in each]
    # A name still chooses any of them.
    assert load_data(f"{tmp_path / 'ocean.nc'}::bounds_lat").array.shape == (60, 80, 4)


def test_a_fill_value_is_kept_under_the_name_that_all_stores_take(tmp_path):
    found = load_data(ocean(tmp_path / "ocean.nc"))
    assert found.array.attributes["missing_value"] == float(np.float32(1e20))
    assert "_FillValue is kept as missing_value, which means the same by the CF conventions" in (
        found.remarks
    )
    # Variables that describe it are in the file, too, whose size says nothing then.
    assert found.has_other_size
    assert not load_data(classic(tmp_path)).has_other_size
    # Earlier versions left it out, and measured other data.
    assert found.typed == ("missing_value",)


@pytest.mark.parametrize(
    ("attributes", "expected", "remark"),
    [
        ({"_FillValue": np.int16(-1), "missing_value": np.int16(-1)}, -1, "is kept as missing_value"),
        ({"_FillValue": np.int16(-1), "missing_value": np.int16(-2)}, [-1, -2], "is kept as"),
        ({"_FillValue": np.float32(-1), "missing_value": np.int16(-2)}, [-1.0, -2.0], "is kept as"),
        ({"missing_value": np.int16(-2)}, -2, "kept as attributes: missing_value"),
        ({"_FillValue": np.float32("nan")}, None, "is left out: NaN marks missing values by itself"),
    ],
)
def test_fill_and_missing_values_are_one_attribute(attributes, expected, remark, tmp_path):
    with h5py.File(tmp_path / "a.nc", "w") as file:
        file["x"] = np.arange(3, dtype="int16")
        file["x"].attrs.update(attributes)
    found = load_data(tmp_path / "a.nc")
    assert found.array.attributes.get("missing_value") == expected
    assert [each for each in found.remarks if remark in each]
    assert "_FillValue" not in found.array.attributes


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize(("dtype", "fill"), [("float32", -9999), ("float32", np.nan), ("int16", -1)])
def test_fill_values_of_xarray_in_zarr_are_kept(version, fill, dtype, tmp_path):
    xarray = pytest.importorskip("xarray")
    made = xarray.Dataset({"x": ("time", np.array([1.0, np.nan, 3.0]))}, {"time": [0, 1, 2]})
    encoding = {"x": {"dtype": dtype, "_FillValue": fill}}
    made.to_zarr(tmp_path / "a.zarr", zarr_format=version, encoding=encoding, consolidated=False)
    found = load_data(tmp_path / "a.zarr")
    source = found.array
    values = source.read((slice(0, 3),))
    assert np.array_equal(values, np.array([1, fill, 3], dtype), equal_nan=True)
    assert source.attributes.get("missing_value") == (None if np.isnan(fill) else fill)
    assert source.coordinate_attributes["time"] == {}
    assert not [each for each in found.remarks if "attributes left out" in each]


def test_a_fill_value_that_is_no_number_is_named(tmp_path):
    zarr.create_array(tmp_path / "a.zarr", data=VALUES, attributes={"_FillValue": "none"})
    found = load_data(tmp_path / "a.zarr")
    assert "missing_value" not in found.array.attributes
    assert "attributes left out: _FillValue" in found.remarks
    assert not [each for each in found.remarks if "NaN" in each]


def test_a_type_that_numpy_lacks_does_not_hide_the_others(tmp_path):
    path = hdf5(tmp_path)
    with h5py.File(path, "a") as file:
        of = h5py.h5t.STD_I32LE.copy()
        of.set_precision(24)
        of.set_size(3)
        h5py.h5d.create(file.id, b"packed", of, h5py.h5s.create_simple((6,)))
    assert load_data(path).array.name == "field"
    assert refused(f"{path}::packed").startswith("contains 'packed', which has values of type |V3: only")


def test_chunks_are_those_of_the_file_or_as_requested(tmp_path):
    path = hdf5(tmp_path)
    assert load_data(path).array.chunks == (1, 5, 8)
    assert load_data(path, chunks=(4, 5, 3)).array.chunks == (4, 5, 3)
    chunks = [values.shape for _, values in load_data(path, chunks=(4, 5, 5)).array]
    assert chunks == [(4, 5, 5), (4, 5, 3), (2, 5, 5), (2, 5, 3)]


def test_a_file_without_chunks_gets_some(tmp_path):
    found = load_data(npy(tmp_path))
    assert found.array.chunks == SHAPE
    assert found.remarks == ("the file has no chunks; those measured are 6 x 5 x 8",)
    assert usual_chunks((896, 3, 560, 1440), 4) == (1, 1, 560, 1440)
    assert usual_chunks((1000, 1000, 10), 8) == (52, 1000, 10)
    assert usual_chunks((10**9,), 1) == (2**22,)


def test_chunks_larger_than_the_array_are_cut(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=np.arange(3), chunks=(100,), maxshape=(None,))
    assert load_data(tmp_path / "a.h5").array.chunks == (3,)


def test_a_sample_is_the_first_chunks(tmp_path):
    source = load_data(hdf5(tmp_path), sample=2).array
    assert source.shape == (2, 5, 8)
    assert source.coordinates["time"].tolist() == [0, 3]
    assert load_data(tmp_path / "field.h5", sample=99).array.shape == SHAPE
    with pytest.raises(ValueError, match="a sample cannot have 0 chunks"):
        load_data(tmp_path / "field.h5", sample=0)


@pytest.mark.parametrize(
    ("chunks", "problem"),
    [
        ((5, 8), "has 3 dimensions, 6 x 5 x 8, but chunks of 2 were requested; give 3 edges"),
        ((1, 5, 9), "is 6 x 5 x 8: chunks of 1 x 5 x 9 do not fit; give edges from 1 to the array's"),
        ((0, 5, 8), "is 6 x 5 x 8: chunks of 0 x 5 x 8 do not fit"),
    ],
)
def test_chunks_that_do_not_match_are_reported(chunks, problem, tmp_path):
    assert refused(npy(tmp_path), chunks=chunks).startswith(problem)


def test_tables_and_images_have_no_chunks(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert refused(tmp_path / "a.csv", chunks=(1,)) == "is not an array: it has no chunks"


def test_hdf5_of_pandas_is_a_table(tmp_path):
    path = tmp_path / "a.h5"
    pd.DataFrame({"a": [1, 2, 3]}).to_hdf(path, key="k")
    assert load_data(path).df["a"].tolist() == [1, 2, 3]
    assert load_data(path).array is None


def test_hdf5_of_pytables_without_pandas_is_an_array(tmp_path):
    with tables.open_file(tmp_path / "a.h5", "w") as file:
        file.create_carray("/", "field", obj=VALUES)
    found = load_data(tmp_path / "a.h5")
    assert found.array.read((slice(0, 1), slice(0, 1), slice(0, 3))).tolist() == [[[0, 0.125, 0.25]]]


def test_hdf5_after_a_block_of_matlab_is_read(tmp_path):
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file["x"] = np.arange(3.0)
    with (tmp_path / "a.mat").open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file")
    assert load_data(tmp_path / "a.mat").array.read((slice(0, 3),)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (np.array(["a", None], object), "contains one array, which has values of type object"),
        (np.array(["a", "bc"]), "contains one array, which has values of type <U2"),
        (np.zeros(3, [("a", "i4"), ("b", "f8")]), "contains one array, which has structured values"),
        (np.array(["2020"], "M8[D]"), "contains one array, which has values of type datetime64[D]"),
        (np.float64(3), "contains one array, which is a single value"),
        (np.zeros((0, 3)), "contains one array, which contains no values"),
    ],
)
def test_arrays_of_other_values_are_refused(values, problem, tmp_path):
    np.save(tmp_path / "a.npy", values, allow_pickle=True)
    assert refused(tmp_path / "a.npy").startswith(problem)


def test_other_variables_are_refused_by_name(tmp_path):
    path = hdf5(tmp_path)
    with h5py.File(path, "a") as file:
        file["records"] = np.zeros(3, [("a", "i4")])
    assert refused(f"{path}::records") == (
        "contains 'records', which has structured values: only arrays of numbers can be measured"
    )
    assert refused(f"{npy(tmp_path)}::x") == "is NPY of one array; leave out ::x"


def test_a_file_without_arrays_is_reported(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w"):
        pass
    assert refused(tmp_path / "a.h5") == "contains no array of numbers"
    zarr.create_group(tmp_path / "a.zarr")
    assert refused(tmp_path / "a.zarr") == "contains no array of numbers"


@pytest.mark.parametrize("make", [npy, npz, classic, hdf5, netcdf4, zipped])
@pytest.mark.parametrize("share", [0, 0.1, 0.6, 0.95])
def test_a_file_that_is_cut_is_reported(make, share, tmp_path, capfd):
    path = make(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    refused(path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("make", [zarr_2, zarr_3])
def test_a_damaged_chunk_of_zarr_is_reported(make, tmp_path):
    path = make(tmp_path)
    chunk = next(path.glob("field/**/0*/0/0" if make is zarr_3 else "field/0.0.0"))
    chunk.write_bytes(b"damaged")
    assert refused(path).startswith("cannot be read as Zarr: ")


@pytest.mark.parametrize("make", [npz, zipped])
def test_a_damaged_member_of_an_archive_is_reported(make, tmp_path):
    path = make(tmp_path)
    with zipfile.ZipFile(path) as archive:
        large = max(archive.infolist(), key=lambda each: each.compress_size)
    data = bytearray(path.read_bytes())
    middle = large.header_offset + 30 + len(large.filename) + large.compress_size // 2
    data[middle : middle + 4] = bytes(4 * [data[middle] ^ 0xFF])
    path.write_bytes(data)
    assert refused(path).startswith("cannot be read as ")


@pytest.mark.parametrize("make", [zarr_2, zarr_3])
def test_damaged_metadata_of_zarr_are_reported(make, tmp_path):
    path = make(tmp_path)
    for name in ("zarr.json", ".zarray", ".zgroup"):
        for file in path.glob(f"**/{name}"):
            file.write_text("{")
    assert refused(path).startswith("cannot be read as Zarr: ")


def test_a_name_that_contradicts_the_content_is_reported(tmp_path):
    (tmp_path / "a.npy").write_text("1,2")
    assert refused(tmp_path / "a.npy").startswith("is NPY by its name, but not by its content")
    (tmp_path / "a.nc").write_bytes(b"CDF\5" + bytes(99))
    assert refused(tmp_path / "a.nc").startswith(
        "is NetCDF of the 64-bit data format; convert it by nccopy"
    )


def test_big_endian_values_are_converted(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5, dtype=">i4"))
    found = load_data(tmp_path / "a.npy")
    assert found.array.read((slice(1, 3),)).tolist() == [1, 2]
    assert found.array.dtype == np.dtype("int32")
    assert "values have been converted to the byte order of this machine" in found.remarks


def test_arrays_in_fortran_order_are_read_in_c_order(tmp_path):
    np.save(tmp_path / "a.npy", np.asfortranarray(VALUES))
    values = load_data(tmp_path / "a.npy").array.read((slice(0, 6), slice(0, 5), slice(0, 8)))
    assert values.flags.c_contiguous
    assert values.tobytes() == VALUES.tobytes()


def test_several_arrays_of_an_archive_are_chosen_by_name(tmp_path):
    np.savez(tmp_path / "a.npz", first=np.arange(3), second=np.arange(4.0).reshape(2, 2))
    assert load_data(f"{tmp_path}/a.npz::first").array.read((slice(0, 3),)).tolist() == [0, 1, 2]
    assert load_data(tmp_path / "a.npz").array.name == "second"
    expected = "contains no variable 'third'; it contains first, second"
    assert refused(f"{tmp_path}/a.npz::third") == expected
    np.savez(tmp_path / "o.npz", x=np.array([None, 1], object))
    assert refused(tmp_path / "o.npz").startswith("contains one array, which has values of type object")


def test_an_archive_that_declares_more_than_fits_is_reported(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(10**6))
    monkeypatch.setattr(_reader, "available_bytes", lambda: 10**5)
    assert refused(tmp_path / "a.npz").startswith("declares 0.0 GB, and 0.0 GB of memory are free")


def test_a_zipped_codec_that_runs_code_is_refused(tmp_path):
    plain = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<f8", "order": "C"}
    plain |= {"fill_value": 0, "filters": [{"id": "pickle"}], "compressor": None}
    with zipfile.ZipFile(tmp_path / "a.zarr.zip", "w") as archive:
        archive.writestr(".zgroup", '{"zarr_format": 2}')
        archive.writestr("x/.zarray", json.dumps(plain))
    assert refused(tmp_path / "a.zarr.zip").startswith("names the codec 'pickle', which is not one of")


def test_attributes_and_the_written_part_of_tiledb_are_read(tmp_path):
    path = tiledb_array(tmp_path)
    found = load_data(f"{path}::count")
    assert (found.name, found.array.dims) == ("field_count", ("time", "lat", "lon"))
    assert (found.array.shape, found.array.chunks) == (SHAPE, (4, 4, 4))
    assert found.array.attributes == {"units": "1", "levels": [1, 2]}
    assert load_data(path).array.attributes == {"units": "K", "levels": [1, 2]}


def test_other_tiledb_is_refused(tmp_path):
    import tiledb

    tiledb.Group.create(str(tmp_path / "group"))
    assert refused(tmp_path / "group").startswith("is a group of TileDB; give the folder of one array")
    dims = tiledb.Domain(tiledb.Dim("x", domain=(0, 9), tile=10, dtype="int32"))
    values = [tiledb.Attr("a", dtype="int32")]
    tiledb.Array.create(str(tmp_path / "s"), tiledb.ArraySchema(dims, values, sparse=True))
    assert refused(tmp_path / "s") == "is a sparse array of TileDB; give a dense one"
    tiledb.Array.create(str(tmp_path / "empty"), tiledb.ArraySchema(dims, values))
    assert refused(tmp_path / "empty").startswith("contains one array, which contains no values")
    for kind, problem in (("nullable", "may contain nulls"), ("var", "has values of several lengths")):
        values = [tiledb.Attr("a", dtype="int32", **{kind: True})]
        tiledb.Array.create(str(tmp_path / kind), tiledb.ArraySchema(dims, values))
        assert refused(tmp_path / kind).startswith(
            f"contains one array, which {problem}: only arrays of"
        )
    (schema,) = [each for each in (tmp_path / "empty" / "__schema").iterdir() if each.is_file()]
    schema.write_bytes(b"damaged")
    assert refused(tmp_path / "empty").startswith("cannot be read as TileDB: ")


def test_a_zarr_array_without_a_group_is_read(tmp_path):
    array = zarr.create_array(tmp_path / "bare.zarr", shape=(4, 4), chunks=(2, 4), dtype="i2")
    array[...] = np.arange(16).reshape(4, 4)
    source = load_data(tmp_path / "bare.zarr").array
    assert (source.name, source.chunks, source.dims) == ("bare", (2, 4), ("dim_0", "dim_1"))
    assert source.read((slice(3, 4), slice(0, 2))).tolist() == [[12, 13]]


def test_attributes_that_are_neither_text_nor_numbers_are_left_out(tmp_path):
    path = zarr_3(tmp_path)
    zarr.open(path / "field").attrs.update(
        nested={"a": 1}, flag=True, nothing=None, least_significant_digit=2
    )
    found = load_data(path)
    assert set(found.array.attributes) == {"units", "scale_factor", "levels"}
    assert "attributes left out: nested, flag, nothing, least_significant_digit" in found.remarks


def test_a_name_of_a_generated_set_is_not_taken(tmp_path):
    shutil.move(npy(tmp_path), tmp_path / "noise.npy")
    assert load_data(tmp_path / "noise.npy").name == "own_noise"


def test_large_arrays_are_not_loaded(tmp_path):
    large = np.lib.format.open_memmap(tmp_path / "a.npy", "w+", np.float64, (1_000, 100_000))
    large[-1, -1] = 7
    del large
    tracemalloc.start()
    try:
        source = load_data(tmp_path / "a.npy").array
        assert source.read((slice(999, 1_000), slice(99_999, 100_000))) == 7
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert source.size_bytes == 8 * 10**8
    assert peak < 2e6


def test_an_array_is_described_by_a_sample_of_chunks():
    values = np.arange(100, dtype=np.float64).reshape(20, 5)
    values[0, 0], values[19, 4] = np.nan, np.inf
    described = describe_array(ArraySource.of(values, (1, 5)))
    assert described.to_dict() == {
        "shape": (20, 5),
        "dtype": "float64",
        "chunk": (1, 5),
        "chunks": 20,
        "raw_bytes": 800,
        "read_chunks": 8,
        "mean": pytest.approx(48.1, abs=2),
        "least": 1.0,
        "greatest": 98.0,
        "nan_share": 1 / 40,
        "properties": (),
    }


def test_the_description_names_what_a_store_may_lose(tmp_path):
    described = describe_array(load_data(hdf5(tmp_path)).array)
    assert described.properties == ("attributes", "coordinates", "attributes of coordinates")
    of_json = json.loads(json.dumps(described.to_dict()))
    assert ArrayDescription.from_dict(of_json) == described


@pytest.mark.parametrize(
    ("values", "least", "mean"),
    [
        (np.array([True, False, True, True]), False, 0.75),
        (np.array([1 + 2j]), None, None),
        (np.array([np.nan, np.nan], "f4"), None, None),
        (np.array([3, 200], "u1"), 3, 101.5),
    ],
)
def test_arrays_of_any_numbers_are_described(values, least, mean):
    described = describe_array(ArraySource.of(values))
    assert (described.least, described.mean) == (least, mean)
    assert described.read_chunks == 1


def test_only_arrays_are_loaded_as_arrays(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(Exception, match="contains no array; known are GRIB, HDF5, classic NetCDF"):
        load_array(tmp_path / "a.csv")


def test_a_variable_without_a_name_is_no_coordinate(tmp_path):
    path = classic(tmp_path)
    # A header whose name of the variable "lat" has no characters.
    data = path.read_bytes()
    start = data.rindex(b"\0\0\0\3lat\0")
    path.write_bytes(data[:start] + bytes(4) + data[start + 8 :] + bytes(4))
    assert "lat" not in load_array(path).array.coordinates


def test_an_edge_below_zero_is_reported(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (-5, 4), }\n"
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(400))
    assert refused(path) == "contains one array, which has an edge below 0"
