"""Synthetic twins of tables, and the search for texts of the original in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from data_generator.profiling.column_profile import entries_of
from data_generator.profiling.profile import as_arrow
from data_generator.realistic.tables import realistic_table
from data_generator.spec.arrow import type_properties

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from data_generator.spec.spec import TableSpec


# Number of twins that are generated in search of one without texts of the original.
SEEDS = 10


class Twin(NamedTuple):
    """Synthetic table with the statistics of an original."""

    spec: TableSpec
    """Specification of the twin, with its seed."""
    df: pd.DataFrame
    shared_texts: int
    """Number of distinct texts that the original contains too, by chance: there are few one-letter
    codes."""


def twin(spec: TableSpec, original: pd.DataFrame) -> Twin:
    """Return a table with the properties of a profile, and with other texts than the original.

    The texts of a twin differ from the original's by construction: short and simple ones start with a
    tilde, and all have capitals for small letters and small letters for capitals and digits. Several
    seeds are tried, and the twin with the fewest texts of the original is returned.

    Parameters
    ----------
    spec : TableSpec
        Result of `data_generator.profiling.profile.profile`.
    original : pandas.DataFrame
        Profiled table.
    """
    there = texts(original)
    best: Twin | None = None
    for seed in range(spec.seed, spec.seed + SEEDS):
        made = replace(spec, seed=seed)
        df = realistic_table(made)
        found = Twin(made, df, len(there & texts(df)))
        if best is None or found.shared_texts < best.shared_texts:
            best = found
        if not best.shared_texts:
            break
    if best is None:
        raise AssertionError("no seed was tried")
    return best


def texts(df: pd.DataFrame) -> set[bytes]:
    """Return all texts of a table: text, categories and bytes, also inside lists and records."""
    found: set[bytes] = set()
    for name in df.columns:
        found |= _texts(as_arrow(str(name), df[name]))
    return found - {b""}


def _texts(column: pa.Array) -> set[bytes]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _texts(column.dictionary)
    if pa.types.is_struct(kind):
        return set[bytes]().union(*map(_texts, column.flatten()))
    if pa.types.is_map(kind):
        return set[bytes]().union(*map(_texts, entries_of(column)))
    if pa.types.is_nested(kind):
        return _texts(column.flatten())
    if (type_properties(kind) or {}).get("dtype") not in ("str", "bytes") or pa.types.is_null(kind):
        return set()
    return {value for value in column.cast(pa.large_binary()).unique().to_pylist() if value is not None}
