"""Settings that files themselves record, in their footers, headers and metadata.

The readers share no code with the adapters, except for facts of Arrow's files
that pyarrow does not report.
"""

from __future__ import annotations

import contextlib
import json
import math
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.arrow_codec import codec_of_file

if TYPE_CHECKING:
    import h5py

Told = dict[str, str | int]
"""Facts by name; a number is the most rows of a part."""

NO_CODEC = "none"

# Identifiers of filters, from H5Zpublic.h and The HDF Group's list of registered filters.
_HDF5_CODECS = {
    1: "deflate",
    4: "szip",
    305: "lzo",
    307: "bzip2",
    32000: "lzf",
    32001: "blosc",
    32004: "lz4",
    32008: "bitshuffle",
    32013: "zfp",
    32015: "zstd",
    32017: "sz",
    32024: "sz3",
    32026: "blosc2",
}
_HDF5_FILTERS = {2: "shuffle", 3: "fletcher32"}

# ROOT's numbers of codecs (Compression.h).
_ROOT_CODECS = {1: "zlib", 2: "lzma", 4: "lz4", 5: "zstd"}

# Codecs around whole files, by their magic numbers.
_STREAMS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x04\x22\x4d\x18": "lz4",
}

# HDF5 looks for its superblock at 0, at 512, and at each double of it:
# https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html, section II.A.
_START_BYTES = 512


def told_by(path: Path) -> Told:
    """Return the settings that a file, or a directory, has itself; empty if no reader knows its kind."""
    if path.is_dir():
        for pattern, read in _FOLDERS.items():
            if any(path.glob(pattern)):
                return read(path)
        return {}
    with path.open("rb") as file:
        start = file.read(_START_BYTES)
    if start[8:12] == b"DUCK":  # after a checksum, which may begin as any other file
        return _duckdb(path)
    for magic, read in _FILES.items():
        if start.startswith(magic):
            return read(path)
    return next(({"codec": name} for magic, name in _STREAMS.items() if start.startswith(magic)), {})


def _parquet(path: Path) -> Told:
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    columns = [each.column(number) for each in groups for number in range(each.num_columns)]
    return {
        "codec": _joined(each.compression.lower() for each in columns if _is_named(each.compression)),
        "version": metadata.format_version,
        "row group": groups[0].num_rows,
        "encodings": _joined(name for each in columns for name in each.encodings),
        "page index": "yes" if any(each.has_offset_index for each in columns) else "no",
    }


def _is_named(codec: str) -> bool:
    return codec != "UNCOMPRESSED"


def _parquet_of(below: str, version: Callable[[Path], str]) -> Callable[[Path], Told]:
    """Return a reader of a table whose data files are Parquet, and whose version is in its log."""

    def read(path: Path) -> Told:
        data = max(path.glob(below), key=lambda each: each.stat().st_size)
        found = _parquet(data)
        return {**found, "files": found["version"], "version": version(path)}

    return read


def _delta_version(path: Path) -> str:
    log = min(path.glob("_delta_log/*.json"))
    actions = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    (found,) = (each["protocol"] for each in actions if "protocol" in each)
    return f"reader {found['minReaderVersion']}, writer {found['minWriterVersion']}"


def _iceberg_version(path: Path) -> str:
    metadata = max(path.glob("metadata/*.metadata.json"))
    return str(json.loads(metadata.read_text(encoding="utf-8"))["format-version"])


def _arrow(path: Path) -> Told:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        reader = pa.ipc.open_file(file)
        rows = reader.get_batch(0).num_rows if reader.num_record_batches else 0
    found: Told = {"version": "2", "record batch": rows}
    with contextlib.suppress(OSError):  # of Polars' files, whose first message is no schema
        found["codec"] = codec_of_file(path, declared=True) or NO_CODEC
    return found


def _orc(path: Path) -> Told:
    from pyarrow import orc

    file = orc.ORCFile(path)
    return {
        "codec": file.compression.lower() if _is_named(file.compression) else NO_CODEC,
        "version": file.file_version,
        "row index": file.row_index_stride,
        "dictionaries": "yes" if _orc_has_dictionaries(path) else "no",
    }


def _orc_has_dictionaries(path: Path) -> bool:
    """Return whether a column of the first stripe has a dictionary, by the stripe's footer.

    https://orc.apache.org/specification/ORCv1/#file-tail: PostScript has the footer's length as field 1
    and the codec as 2, Footer the stripes as 3, StripeInformation offset and lengths as 1 to 4,
    StripeFooter the columns' encodings as 2, whose kinds 1 and 3 are dictionaries.
    """
    data = path.read_bytes()
    post_length = data[-1]
    post = dict(_fields(data[-1 - post_length : -1]))
    end = len(data) - 1 - post_length
    footer = _orc_plain(data[end - post[1] : end], post.get(2, 0))
    stripe = dict(_fields(next(value for field, value in _fields(footer) if field == 3)))  # noqa: PLR2004
    start = stripe.get(1, 0) + stripe.get(2, 0) + stripe[3]
    own = _orc_plain(data[start : start + stripe[4]], post.get(2, 0))
    kinds = [dict(_fields(value)).get(1, 0) for field, value in _fields(own) if field == 2]  # noqa: PLR2004
    return not {1, 3}.isdisjoint(kinds)


def _orc_plain(data: bytes, codec: int) -> bytes:
    """Return the bytes of chunks, each after its length in three bytes, decompressed."""
    if codec == 0:
        return data
    found, position = bytearray(), 0
    while position < len(data):
        header = int.from_bytes(data[position : position + 3], "little")
        chunk = data[position + 3 : position + 3 + (header >> 1)]
        found += chunk if header & 1 else _orc_decompressed(chunk, codec)
        position += 3 + (header >> 1)
    return bytes(found)


def _orc_decompressed(chunk: bytes, codec: int) -> bytes:
    import zlib

    import pyarrow as pa

    # CompressionKind: 1 is zlib, 2 Snappy, 5 Zstandard.
    if codec == 1:
        return zlib.decompress(chunk, -zlib.MAX_WBITS)
    if codec == 2:  # noqa: PLR2004 (likewise)
        return bytes(pa.decompress(chunk, _varint(chunk, 0)[0], "snappy"))
    with pa.CompressedInputStream(pa.BufferReader(chunk), "zstd") as stream:
        return bytes(stream.read())


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:  # noqa: PLR2004 (a byte's highest bit says that another follows)
            return value, position


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the fields of a message of Protocol Buffers: numbers, and bytes of whatever has a length."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        if key & 7 == 0:
            value, position = _varint(data, position)
            yield key >> 3, value
            continue
        length = {1: 8, 5: 4}.get(key & 7, 0)
        if not length:
            length, position = _varint(data, position)
        yield key >> 3, data[position : position + length]
        position += length


def _avro(path: Path) -> Told:
    import fastavro

    with path.open("rb") as file:
        codec = fastavro.reader(file).metadata.get("avro.codec", "null")
    return {"codec": NO_CODEC if codec == "null" else codec, "version": "1"}


def _hdf5(path: Path) -> Told:
    import h5py

    found: list[h5py.Dataset] = []
    with h5py.File(path) as file:
        file.visititems(lambda _, each: found.append(each) if isinstance(each, h5py.Dataset) else None)
        pipelines = [_hdf5_pipeline(each) for each in found]
        largest = max(found, key=lambda each: each.nbytes)
        chunks = largest.chunks
    with path.open("rb") as file:
        superblock = file.read(_START_BYTES * 2).partition(b"\x89HDF\r\n\x1a\n")[2][0]
    numbers = {number for each in pipelines for number in each}
    return {
        "codec": _joined(_HDF5_CODECS[each] for each in numbers & _HDF5_CODECS.keys()),
        "version": f"superblock {superblock}",
        "filters": _joined(_HDF5_FILTERS[each] for each in numbers & _HDF5_FILTERS.keys()),
        "layout": "chunked" if chunks else "contiguous",
        **({"chunks": _shape(chunks)} if chunks else {}),
    }


def _hdf5_pipeline(dataset: Any) -> list[int]:
    made = dataset.id.get_create_plist()
    return [made.get_filter(number)[0] for number in range(made.get_nfilters())]


def _zarr(path: Path) -> Told:
    names = ("zarr.json", ".zarray")
    files = (each for name in names for each in path.rglob(name))
    return _zarr_of({str(each.relative_to(path)): each.read_bytes() for each in files})


def _zarr_of(files: Mapping[str, bytes]) -> Told:
    """Return the facts of the largest array of a group, by the metadata of all."""
    described = [json.loads(text) for text in files.values()]
    arrays = [each for each in described if "shape" in each]
    array = max(arrays, key=lambda each: math.prod(each["shape"]))
    found: Told = {"version": str(array["zarr_format"])}
    if array["zarr_format"] == 2:  # noqa: PLR2004 (format 2)
        compressor = array["compressor"]
        return {
            **found,
            "codec": _zarr_codec([compressor or {}], "id"),
            "chunks": _shape(array["chunks"]),
        }
    codecs, chunks = array["codecs"], array["chunk_grid"]["configuration"]["chunk_shape"]
    if codecs[0]["name"] == "sharding_indexed":
        found["shards"] = "yes"
        chunks, codecs = (codecs[0]["configuration"][each] for each in ("chunk_shape", "codecs"))
    return {**found, "codec": _zarr_codec(codecs, "name"), "chunks": _shape(chunks)}


def _zarr_codec(codecs: list[dict[str, Any]], key: str) -> str:
    encoders = {"bytes", "transpose", "crc32c", "vlen-utf8", "vlen-bytes"}
    names = (each.get(key) for each in codecs)
    return _joined(each.removeprefix("numcodecs.") for each in names if each and each not in encoders)


def _lance(path: Path) -> Told:
    """Return the version at the end of a data file, where 0.3 is the first name of 2.0."""
    data = next(path.glob("data/*.lance")).read_bytes()
    major, minor, magic = struct.unpack("<HH4s", data[-8:])
    found = "2.0" if (major, minor) == (0, 3) else f"{major}.{minor}"
    return {"version": found} if magic == b"LANC" else {}


def _vortex(path: Path) -> Told:
    """Return the version in the last eight bytes: https://docs.vortex.dev/specs/file-format."""
    version, _, magic = struct.unpack("<HH4s", path.read_bytes()[-8:])
    return {"version": str(version)} if magic == b"VTXF" else {}


def _blosc2(path: Path) -> Told:
    import blosc2

    array = blosc2.open(str(path), mode="r")
    options = array.schunk.cparams
    used = (each.name.lower() for each in options.filters if each != blosc2.Filter.NOFILTER)
    return {
        "codec": options.codec.name.lower() if options.clevel else NO_CODEC,
        "filters": _joined(used),
        "chunks": _shape(array.chunks),
    }


def _blosc2_folder(path: Path) -> Told:
    return _blosc2(max(path.glob("*.b2nd"), key=lambda each: each.stat().st_size))


def _axes(schema: Path) -> int:
    """Return the number of axes of the array of TileDB that has a schema."""
    import tiledb

    return tiledb.ArraySchema.load(str(schema.parent)).domain.ndim


def _tiledb(path: Path) -> Told:
    import tiledb

    schema = tiledb.ArraySchema.load(str(path))
    filters = [each for number in range(schema.nattr) for each in schema.attr(number).filters]
    codecs = (type(each).__name__.removesuffix("Filter").lower() for each in filters)
    tiles = tuple(int(schema.domain.dim(number).tile) for number in range(schema.domain.ndim))
    rows: Told = {"tile": tiles[0]} if len(tiles) == 1 else {"chunks": _shape(tiles)}
    return {"codec": _joined(codecs), "version": str(schema.version), **rows}


def _sqlite(path: Path) -> Told:
    """Return facts of the header: https://www.sqlite.org/fileformat2.html#the_database_header."""
    start = path.read_bytes()[:100]
    page = int.from_bytes(start[16:18], "big")
    journal = {1: "rollback", 2: "WAL"}[start[18]]
    return {"codec": NO_CODEC, "version": "3", "page": f"{page} bytes", "journal": journal}


def _duckdb(path: Path) -> Told:
    """Return the storage version of the main header, after a checksum and the magic number."""
    with path.open("rb") as file:
        return {"version": str(struct.unpack("<Q4sQ", file.read(20))[2])}


def _npy(path: Path) -> Told:
    return {"codec": NO_CODEC, "version": "{}.{}".format(*path.read_bytes()[6:8])}


def _zip(path: Path) -> Told:
    with zipfile.ZipFile(path) as archive:
        described = {
            name: archive.read(name) for name in archive.namelist() if name.endswith("zarr.json")
        }
        kinds = {each.compress_type for each in archive.infolist() if each.file_size}
    if described:
        return _zarr_of(described)
    return {"codec": _joined({8: "deflate"}.get(each, str(each)) for each in kinds - {0})}


def _pickle(path: Path) -> Told:
    with path.open("rb") as file:
        protocol = file.read(2)[1]
    # Other formats begin with this byte, too.
    return {"codec": NO_CODEC, "version": f"protocol {protocol}"} if 2 <= protocol <= 5 else {}  # noqa: PLR2004


def _java_serialization(path: Path) -> Told:
    """Return the version after the magic number of the Java Object Serialization Specification, 6."""
    return {"codec": NO_CODEC, "version": str(int.from_bytes(path.read_bytes()[2:4], "big"))}


def _mvstore(path: Path) -> Told:
    """Return the version in the file header: https://www.h2database.com/html/mvstore.html#fileFormat."""
    header = path.read_bytes()[:_START_BYTES].partition(b"\n")[0]
    facts = dict(each.split(b":") for each in header.split(b","))
    return {"codec": NO_CODEC, "version": facts[b"format"].decode()}


def _root(path: Path) -> Told:
    """Return facts of the header of TFile: https://root.cern/doc/master/classTFile.html."""
    start = path.read_bytes()[:64]
    version = int.from_bytes(start[4:8], "big")
    # Files from 2 GB on have larger offsets, and a version that is larger by 1,000,000.
    place = 33 if version < 1_000_000 else 45  # noqa: PLR2004
    setting = int.from_bytes(start[place : place + 4], "big")
    return {"codec": _ROOT_CODECS.get(setting // 100, NO_CODEC) if setting % 100 else NO_CODEC}


def _grib(path: Path) -> Told:
    return {"version": str(path.read_bytes()[7])}


def _matlab(path: Path) -> Told:
    return {"version": path.read_bytes()[7:10].decode()}


def _tsfile(path: Path) -> Told:
    return {"version": str(path.read_bytes()[6])}


def _tiff(path: Path) -> Told:
    import tifffile

    with tifffile.TiffFile(path) as file:
        page: Any = file.pages[0]
        codec = page.compression.name.lower()
        return {
            "codec": NO_CODEC if codec == NO_CODEC else codec,
            "version": "BigTIFF" if file.is_bigtiff else "TIFF",
            "parts": "tiles" if page.is_tiled else "strips",
        }


def _fits(path: Path) -> Told:
    found = path.read_bytes()
    _, is_there, value = found.partition(b"ZCMPTYPE= '")
    return {"codec": value.partition(b"'")[0].strip().decode().lower() if is_there else NO_CODEC}


def _n5(path: Path) -> Told:
    described = [json.loads(each.read_bytes()) for each in path.rglob("attributes.json")]
    array = max(
        (each for each in described if "dimensions" in each),
        key=lambda each: math.prod(each["dimensions"]),
    )
    codec = array["compression"]["type"]
    # N5 names the fastest axis first.
    return {"codec": NO_CODEC if codec == "raw" else codec, "chunks": _shape(array["blockSize"][::-1])}


def _joined(names: Any) -> str:
    return ", ".join(sorted(set(names))) or NO_CODEC


def _shape(edges: Any) -> str:
    return " x ".join(map(str, edges))


# Readers by the bytes that files begin with.
_FILES: dict[bytes, Callable[[Path], Told]] = {
    b"PAR1": _parquet,
    b"ARROW1": _arrow,
    b"ORC": _orc,
    b"Obj\x01": _avro,
    b"\x89HDF\r\n\x1a\n": _hdf5,
    b"VTXF": _vortex,
    b"\x9e\xa8b2frame": _blosc2,
    b"SQLite format 3\x00": _sqlite,
    b"\x93NUMPY": _npy,
    b"PK\x03\x04": _zip,
    b"\x80": _pickle,
    b"\xac\xed": _java_serialization,
    b"H:": _mvstore,
    b"root": _root,
    b"GRIB": _grib,
    b"MATLAB 5.0": _matlab,
    b"TsFile": _tsfile,
    b"II*\x00": _tiff,
    b"II+\x00": _tiff,
    b"SIMPLE": _fits,
}

# Readers by a file or folder that directories contain.
_FOLDERS: dict[str, Callable[[Path], Told]] = {
    "_delta_log": _parquet_of("*.parquet", _delta_version),
    "metadata/*.metadata.json": _parquet_of("data/**/*.parquet", _iceberg_version),
    "_versions": _lance,
    "__schema": _tiledb,
    "__tiledb_group.tdb": lambda path: _tiledb(max(path.glob("*/__schema"), key=_axes).parent),
    "array.grib2": lambda path: _grib(path / "array.grib2"),
    "*.npy": lambda path: _npy(next(path.glob("*.npy"))),
    "*.b2nd": _blosc2_folder,
    "attributes.json": _n5,
    "zarr.json": _zarr,
    ".zgroup": _zarr,
}
