"""Columns of vectors, lists of one length, as arrays of two dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def problem(array: pa.Array) -> str:
    """Return the contents of vectors that an array of numbers cannot store; empty if there are none.

    Parameters
    ----------
    array : pyarrow.FixedSizeListArray
        Shape (rows,); vectors themselves may be null.
    """
    from pyarrow import types

    of = array.type.value_type
    if not (types.is_integer(of) or types.is_floating(of)):
        return "values that are no numbers"
    if not array.type.list_size:
        return "no values"
    return "nulls" if array.flatten().null_count else ""


def numbers_of(array: pa.Array) -> np.ndarray:
    """Return the numbers of vectors without a `problem`, shape (rows, length); of nulls they are 0."""
    import numpy as np

    size, numbers = array.type.list_size, array.flatten().to_numpy()  # without those of nulls
    if not array.null_count:
        return numbers.reshape(len(array), size)
    whole = np.zeros((len(array), size), numbers.dtype)
    whole[array.is_valid().to_numpy(zero_copy_only=False)] = numbers.reshape(-1, size)
    return whole


def described(dtype: pa.DataType) -> dict[str, Any]:
    """Return a type of vectors in plain values, for `type_of`."""
    field = dtype.value_field
    return {
        "length": dtype.list_size,
        "of": str(field.type),
        "item": field.name,
        "nullable": field.nullable,
    }


def type_of(description: dict[str, Any]) -> pa.DataType:
    """Return the type of vectors that `described` has described."""
    import pyarrow as pa

    field = pa.field(
        description["item"], pa.type_for_alias(description["of"]), nullable=description["nullable"]
    )
    return pa.list_(field, description["length"])


def vectors_of(numbers: np.ndarray, dtype: pa.DataType, valid: np.ndarray | None) -> pa.Array:
    """Return numbers, shape (rows, length), as vectors, with a null where `valid` is false."""
    import numpy as np
    import pyarrow as pa

    plain = np.ascontiguousarray(numbers).reshape(-1)
    mask = None if valid is None else pa.array(~valid)
    return pa.FixedSizeListArray.from_arrays(pa.array(plain, dtype.value_type), type=dtype, mask=mask)
