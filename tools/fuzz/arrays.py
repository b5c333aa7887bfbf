"""N-d arrays in files and folders of all kinds, changes to their headers and metadata, and their readers."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tools.fuzz import hdf5_damage
from tools.fuzz.canaries import MODULE, Canaries
from tools.fuzz.damage import change_bytes, changed_json, damage_bytes
from tools.fuzz.reading import confined, in_this_process
from tools.fuzz.targets import Target

if TYPE_CHECKING:
    import numpy as np


def _values() -> np.ndarray:
    import numpy as np

    return np.arange(4 * 6 * 5, dtype="f4").reshape(4, 6, 5)


def _npy(path: Path) -> None:
    import numpy as np

    np.save(path, _values())


def _classic(path: Path, version: int) -> None:
    from scipy.io import netcdf_file

    with netcdf_file(path, "w", version=version) as file:
        for name, edge in (("time", None), ("lat", 6), ("lon", 5)):
            file.createDimension(name, edge)
        wind = file.createVariable("wind", "f4", ("time", "lat", "lon"))
        wind[:] = _values()
        wind.units, wind.scale_factor = "m s-1", 0.5
        lat = file.createVariable("lat", "f8", ("lat",))
        lat[:] = range(6)
        file.createVariable("count", "i2", ("lat",))[:] = range(6)


def _netcdf4(path: Path) -> None:
    import netCDF4
    import numpy as np

    with netCDF4.Dataset(path, "w") as file:
        for name, edge in (("time", None), ("lat", 6), ("lon", 5)):
            file.createDimension(name, edge)
        wind = file.createVariable("wind", "f4", ("time", "lat", "lon"), zlib=True, chunksizes=(2, 6, 5))
        wind[:] = _values()
        wind.setncatts({"units": "m s-1", "missing_value": np.float32(-1)})
        file.createVariable("lat", "f8", ("lat",))[:] = range(6)
        pair = file.createCompoundType(np.dtype([("a", "i4"), ("b", "f4")]), "pair")
        file.createVariable("pairs", pair, ("lat",))
        file.createVariable("texts", str, ("lat",))[0] = "a"
        ragged = file.createVLType(np.int16, "ragged_type")
        file.createVariable("ragged", ragged, ("lat",))
        file.createGroup("more").createVariable("x", "i4", ("lat",))[:] = range(6)


def _hdf5(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        whole = file.create_dataset(
            "a/whole", data=_values(), chunks=(2, 3, 5), compression="gzip", shuffle=True
        )
        whole.attrs["text"] = "some"
        whole.attrs["numbers"] = [1, 2]
        file["scale"] = [1.0, 2.0, 3.0, 4.0]
        file["scale"].make_scale("time")
        whole.dims[0].attach_scale(file["scale"])
        file.create_dataset("plain", data=_values()[0])


def _zarr(path: Path, version: int) -> None:
    import zarr

    group = zarr.open_group(str(path), mode="w", zarr_format=version)
    names = {"dimension_names": ["time", "lat", "lon"]} if version == 3 else {}
    array = group.create_array("wind", shape=(4, 6, 5), chunks=(2, 3, 5), dtype="f4", **names)
    array[:] = _values()
    array.attrs.update({"units": "m s-1", "_ARRAY_DIMENSIONS": ["time", "lat", "lon"]})
    line = {"dimension_names": ["lat"]} if version == 3 else {}
    group.create_array("lat", shape=(6,), chunks=(6,), dtype="f8", **line)[:] = range(6)
    zarr.consolidate_metadata(str(path), zarr_format=version)


def _zarr_zip(path: Path) -> None:
    folder = path.with_name("folder")
    _zarr(folder, 3)
    with zipfile.ZipFile(path, "w") as archive:
        for each in sorted(folder.rglob("*")):
            archive.write(each, each.relative_to(folder))
    shutil.rmtree(folder)


def _npz(path: Path) -> None:
    import numpy as np

    np.savez_compressed(path, wind=_values(), lat=np.arange(6))


def _tiledb(path: Path) -> None:
    import tiledb

    edges = zip(("time", "lat", "lon"), _values().shape, strict=True)
    dims = [tiledb.Dim(name, domain=(0, edge - 1), tile=2, dtype="int32") for name, edge in edges]
    schema = tiledb.ArraySchema(tiledb.Domain(*dims), [tiledb.Attr("wind", dtype="float32")])
    tiledb.Array.create(str(path), schema)
    with tiledb.open(str(path), "w") as array:
        array[:] = _values()
        array.meta["__tiledb_attr.wind.units"] = "m s-1"


def _grib(path: Path, edition: int) -> None:
    """Write two messages; the second of edition 2 has two fields."""
    import eccodes

    names = ("t", "u", "v")
    handles = [eccodes.codes_grib_new_from_samples(f"regular_ll_pl_grib{edition}") for _ in names]
    several = eccodes.codes_grib_multi_new()
    try:
        for name, handle in zip(names, handles, strict=True):
            for key, value in {"Ni": 5, "Nj": 6, "bitsPerValue": 16, "shortName": name}.items():
                eccodes.codes_set(handle, key, value)
            eccodes.codes_set_values(handle, _values()[0].reshape(-1).astype("f8"))
        with path.open("wb") as file:
            eccodes.codes_write(handles[0], file)
            for handle in handles[1:] if edition == 2 else ():
                eccodes.codes_grib_multi_append(handle, 4, several)
            if edition == 2:
                eccodes.codes_grib_multi_write(several, file)
    finally:
        eccodes.codes_grib_multi_release(several)
        for handle in handles:
            eccodes.codes_release(handle)


_HEADERS = (
    "{'descr': '|O', 'fortran_order': False, 'shape': (4, 6, 5), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (10000000, 10000000), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 5), }",
    "{'descr': '<f4', 'fortran_order': 0, 'shape': (4,), }",
    "{'descr': [('a', '<f4'), ('b', 'O')], 'fortran_order': False, 'shape': (4,), }",
    "{'descr': '<f4', 'fortran_order': True, 'shape': (True, 5), }",
    "{'descr': '<M8[as]', 'fortran_order': False, 'shape': (4,), }",
    "{'descr': '<U1073741824', 'fortran_order': False, 'shape': (4,), }",
    "{'descr': '|V0', 'fortran_order': False, 'shape': (4,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)*70, }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1, " * 70 + "), }",
    "__import__('os').system('x')",
    "{'descr': '<f4', 'fortran_order': False, 'shape': ((4,),), }",
    "(" * 200 + ")" * 200,
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'x': " + "-" * 5000 + "1}",
    "{" * 3000,
)


def _npy_header(path: Path, draw: Random, canaries: Canaries) -> None:
    """Write another header, of another version, before the values or a pickle."""
    data = path.read_bytes()
    start = 10 + int.from_bytes(data[8:10], "little")
    text = draw.choice(
        (
            draw.choice(_HEADERS),
            re.sub(r"\d+", lambda found: str(int(found[0]) * 999), data[10:start].decode()),
        )
    )
    header = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    version = draw.choice((b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\1\1", b"\xff\0"))
    length = (
        len(header).to_bytes(2 if version[0] == 1 else 4, "little")
        if len(header) < 2**16
        else b"\xff\xff"
    )
    values = draw.choice((data[start:], data[start:], canaries.pickle(draw), b""))
    path.write_bytes(b"\x93NUMPY" + version + length + header + values)


def _netcdf_header(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change numbers of the header: dimensions, types, counts and offsets, which are aligned to 4 bytes."""
    data = bytearray(path.read_bytes())
    for _ in range(draw.choice((1, 1, 2, 3))):
        at = 4 * draw.randrange(1, min(len(data), 700) // 4)
        number = draw.choice((0, 1, 2, 5, 6, 7, 10, 11, 12, 100, 2**16, 2**31 - 1, 2**31, 2**32 - 1))
        data[at : at + 4] = number.to_bytes(4, "big")
    path.write_bytes(data)


def _grib_sections(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change lengths and numbers of sections of edition 2, their octets, or the size of a message."""
    data = bytearray(path.read_bytes())
    places = [0]
    for start in [found.start() for found in re.finditer(b"GRIB", data)]:
        place = start + 16
        while place + 5 < len(data) and data[place : place + 4] != b"7777":
            places.append(place)
            place += max(5, int.from_bytes(data[place : place + 4], "big"))
    for _ in range(draw.choice((1, 1, 2, 3))):
        place = draw.choice(places)
        number = draw.choice((0, 1, 4, 5, 6, 7, 100, 254, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1))
        match draw.randrange(3):
            case 0:
                data[place : place + 4] = number.to_bytes(4, "big")
            case 1:
                data[place + 4 : place + 5] = bytes([draw.randrange(10)])
            case _:
                at = place + draw.randrange(5, 40)
                data[at : at + 1] = bytes([number % 256])
    path.write_bytes(data)


_DTYPES_2: tuple[Any, ...] = (
    "|O", "<f4", ">i8", "|S5", "<U3", "<M8[ns]", "|V4", "<f16", "<c16", [["a", "<i4"], ["b", "|O"]], "O", "x", 5, None,
    "<U999999999", [["a", "<i4", [2, 3]]],
)  # fmt: skip
_CODECS_2: tuple[Any, ...] = (
    {"id": "pickle"}, {"id": "pickle", "protocol": 5}, {"id": "json2"}, {"id": "msgpack2"}, {"id": "vlen-utf8"},
    {"id": "vlen-bytes"}, {"id": "vlen-array", "dtype": "<i4"}, {"id": "categorize", "labels": ["a"], "dtype": "O"},
    {"id": MODULE}, {"id": "blosc", "cname": "x", "clevel": 99, "shuffle": 9, "blocksize": -1},
    {"id": "fixedscaleoffset", "scale": 0, "offset": "x", "dtype": "<f8"}, {"id": "delta", "dtype": "|O"},
    {"id": "astype", "encode_dtype": "O", "decode_dtype": "f4"}, {"id": "zlib", "level": 1}, {"id": "lz4"},
    {"id": "zstd", "level": 99}, {"id": "bz2"}, {"id": "lzma", "filters": [{"id": 33, "dict_size": 2**31}]}, {}, None,
)  # fmt: skip
_CODECS_3: tuple[Any, ...] = (
    {"name": "numcodecs.pickle", "configuration": {}},
    {"name": "numcodecs.vlen-array", "configuration": {"dtype": "i4"}},
    {"name": "vlen-utf8"},
    {"name": "gzip", "configuration": {"level": 99}},
    {"name": "blosc", "configuration": {"cname": "x", "typesize": 0}},
    {"name": "transpose", "configuration": {"order": [2, 2, 0]}},
    {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [1, 1, 1],
            "codecs": [{"name": "bytes"}],
            "index_codecs": [{"name": "bytes"}, {"name": "crc32c"}],
        },
    },
    {
        "name": "sharding_indexed",
        "configuration": {"chunk_shape": [0, 0, 0], "codecs": [], "index_codecs": []},
    },
    {"name": MODULE, "configuration": {}},
    {"name": "cast_value", "configuration": {}},
    {"name": "crc32c"},
    {"name": "bytes", "configuration": {"endian": "middle"}},
)
_DTYPES_3: tuple[Any, ...] = (
    "string", "variable_length_bytes", "bool", "float16", "complex128", "r24", MODULE, "object", None, 5,
    {"name": "fixed_length_utf32", "configuration": {"length_bytes": 2**31}},
    {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 2**40}},
    {"name": "structured", "configuration": {"fields": [["a", "int32"]]}},
)  # fmt: skip
_SHAPES: tuple[Any, ...] = (
    [10**6, 10**6, 10], [0, 6, 5], [-4, 6, 5], [2**63, 1, 1], [4, 6], [], [1] * 70, [4.0, 6, 5], None, "x", [True, 6, 5],
)  # fmt: skip


def _zarr_metadata(path: Path, draw: Random, canaries: Canaries) -> None:
    """Put another type, shape, chunk, codec, filter or fill value into the metadata of an array."""
    names = (".zarray", "zarr.json")
    files = sorted(
        each for each in path.rglob("*") if each.name in names and each.parent.name in ("wind", "lat")
    )
    file = draw.choice(files)
    facts = json.loads(file.read_text(encoding="utf-8"))
    shape = draw.choice(_SHAPES)
    fill = draw.choice(
        (None, "NaN", "Infinity", "0x7fc00000", "", [], {}, 10**400, -1, True, "AAAA", "\0", [[0, 0]])
    )
    if file.name == ".zarray":
        changes: tuple[dict[str, Any], ...] = (
            {"dtype": draw.choice(_DTYPES_2)},
            {
                "dtype": "|O",
                "filters": [draw.choice(_CODECS_2)],
                "fill_value": draw.choice((None, 0, "")),
            },
            {"filters": [draw.choice(_CODECS_2), draw.choice(_CODECS_2)]},
            {"compressor": draw.choice(_CODECS_2)},
            {"shape": shape},
            {"chunks": shape},
            {"shape": [10**6, 10**6, 5], "chunks": [10**6, 10**6, 5]},
            {"fill_value": fill},
            {"order": draw.choice(("F", "x", None))},
            {"dimension_separator": draw.choice(("/", "../", ""))},
            {"zarr_format": draw.choice((1, 3, "2", None))},
        )
    else:
        codecs = facts["codecs"]
        changes = (
            {"data_type": draw.choice(_DTYPES_3)},
            {"codecs": [draw.choice(_CODECS_3), *codecs]},
            {"codecs": [*codecs, draw.choice(_CODECS_3)]},
            {"codecs": [draw.choice(_CODECS_3)]},
            {"shape": shape},
            {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}}},
            {
                "shape": [10**6, 10**6, 5],
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10**6, 10**6, 5]}},
            },
            {"chunk_grid": {"name": draw.choice(("rectangular", MODULE)), "configuration": {}}},
            {
                "chunk_key_encoding": {
                    "name": draw.choice(("v2", "x")),
                    "configuration": {"separator": draw.choice((".", "/../"))},
                }
            },
            {"fill_value": fill},
            {"storage_transformers": [{"name": MODULE}]},
            {"dimension_names": draw.choice((["a"], [None] * 3, "x", ["../../x"] * 3, [1, 2, 3]))},
            {"zarr_format": draw.choice((1, 2, "3", None))},
            {"node_type": draw.choice(("group", "x", None))},
        )
    facts |= draw.choice(changes)
    file.write_text(json.dumps(facts), encoding="utf-8")
    # A pickle, wherever a chunk may be looked for.
    if "pickle" in json.dumps(facts) or draw.random() < 0.2:
        for chunk in [
            each
            for each in file.parent.rglob("*")
            if each.is_file() and each != file and each.name != ".zattrs"
        ]:
            chunk.write_bytes(canaries.pickle(draw))
    # Both are read: consolidated metadata hide the array's own.
    if draw.random() < 0.7:
        for name in (".zmetadata",):
            (path / name).unlink(missing_ok=True)
        group = path / "zarr.json"
        if group.exists():
            whole = json.loads(group.read_text(encoding="utf-8"))
            whole.pop("consolidated_metadata", None)
            group.write_text(json.dumps(whole), encoding="utf-8")


def _zarr_json(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change any part of any metadata file."""
    files = [each for each in path.rglob("*") if each.name.startswith((".z", "zarr.json"))]
    file = draw.choice(sorted(files))
    file.write_bytes(changed_json(file.read_text(encoding="utf-8"), draw, canaries))


def _zarr_files(path: Path, draw: Random, canaries: Canaries) -> None:
    """Remove, cut, lengthen, move or link files of the folder."""
    files = sorted(each for each in path.rglob("*") if each.is_file())
    file = draw.choice(files)
    match draw.randrange(6):
        case 0:
            file.unlink()
        case 1:
            file.write_bytes(b"")
        case 2:
            file.write_bytes(bytes(2**20))
        case 3:
            file.unlink()
            file.mkdir()
        case 4:
            draw.choice(files).replace(file)
        case _:
            file.unlink()
            file.symlink_to(draw.choice((file.name, "missing", "..")))


def _chunk_bytes(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change bytes of a chunk."""
    files = sorted(
        each
        for each in path.rglob("*")
        if each.is_file() and not each.name.startswith((".z", "zarr.json"))
    )
    file = draw.choice(files)
    data = bytearray(file.read_bytes())
    change_bytes(data, draw, canaries)
    file.write_bytes(data)


def targets() -> Iterator[Target]:
    """Yield the readers of arrays."""

    def data(name: str, seeds: Any, damages: Any, *modules: str, prints: bool = False) -> Target:
        every = (damage_bytes, *damages)
        return Target(
            name,
            seeds,
            every,
            in_this_process,
            ("numpy", "pandas", *modules),
            is_data=True,
            contained=confined,
            prints=prints,
        )

    yield data("npy", {"a.npy": _npy}, (_npy_header,) * 3)
    yield data("npz", {"a.npz": _npz}, ())
    yield data("tiledb", {"a.tdb": _tiledb}, (_zarr_files, _chunk_bytes, _chunk_bytes), "tiledb")
    grib = {f"{edition}.grib": partial(_grib, edition=edition) for edition in (1, 2)}
    yield data("grib", grib, (_grib_sections,) * 3, "eccodes")
    classic = {"a.nc": partial(_classic, version=1), "b.nc": partial(_classic, version=2)}
    yield data("netcdf3", classic, (_netcdf_header,) * 2, "scipy.io")
    # Filters print what they miss, as "bzip2 decompression failed".
    hdf5 = {"netcdf4": {"a.nc": _netcdf4}, "hdf5_array": {"a.h5": _hdf5}}
    for name, seeds in hdf5.items():
        yield data(name, seeds, hdf5_damage.ARRAY, "h5py", prints=True)
    zarr = (_zarr_metadata, _zarr_metadata, _zarr_json, _zarr_files, _chunk_bytes)
    yield data("zarr2", {"a.zarr": partial(_zarr, version=2)}, zarr, "zarr")
    yield data("zarr3", {"a.zarr": partial(_zarr, version=3)}, zarr, "zarr")
    yield data("zarr_zip", {"a.zarr.zip": _zarr_zip}, (), "zarr")
