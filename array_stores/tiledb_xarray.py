"""Dense TileDB arrays through xarray, by the engine of TileDB-CF."""

from __future__ import annotations

import functools
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArraySource, Property, Trait
from adapter_core.arrays import zarr_metadata
from adapter_core.arrays.tiledb import TileDBStore, codec_of, reading_context, schema_of, write_array
from adapter_core.arrays.xarray import XarrayStore, loaded

if TYPE_CHECKING:
    from adapter_core import Availability

_META_PREFIX = "__tiledb_attr"
# TileDB's metadata has no wider integers, where Python's have any width.
_INT64_BITS = 63


class Adapter(XarrayStore, TileDBStore):
    """A TileDB group with the array of `TileDB`, and a one-dimensional array for each coordinate.

    Names and metadata follow TileDB-CF, whose engine for xarray reads the group. The engine opens
    the array anew for each query, with its schema and the footers of its fragments, where readers of
    `TileDB` open it once. That costs in proportion to the fragments until their footers are merged, as
    they are here. TileDB-CF 0.9.1 expects two names in `tiledb.libtiledb` that are elsewhere in
    tiledb 0.36; they are provided to it. Reads use the settings of `TileDB`.

    https://github.com/TileDB-Inc/TileDB-CF-Py
    """

    label = "TileDB[xarray]"
    overridden_default = "codec"
    suffix = ".tdb"
    requires = ("tiledb", "tiledb-cf>=0.9.1", "xarray")
    modules: ClassVar = {"tiledb-cf": "tiledb.cf"}
    suite = "foxbench"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    keeps: ClassVar = frozenset(Property) - {Property.CHUNKS}
    loses: ClassVar = {Property.CHUNKS: "the engine does not report tiles"}
    snippet = "its engine for xarray only reads; TileDB has the code that writes"

    def availability(self) -> Availability:
        _restore_names()
        return super().availability()

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        super()._check_further(source, codec)
        reason = zarr_metadata.name_problem(source) or _refused_attributes(source)
        if reason:
            raise self.refusal(reason)

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import tiledb

        tiledb.Group.create(str(path.absolute()))
        for name, values in source.coordinates.items():
            attributes = source.coordinate_attributes.get(name, {})
            coordinate = ArraySource.of(values, name=name, dims=(name,), attributes=attributes)
            _write(coordinate, path, f"{name}_", None, None)
        _write(source, path, source.name, codec, level)
        with tiledb.Group(str(path.absolute()), "w") as group:
            for name in (source.name, *source.coordinates):
                group.add(name, name=name, relative=True)

    def _dataset(self, path: Path) -> Any:
        # The engine ignores decode_cf.
        return loaded().open_dataset(
            str(path.absolute()),
            engine=_engine(),
            ctx=reading_context(),
            cache=False,
            mask_and_scale=False,
            decode_times=False,
            decode_coords=False,
        )

    def _write_dataset(self, dataset: Any, answer: ArraySource, path: Path) -> None:
        _restore_names()
        import tiledb
        import tiledb.cf

        encoding = {answer.name: {"tiles": answer.chunks, "filters": tiledb.FilterList([])}}
        tiledb.cf.from_xarray(dataset, str(path.absolute()), encoding=encoding)

    def _codec_used(self, path: Path) -> str | None:
        import tiledb

        with tiledb.Group(str(path.absolute())) as group:
            members = {each.name: each.uri for each in group}
        for name, uri in members.items():
            with tiledb.open(uri) as array:
                if name not in [array.dim(axis).name for axis in range(array.ndim)]:
                    return codec_of(array)
        raise ValueError(f"{path.name}: the group has no array besides coordinates")


def _write(
    source: ArraySource, group: Path, attribute: str, codec: str | None, level: int | None
) -> None:
    metadata = {
        f"{_META_PREFIX}.{attribute}.{name}": tuple(value) if isinstance(value, list) else value
        for name, value in source.attributes.items()
    }
    schema = schema_of(source, codec, level, source.dims, attribute)
    write_array(str((group / source.name).absolute()), source, schema, metadata)


def _refused_attributes(source: ArraySource) -> str:
    """Return why TileDB cannot keep attributes as metadata, or an empty string."""
    for name, value in source.all_attributes():
        if isinstance(value, list) and len(value) <= 1:
            return f"TileDB reads the attribute {name!r}, a list of {len(value)} values, as another one"
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, int) and each.bit_length() > _INT64_BITS:
                return f"the attribute {name!r} contains an integer beyond 64 bits"
    return ""


@functools.cache
def _restore_names() -> None:
    """Provide the names that TileDB-CF 0.9.1 expects; do nothing without tiledb.

    It annotates a function with `tiledb.libtiledb.Metadata`, which fails as the package is imported, and
    compares the types of a group's members with `tiledb.libtiledb.Array`, now a base class of theirs: it
    would find no arrays in any group.
    """
    try:
        import tiledb
    except ImportError:
        return
    if not hasattr(tiledb.libtiledb, "Metadata"):
        tiledb.libtiledb.Metadata = tiledb.Metadata


@functools.cache
def _engine() -> Any:
    """Return TileDB-CF's engine for xarray."""
    _restore_names()
    import tiledb
    from tiledb.cf.xarray_engine import _backend_store, engine

    if tiledb.libtiledb.Array is not tiledb.Array:
        # In the engine's module alone, since tiledb itself calls the base class.
        names = {**vars(tiledb), "libtiledb": SimpleNamespace(Array=tiledb.Array)}
        _backend_store.tiledb = SimpleNamespace(**names)
    return engine.TileDBXarrayBackendEntrypoint
