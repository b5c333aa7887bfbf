"""Readers of users' table files, one module for each kind of file.

Each module of this folder declares one subclass of `data_generator.readers._reader.TableReader`.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType

from data_generator.readers._reader import TableReader


@cache
def every_reader() -> tuple[TableReader, ...]:
    """Return all readers, ordered by the names of their files."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if module.name[0] != "_"]
    return tuple(_reader_class(import_module(f"{__name__}.{name}"))() for name in sorted(names))


def _reader_class(module: ModuleType) -> type[TableReader]:
    """Return the reader that a module declares; those that it imports are of other modules."""
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    (found,) = (
        each for each in classes if issubclass(each, TableReader) and each.__module__ == module.__name__
    )
    return found
