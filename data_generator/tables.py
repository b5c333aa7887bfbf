"""The named tables."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from adapter_core.errors import UnknownName
from data_generator import columns, webface
from data_generator.bits import Bits
from data_generator.dataset import Dataset

if TYPE_CHECKING:
    import pyarrow as pa

DEFAULT_SEED = 20240501

_MAKERS: dict[str, Callable[[int, Bits], pa.Array]] = {
    "int": columns.integers,
    "float": columns.floats,
    "bool": columns.booleans,
    "str": columns.fixed_strings,
}

# Columns of each type, of the eight that a synthetic table has; after the thesis.
_MIXES = {
    "eq": {"int": 2, "float": 2, "bool": 2, "str": 2},
    **{name: {kind: 5 if kind == name else 1 for kind in _MAKERS} for name in _MAKERS},
}


def names() -> list[str]:
    """Return the names of all tables."""
    return [*_MIXES, "webface"]


def table(
    name: str,
    rows: int = 1_000_000,
    seed: int = DEFAULT_SEED,
    path: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Return a named table, the same for the same (name, rows, seed) on every machine.

    Parameters
    ----------
    name : str
        ``eq``, ``int``, ``float``, ``bool`` or ``str`` (8 columns: two of each type, or five of the
        named type and one of each other; integers and floats from 0 to 100, text of 10 letters,
        columns in shuffled order), or ``webface`` (33 columns about images of faces).
    rows : int
        Number of rows.
    seed : int
        Tables of different seeds have nothing in common but their columns.
    path : path-like, optional
        For ``webface`` alone: an HDF5 file with the real table, of which the first `rows` are read.

    Raises
    ------
    UnknownName
        If there is no such table.
    ValueError
        If `rows` is negative, if a path is given for a table that is always made, or if the file
        holds another table.
    FileNotFoundError
        If nothing is at `path`.
    """
    if name not in names():
        raise UnknownName("table", name, names())
    if rows < 0:
        raise ValueError(f"a table cannot have {rows} rows")
    if path is not None:
        if name != "webface":
            raise ValueError(f"table {name!r} is made, not read; only webface takes a path")
        return Dataset(name, webface.load(path, rows))
    recipe = webface.recipe(rows, seed) if name == "webface" else _recipe(name, rows, seed)
    return Dataset(name, _arrow_table(recipe).to_pandas())


def _recipe(name: str, rows: int, seed: int) -> dict[str, Callable[[], pa.Array]]:
    """Return a maker for each column, in shuffled order."""
    recipe = {
        f"{kind}_{i}": partial(make, rows, Bits(name, f"{kind}_{i}", seed))
        for kind, make in _MAKERS.items()
        for i in range(_MIXES[name][kind])
    }

    def place(column: str) -> bytes:
        return hashlib.sha256(f"{name} {column} {seed}".encode()).digest()

    return {column: recipe[column] for column in sorted(recipe, key=place)}


def _arrow_table(recipe: dict[str, Callable[[], pa.Array]]) -> pa.Table:
    import pyarrow as pa

    return pa.table({column: make() for column, make in recipe.items()})
