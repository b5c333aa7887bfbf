"""Files and folders that contain n-d arrays, one module for each kind.

Each module of this folder declares one subclass of `data_generator.array_files._file.ArrayFile`. Values
are those in the file: scale factors, offsets and fill values are not applied.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType

from adapter_core.errors import InvalidDataError
from data_generator.array_files._file import ArrayFile, StoredArray
from data_generator.errors import DAMAGED, library_errors
from data_generator.location import DataLocation

__all__ = ["ArrayFile", "StoredArray", "array_file"]

# HDF5 may begin after a block of the user's of up to 32 KiB.
HEAD_BYTES = 2**16


@cache
def every_kind() -> tuple[type[ArrayFile], ...]:
    """Return the class of each kind of file, ordered by the names of their modules."""
    names = sorted(each.name for each in pkgutil.iter_modules(__path__) if each.name[0] != "_")
    return tuple(_class_of(import_module(f"{__name__}.{name}")) for name in names)


def _class_of(module: ModuleType) -> type[ArrayFile]:
    """Return the class that a module declares; those that it imports are of other modules."""
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    (found,) = (
        each for each in classes if issubclass(each, ArrayFile) and each.__module__ == module.__name__
    )
    return found


def array_file(place: DataLocation) -> ArrayFile | None:
    """Return the file of arrays at a location; None if it contains something else.

    Raises
    ------
    InvalidDataError
        If the name is of a file of arrays, but the content is not.
    """
    path = place.path
    if place.is_folder:
        return next((kind(path) for kind in every_kind() if kind.is_in(path)), None)
    with library_errors(path, "a file"), path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    for kind in every_kind():
        if kind.recognises(path, head):
            return kind(path)
    for kind in every_kind():
        if path.name.lower().endswith(kind.endings):
            problem = f"is {kind.kind} by its name, but not by its content" if head else "is empty"
            raise InvalidDataError(path, problem, DAMAGED)
    return None
