"""Readers of users' table files, one module for each kind of file.

Each module of this folder declares a class ``Reader``, a `data_generator.readers._reader.TableReader`.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from data_generator.readers._reader import TableReader


@cache
def every_reader() -> tuple[TableReader, ...]:
    """Return all readers, ordered by the names of their files."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if module.name[0] != "_"]
    return tuple(import_module(f"{__name__}.{name}").Reader() for name in sorted(names))
