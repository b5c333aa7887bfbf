"""Exact comparison of nested columns: lists, vectors, structs and maps, level by level through Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapter_core.kinds import NESTED, NUMBERS, Kind, kind_of_arrow

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pyarrow as pa

    Leaves = Callable[[Any, Any], np.ndarray | None]

_OF_ELEMENTS = {Kind.LIST, Kind.VECTOR, Kind.MAP}


@dataclass(frozen=True)
class Comparison:
    """Comparison of values that are not nested, none of them null."""

    numbers: Leaves
    """Of arrays of numbers, as `numbers.differing_numbers`."""
    others: Leaves
    """Of columns, as `columns.differing`."""
    nan_is_null: bool = False
    """Take NaN for null, as pandas does among objects."""


def differing_nested(before: pa.Array, after: pa.Array, leaves: Comparison) -> np.ndarray | None:
    """Return a mask of differing values, shape (rows,), or None if the types cannot be compared.

    A null differs from an empty list, from a struct of nulls, and, inside a value, from NaN. Entries of
    maps and elements of lists have an order; structs have the same names in the same order.

    Parameters
    ----------
    before, after : pyarrow.Array
        The column saved and the one read, shape (rows,).
    leaves : Comparison
        Compares the values inside.
    """
    import numpy as np

    if Kind.OTHER_NESTED in (_kind(before), _kind(after)):
        # Arrow lacks functions for unions and views of lists, and casts some wrongly (26.0.1).
        pairs = zip(before.to_pylist(), after.to_pylist(), strict=True)
        return np.fromiter((repr(one) != repr(other) for one, other in pairs), bool, len(before))
    nulls, nulls_after = (_nulls(each, leaves.nan_is_null) for each in (before, after))
    wrong: np.ndarray = nulls != nulls_after
    both = ~nulls & ~wrong
    kept, back = (each if both.all() else each.filter(both) for each in (before, after))
    if not len(kept):
        return wrong
    kinds = _kind(kept), _kind(back)
    found: np.ndarray | None
    if {*kinds} <= _OF_ELEMENTS:
        found = _differing_lists(kept, back, leaves)
    elif kinds == (Kind.STRUCT, Kind.STRUCT):
        found = _differing_structs(kept, back, leaves)
    elif {*kinds} & NESTED:
        return None
    else:
        found = _differing_leaves(kept, back, leaves)
    if found is None:
        return None
    wrong[both] = found
    return wrong


def _kind(array: pa.Array) -> Kind:
    kind = kind_of_arrow(array.type)
    return Kind.STRUCT if kind is Kind.EMPTY_STRUCT else kind


def _nulls(array: pa.Array, nan_is_null: bool) -> np.ndarray:  # noqa: FBT001 (as given)
    nulls: np.ndarray = array.is_null(nan_is_null=nan_is_null).to_numpy(zero_copy_only=False)
    return nulls


def _differing_lists(kept: pa.Array, back: pa.Array, leaves: Comparison) -> np.ndarray | None:
    import numpy as np

    lengths, lengths_after = _lengths(kept), _lengths(back)
    wrong: np.ndarray = lengths != lengths_after
    same = ~wrong
    one, other = (_elements(each if same.all() else each.filter(same)) for each in (kept, back))
    found = differing_nested(one, other, leaves)
    if found is None:
        return None
    if found.any():
        rows = np.repeat(np.flatnonzero(same), lengths[same])
        wrong[rows[found]] = True
    return wrong


def _lengths(array: pa.Array) -> np.ndarray:
    """Return the number of elements of each list or map, none of them null, shape (rows,)."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_map(array.type):
        lengths: np.ndarray = np.diff(array.offsets.to_numpy())
    else:
        lengths = pc.list_value_length(array).to_numpy(zero_copy_only=False)
    return lengths.astype(np.int64)


def _elements(array: pa.Array) -> pa.Array:
    """Return the elements of all lists, or the entries of all maps, one after the other."""
    import pyarrow as pa

    if not pa.types.is_map(array.type):
        return array.flatten()
    first, end = (array.offsets[place].as_py() for place in (0, -1))
    return pa.StructArray.from_arrays(
        [each.slice(first, end - first) for each in (array.keys, array.items)], ["key", "value"]
    )


def _differing_structs(kept: pa.Array, back: pa.Array, leaves: Comparison) -> np.ndarray | None:
    import numpy as np

    names, names_after = ([each.name for each in array.type] for array in (kept, back))
    wrong = np.full(len(kept), names != names_after)
    if names == names_after:
        for one, other in zip(kept.flatten(), back.flatten(), strict=True):
            found = differing_nested(one, other, leaves)
            if found is None:
                return None
            wrong |= found
    return wrong


def _differing_leaves(kept: pa.Array, back: pa.Array, leaves: Comparison) -> np.ndarray | None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    one, other = map(_plain, (kept, back))
    if all(kind_of_arrow(each.type) in NUMBERS for each in (one, other)):
        return leaves.numbers(*(each.to_numpy(zero_copy_only=False) for each in (one, other)))
    if one.type == other.type and not pa.types.is_interval(one.type):
        return np.asarray(pc.not_equal(one, other).to_numpy(zero_copy_only=False), bool)
    return leaves.others(one.to_pandas(), other.to_pandas())


def _plain(array: pa.Array) -> pa.Array:
    """Return values in the plainest type that has all of them."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        return _plain(array.dictionary_decode())
    kind = kind_of_arrow(array.type)
    plain = {Kind.TEXT: pa.large_string(), Kind.BINARY: pa.large_binary()}
    return array.cast(plain[kind]) if kind in plain else array
