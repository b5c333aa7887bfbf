"""Dense TileDB arrays, which are folders: each attribute is an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.array_description import KEY
from adapter_core.errors import InvalidDataError
from data_generator.array_files._file import ArrayFile, StoredArray
from data_generator.foreign_parts import check_folder

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import Selection

# https://github.com/TileDB-Inc/TileDB/blob/main/format_spec/FORMAT_SPEC.md
_ARRAY, _GROUP = "__schema", "__group"

# Names of TileDB for dimensions without a name.
_UNNAMED = "__dim_"

# Metadata that TileDB-CF keeps for an attribute of the array: prefix, name of the attribute, own name.
_OF_ATTRIBUTE = "__tiledb_attr."


class TileDBArray(ArrayFile):
    """Dense array with dimensions of integers; the part that has been written is taken."""

    kind = "TileDB"
    requires = ("tiledb",)
    own_attributes = frozenset({KEY})

    @classmethod
    def is_in(cls, folder: Path) -> bool:
        """Return True for a folder with a schema, or of a group."""
        return (folder / _ARRAY).is_dir() or (folder / _GROUP).is_dir()

    def arrays(self) -> list[StoredArray]:
        """Return the attributes of the array.

        Raises
        ------
        InvalidDataError
            If it is a group, a sparse array, or has dimensions of another type.
        """
        import tiledb

        check_folder(self.path)
        if not (self.path / _ARRAY).is_dir():
            raise InvalidDataError(
                self.path, "is a group of TileDB", "give the folder of one array in it"
            )
        with tiledb.open(str(self.path)) as array:
            schema, axes = array.schema, [array.dim(axis) for axis in range(array.ndim)]
            if schema.sparse:
                raise InvalidDataError(self.path, "is a sparse array of TileDB", "give a dense one")
            if any(each.dtype.kind not in "iu" for each in axes):
                raise InvalidDataError(self.path, "has dimensions that are not integers")
            written = _written(array)
            names = tuple(each.name for each in axes)
            tiles = [each.tile for each in axes]
            metadata = dict(array.meta.items())
            return [
                StoredArray(
                    attribute.name,
                    tuple(len(each) for each in written),
                    attribute.dtype,
                    tuple(map(int, tiles)) if all(tiles) else None,
                    () if any(each.startswith(_UNNAMED) for each in names) else names,
                    _attributes(metadata, attribute.name),
                    problem=_problem(attribute),
                )
                for attribute in (schema.attr(number) for number in range(schema.nattr))
            ]

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Return the values; cells that were not written have the fill value."""
        import tiledb

        with tiledb.open(str(self.path), attr=name or None) as array:
            written = zip(_written(array), selection, strict=True)
            values: np.ndarray = array[
                tuple(slice(axis.start + each.start, axis.start + each.stop) for axis, each in written)
            ]
        return values


def _problem(attribute: Any) -> str:
    """Return why the values of an attribute cannot be measured, or an empty string."""
    if attribute.isvar:
        return "has values of several lengths"
    # A null is a fill value in what TileDB returns, with a mask beside it.
    return "may contain nulls" if attribute.isnullable else ""


def _written(array: Any) -> Sequence[range]:
    """Return the written coordinates along each axis; none if nothing was written."""
    found = array.nonempty_domain()
    if found is None:
        return [range(0)] * array.ndim
    return [range(int(least), int(largest) + 1) for least, largest in found]


def _attributes(metadata: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the metadata of an attribute by their own names, and of the whole array."""
    prefix = f"{_OF_ATTRIBUTE}{name}."
    return {
        key.removeprefix(prefix): value
        for key, value in metadata.items()
        if key.startswith(prefix) or not key.startswith(_OF_ATTRIBUTE)
    }
