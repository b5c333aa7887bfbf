"""Changes to attributes, types, links, filters and storage of HDF5 files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tools.fuzz.canaries import Canaries

if TYPE_CHECKING:
    import h5py

_Change = Callable[["h5py.File", Random, Canaries], None]


def _nodes(file: h5py.File) -> list[Any]:
    found: list[Any] = [file]
    file.visititems(lambda _, node: found.append(node))
    return found


def _dataset(file: h5py.File, draw: Random) -> Any:
    import h5py

    return draw.choice([each for each in _nodes(file) if isinstance(each, h5py.Dataset)])


def _replaced(dataset: Any, **options: Any) -> Any:
    """Put another dataset in the place of one, with its attributes."""
    parent, name, attributes = dataset.parent, dataset.name, dict(dataset.attrs)
    del parent[name]
    new = parent.create_dataset(name, **options)
    _set(new, attributes)
    return new


def _set(node: Any, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        try:
            node.attrs[name] = value
        except (TypeError, ValueError, OSError, RuntimeError):
            continue  # references of one file, and the like


def _pickle_in_vlen(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Replace a dataset by one of variable length, of any base, that PyTables takes for an object."""
    import h5py
    import numpy as np

    base = draw.choice(("u1", "i1", "S1", "u2", "i4", "<f8", ">u1", "?", "V1"))
    new = _replaced(
        _dataset(file, draw), shape=(draw.choice((1, 2)),), dtype=h5py.vlen_dtype(np.dtype(base))
    )
    data = canaries.pickle(draw)
    width = np.dtype(base).itemsize
    values = np.frombuffer(data + bytes(-len(data) % width), base)
    try:
        new[0] = values
    except (TypeError, ValueError, OSError):
        new[0] = np.frombuffer(data, "u1")
    new.attrs["PSEUDOATOM"] = draw.choice(
        (np.bytes_("object"), "object", np.bytes_("vlstring"), np.bytes_("vlunicode"))
    )
    new.attrs["CLASS"] = np.bytes_("VLARRAY")
    new.attrs["VERSION"] = np.bytes_("1.4")


def _pickle_in_attribute(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Put a pickle into an attribute, as text of fixed or variable length, an array or an opaque value."""
    import h5py
    import numpy as np

    node = draw.choice(_nodes(file))
    data = canaries.pickle(draw)
    text = data.decode("latin1")
    names = [*node.attrs, "info", "values_cat", "kind", "FIELD_0_ATTR", "x"]
    value = draw.choice(
        (
            np.bytes_(data),
            np.void(data),
            np.array([data], dtype="S"),
            np.array([np.bytes_(data)] * 2),
            np.frombuffer(data, "u1"),
            np.frombuffer(data, "i1"),
            text.replace("\0", ""),
            np.array([text.replace("\0", "")], dtype=h5py.string_dtype()),
        )
    )
    name = draw.choice(names)
    if draw.random() < 0.3:
        kind = h5py.string_dtype(draw.choice(("ascii", "utf-8")), draw.choice((None, len(data))))
        node.attrs.create(name, data, dtype=kind)
    else:
        node.attrs[name] = value


def _attribute(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Change, add, rename or remove an attribute."""
    import h5py
    import numpy as np

    node = draw.choice(_nodes(file))
    names = list(node.attrs)
    if names and draw.random() < 0.2:
        del node.attrs[draw.choice(names)]
        return
    text = canaries.text(draw).replace("\0", "").encode("utf-8", "replace")[:60_000] or b"x"
    value = draw.choice(
        (
            np.bytes_(text),
            np.bytes_(b"N."),
            np.bytes_(b"0"),
            np.int64(-1),
            np.int64(2**62),
            np.uint8(255),
            np.float64("nan"),
            np.array([], "i8"),
            np.array([[1, 2]]),
            np.array([text, b"b"]),
            h5py.Empty("f4"),
            np.array([(1, b"a")], dtype=[("a", "i4"), ("b", "S3")]),
            file.ref,
            np.bytes_(b"frame"),
            np.bytes_(b"frame_table"),
            np.bytes_(b"series"),
            np.bytes_(b"wide"),
            np.bytes_(b"datetime64"),
            np.bytes_(b"object"),
            np.bytes_(b"../../x"),
        )
    )
    known = ("pandas_type", "table_type", "encoding", "errors", "nblocks", "ndim", "axis0_variety", "CLASS",
             "VERSION", "TITLE", "PSEUDOATOM", "FLAVOR", "NROWS", "kind", "name", "transposed", "shape",
             "index_class", "freq", "tz", "value_type", "levels", "nan_rep", "data_columns", "info",
             "REFERENCE_LIST", "DIMENSION_LIST", "NAME", "DIMENSION_LABELS", "_FillValue", "scale_factor",
             "_Netcdf4Coordinates", "_Netcdf4Dimid", "PYTABLES_FORMAT_VERSION")  # fmt: skip
    name = draw.choice((*names, *names, draw.choice(known)))
    node.attrs[name] = value


def _type(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Replace a dataset by one of another type and shape."""
    import h5py
    import numpy as np

    dataset = _dataset(file, draw)
    kind = draw.choice(
        (
            "i1", ">u8", "f2", "f16", "c16", "S1", "S4000", "V3", "?", "i8", h5py.string_dtype(),
            h5py.string_dtype("ascii", 5), h5py.ref_dtype, h5py.regionref_dtype, h5py.enum_dtype({"a": 1}),
            h5py.vlen_dtype(np.dtype("f8")), h5py.opaque_dtype(np.dtype("M8[s]")),
            np.dtype([("index", "i8"), ("values_block_0", "f8", (2,))]), np.dtype([("a", [("b", "i2")])]),
            np.dtype(("i4", (3,))),
        )
    )  # fmt: skip
    shape = draw.choice((dataset.shape or (2,), (), (0,), (1,), (3, 2), (2, 2, 2), (1,) * 20))
    _replaced(dataset, shape=shape, dtype=kind)


def _large(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Declare a dataset much larger than the file: chunks that are not stored have the fill value."""
    dataset = _dataset(file, draw)
    kind = dataset.dtype if dataset.dtype.kind in "iufSb" else "f8"
    ndim = len(dataset.shape or (1,))
    edge = draw.choice((10**6, 10**9, 2**40))
    shape = draw.choice(((edge,) + (1,) * (ndim - 1), (1,) * (ndim - 1) + (edge,), (10**6, 10**6)))
    chunks = tuple(min(each, draw.choice((1, 1000, 10**6))) for each in shape)
    if _size(chunks) * 8 < 2**32:
        _replaced(
            dataset, shape=shape, dtype=kind, chunks=chunks, compression=draw.choice((None, "gzip"))
        )


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for edge in shape:
        size *= edge
    return size


def _link(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Replace or add a node by a link to another file, to nothing, to itself or to a parent."""
    import h5py

    nodes = _nodes(file)
    node = draw.choice(nodes)
    name = draw.choice((node.name.strip("/") or "x", "linked"))
    parent = draw.choice([each for each in nodes if isinstance(each, h5py.Group)])
    place = name if name in file and draw.random() < 0.6 else f"{parent.name}/linked"
    if place in file:
        del file[place]
    file[place] = draw.choice(
        (
            h5py.ExternalLink(str(canaries.secret), "/"),
            h5py.ExternalLink(canaries.url, "/a"),
            h5py.ExternalLink("/dev/stdin", "/a"),
            h5py.ExternalLink("/dev/zero", "/a"),
            h5py.ExternalLink(Path(file.filename).name, "/"),
            h5py.SoftLink("/"),
            h5py.SoftLink("/missing"),
            h5py.SoftLink(f"/{place.strip('/')}"),
            parent,
        )
    )


def _external_storage(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Replace a dataset by one whose values are in another file."""
    dataset = _dataset(file, draw)
    kind = dataset.dtype if dataset.dtype.kind in "iufS" else "i8"
    shape = dataset.shape or (1,)
    place = draw.choice(
        (str(canaries.secret), str(canaries.secret), "/dev/zero", "/proc/self/environ", "missing.bin")
    )
    _replaced(dataset, shape=shape, dtype=kind, external=[(place, 0, 2**40)])


def _virtual(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Replace a dataset by a virtual one of other files, or of itself."""
    import h5py

    dataset = _dataset(file, draw)
    shape = dataset.shape or (1,)
    kind = dataset.dtype if dataset.dtype.kind in "iufS" else "i8"
    layout = h5py.VirtualLayout(shape=shape, dtype=kind)
    of = draw.choice((str(canaries.secret), ".", "%b.h5", canaries.url, "/dev/zero"))
    layout[...] = h5py.VirtualSource(of, dataset.name, shape=shape, dtype=kind)
    parent, name, attributes = dataset.parent, dataset.name, dict(dataset.attrs)
    del parent[name]
    _set(parent.create_virtual_dataset(name, layout), attributes)


def _filter(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Replace a dataset by one with filters, one of whose chunks is anything."""
    dataset = _dataset(file, draw)
    kind = dataset.dtype if dataset.dtype.kind in "iufSb" else "i8"
    shape = dataset.shape or (4,)
    if _size(shape) == 0:
        return
    options = draw.choice(
        (
            {"compression": "gzip"},
            {"compression": "lzf"},
            {"shuffle": True, "fletcher32": True},
            {"scaleoffset": 2},
        )
    )
    new = _replaced(dataset, shape=shape, dtype=kind, chunks=shape, **options)
    data = draw.choice((b"", b"x", draw.randbytes(64), b"\x78\x9c" + draw.randbytes(30), bytes(2**20)))
    new.id.write_direct_chunk((0,) * len(shape), data, filter_mask=draw.choice((0, 1, 2**32 - 1)))


def _missing_filter(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Replace a dataset by one with a filter of any number."""
    import h5py

    dataset = _dataset(file, draw)
    shape = dataset.shape or (4,)
    if _size(shape) == 0:
        return
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(shape)
    number = draw.choice((305, 307, 32000, 32001, 32004, 32008, 32015, 32013, 32026, 60000))
    values = tuple(draw.choice((0, 1, 2, 9, 255, 2**31, 2**32 - 1)) for _ in range(draw.randrange(8)))
    properties.set_filter(number, h5py.h5z.FLAG_OPTIONAL, values)
    name, parent, attributes = dataset.name, dataset.parent, dict(dataset.attrs)
    kind = h5py.h5t.py_create(dataset.dtype if dataset.dtype.kind in "iuf" else "i8", logical=True)
    del parent[name]
    space = h5py.h5s.create_simple(shape)
    new = h5py.Dataset(
        h5py.h5d.create(parent.id, name.rpartition("/")[2].encode(), kind, space, properties)
    )
    new.id.write_direct_chunk((0,) * len(shape), draw.choice((draw.randbytes(64), bytes(20))))
    _set(new, attributes)


def _many(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Add many groups, one inside of the other or beside it."""
    if draw.random() < 0.5:
        file.create_group("/".join("g" * draw.choice((20, 300))))
    else:
        for number in range(500):
            file.create_group(f"many/{number}")


def _move(file: h5py.File, draw: Random, canaries: Canaries) -> None:
    """Remove a node, or exchange two."""
    nodes = [each.name for each in _nodes(file)[1:]]
    if not nodes:
        return
    first, second = draw.choice(nodes), draw.choice(nodes)
    if draw.random() < 0.4 or first.startswith(second) or second.startswith(first):
        del file[first]
        return
    file.move(first, "/moved")
    file.move(second, first)
    file.move("/moved", second)


def _damage_of(change: _Change) -> Callable[[Path, Random, Canaries], None]:
    def damage(path: Path, draw: Random, canaries: Canaries) -> None:
        import h5py

        with h5py.File(path, "r+") as file:
            change(file, draw, canaries)

    damage.__name__ = change.__name__
    return damage


ARRAY = tuple(
    map(
        _damage_of,
        (_attribute, _attribute, _pickle_in_attribute, _type, _large, _link, _external_storage, _virtual,
         _filter, _missing_filter, _many, _move),
    )
)  # fmt: skip
TABLE = (*ARRAY, *map(_damage_of, (_pickle_in_vlen, _pickle_in_vlen, _pickle_in_attribute)))
