"""Tables of uniform values, with equal numbers of columns of each type or with one type prevailing.

Eight columns in shuffled order: two of each type in ``eq``; in ``int``, ``float``, ``bool`` and ``str``
five of that type and one of each other. Numbers are from 0 to 100. The thesis has the same mixes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.random_words import RandomWords
from data_generator.synthetic import uniform_columns

if TYPE_CHECKING:
    import pyarrow as pa


_MAKERS: dict[str, Callable[[int, RandomWords], pa.Array]] = {
    "int": uniform_columns.integers,
    "float": uniform_columns.floats,
    "bool": uniform_columns.booleans,
    "str": uniform_columns.fixed_strings,
}

_TYPES = {"int": "integers", "float": "floats", "bool": "booleans", "str": "texts of 10 letters"}


def _table(name: str, columns: dict[str, int], rows: int, seed: int) -> Dataset:
    makers = {
        f"{kind}_{i}": partial(make, rows, RandomWords(name, f"{kind}_{i}", seed))
        for kind, make in _MAKERS.items()
        for i in range(columns[kind])
    }

    # Formats that keep neighbouring columns together would profit from columns grouped by type.
    def shuffled_place(column: str) -> bytes:
        return hashlib.sha256(f"{name} {column} {seed}".encode()).digest()

    ordered = {column: makers[column] for column in sorted(makers, key=shuffled_place)}
    return Dataset(name, uniform_columns.to_pandas(ordered))


def _definition(name: str, description: str, columns: dict[str, int]) -> DatasetDefinition:
    return DatasetDefinition(
        name=name,
        family="tables",
        description=f"8 columns of uniform values: {description}",
        make=partial(_table, name, columns),
        default_count=1_000_000,
    )


DATASETS = (
    _definition("eq", f"two each of {', '.join(_TYPES.values())}", dict.fromkeys(_TYPES, 2)),
    *(
        _definition(name, f"five of {words}, one of each other", dict.fromkeys(_TYPES, 1) | {name: 5})
        for name, words in _TYPES.items()
    ),
)
