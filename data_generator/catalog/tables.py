"""The named tables."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from adapter_core.errors import UnknownNameError
from data_generator.dataset import Dataset
from data_generator.random_words import Bits
from data_generator.real import flights
from data_generator.realistic.tables import realistic_table
from data_generator.spec import spec
from data_generator.synthetic import uniform, webface
from data_generator.synthetic.workloads import WORKLOADS, workload

if TYPE_CHECKING:
    import pyarrow as pa


USUAL_ROWS = 1_000_000

DEFAULT_SEED = spec.DEFAULT_SEED

_MAKERS: dict[str, Callable[[int, Bits], pa.Array]] = {
    "int": uniform.integers,
    "float": uniform.floats,
    "bool": uniform.booleans,
    "str": uniform.fixed_strings,
}

# Columns of each type, of the eight that a synthetic table has; after the thesis.
_MIXES = {
    "eq": {"int": 2, "float": 2, "bool": 2, "str": 2},
    **{name: {kind: 5 if kind == name else 1 for kind in _MAKERS} for name in _MAKERS},
}


def names() -> list[str]:
    """Return the names of all tables: the uniform ones, the workloads, and the real ones."""
    return [*_MIXES, "webface", *WORKLOADS, *flights.NAMES]


def table(
    name: str,
    rows: int | None = None,
    seed: int = DEFAULT_SEED,
    path: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Return a named table, the same for the same (name, rows, seed) on every machine.

    The real ones have no seed: their first rows are taken.

    Parameters
    ----------
    name : str
        ``eq``, ``int``, ``float``, ``bool`` or ``str`` (8 columns: two of each type, or five of the
        named type and one of each other; integers and floats from 0 to 100, text of 10 letters,
        columns in shuffled order); ``webface`` (33 columns about images of faces); ``core``, ``bi``,
        ``classic``, ``geo``, ``log`` or ``ml`` (20 columns that are like those of real tables, see
        `data_generator.synthetic.workloads`); ``flights`` or ``weather`` (real tables, see
        `data_generator.real.flights`).
    rows : int, optional
        Number of rows; if not given, 1,000,000, or all of a real table.
    seed : int
        Tables of different seeds have nothing in common but their columns.
    path : path-like, optional
        For ``webface`` alone: an HDF5 file with the real table, of which the first `rows` are read.

    Raises
    ------
    UnknownNameError
        If there is no such table.
    ValueError
        If `rows` is negative, if a path is given for a table that is always made, or if the file
        holds another table.
    FileNotFoundError
        If nothing is at `path`.
    TooFewRowsError
        If a real table has fewer rows.
    UnavailableError
        If the package of a real table is missing.
    """
    if name not in names():
        raise UnknownNameError("table", name, names())
    if rows is not None and rows < 0:
        raise ValueError(f"a table cannot have {rows} rows")
    if path is not None:
        if name != "webface":
            raise ValueError(f"table {name!r} is made, not read; only webface takes a path")
        return Dataset(name, webface.load(path, USUAL_ROWS if rows is None else rows))
    if name in flights.NAMES:
        return flights.real_table(name, rows)
    rows = USUAL_ROWS if rows is None else rows
    if name in WORKLOADS:
        return Dataset(name, realistic_table(workload(name), rows, seed, name))
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
