"""Comparison of a table read back with the one saved.

A changed dtype is a loss, and so are changed categories that no row has, or another scale of equal
decimals. A changed value, row, name or order is an error. Floats are compared bit for bit, except that
all NaN are equal.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from adapter_core.kinds import nested_array
from format_bench.verification import Diff
from format_bench.verification.columns import differing, other_columns
from format_bench.verification.numbers import differing_numbers

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

# Relative error allowed to readers of text: pandas' parser of JSON errs by two ulps.
_READERS_ERROR = 2.0**-50


def is_rounded(
    before: np.ndarray, after: np.ndarray, digits: int, decimals: int | None = None
) -> np.ndarray:
    """Return True for floats that differ by rounding alone, shape (values,).

    A rounded float has the sign of the one before, is finite, and is not zero. It differs by half a unit
    of the last kept place, and by the error of a reader of text, at most half a unit more.

    Parameters
    ----------
    before, after : numpy.ndarray
        The floats saved and read, dtype float64, shape (values,).
    digits : int
        Significant digits that the writer keeps.
    decimals : int, optional
        Decimals that it keeps, of floats that have as many: 10**-decimals and above.
    """
    import numpy as np

    comparable = np.isfinite(before) & np.isfinite(after) & (before != 0) & (after != 0)
    comparable &= np.signbit(before) == np.signbit(after)
    rounded = np.zeros(len(before), bool)
    one, other = np.abs(before[comparable]), np.abs(after[comparable])
    # Shares of the value neither overflow nor vanish, as differences of large and of small ones do.
    _, exponents = np.frexp(one)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(one, -exponents)
        share = np.abs(scaled - np.ldexp(other, -exponents)) / scaled
        logarithms = np.log10(one)
        # A power of ten has the unit of the digits after it, whatever its logarithm is rounded to.
        unit = 10.0 ** (np.floor(logarithms + 1e-12) - logarithms + 1 - digits)
        if decimals is not None:
            last = 10.0**-decimals
            unit = np.where(one >= last, np.maximum(unit, last / one), unit)
    rounded[comparable] = share <= (unit / 2 + np.minimum(unit / 2, _READERS_ERROR)) * (1 + 1e-9)
    return rounded


def verify(
    saved: pd.DataFrame,
    read: pd.DataFrame,
    kept_digits: int | None = None,
    kept_decimals: int | None = None,
) -> Diff:
    """Compare a table read back with the one saved.

    Parameters
    ----------
    saved, read : pandas.DataFrame
        Shape (rows, columns).
    kept_digits : int, optional
        Significant decimal digits of floats that the format declares to keep: rounding to these is a
        loss. By default, floats must be equal bit for bit.
    kept_decimals : int, optional
        Decimals of floats that it declares to keep at least, where these are fewer than the digits.
    """
    import numpy as np
    import pandas as pd

    names, back = list(saved.columns), list(read.columns)
    if names != back:
        return Diff(errors=(other_columns(names, back),))
    if len(saved) != len(read):
        return Diff(errors=(f"{len(saved):,} rows came back as {len(read):,}",))
    losses, errors = [], []
    lost: set[int] = set()
    index = read.index
    if not index.equals(pd.RangeIndex(len(read))) or index.dtype.kind != "i" or index.name is not None:
        errors.append("the index is not the default one")
    for position, name in enumerate(saved.columns):
        before, after = saved.iloc[:, position], read.iloc[:, position].set_axis(saved.index)
        changes = _changes(before, after)
        wrong = differing(before, after)
        if wrong is None:
            errors.append(f"column {name}: {after.dtype} cannot be compared with {before.dtype}")
        elif wrong.any():
            rounding = _rounding(before[wrong], after[wrong], kept_digits, kept_decimals)
            if rounding:
                changes.append(rounding)
            else:
                first = int(np.argmax(wrong))
                errors.append(
                    f"column {name}: {int(wrong.sum()):,} of {len(saved):,} values differ, first in row "
                    f"{first}: {_shown(before.iloc[first])} came back as {_shown(after.iloc[first])}"
                )
        if changes:
            lost.add(position)
            losses += [f"column {name}: {change}" for change in changes]
    return Diff(tuple(losses), tuple(errors), len(lost))


def _changes(before: pd.Series, after: pd.Series) -> list[str]:
    """Return changes that leave every value right, as phrases."""
    import pandas as pd

    if isinstance(before.dtype, pd.CategoricalDtype) and isinstance(after.dtype, pd.CategoricalDtype):
        return _changed_categories(before.dtype, after.dtype)
    if before.dtype != after.dtype:
        return [f"{before.dtype} came back as {after.dtype}"]
    if before.dtype == object and _scales(before) != _scales(after):
        return ["decimals came back with other scales"]
    return []


def _changed_categories(before: pd.CategoricalDtype, after: pd.CategoricalDtype) -> list[str]:
    changes = []
    if before.ordered != after.ordered:
        words = [("ordered" if each.ordered else "unordered") for each in (before, after)]
        changes.append(f"{words[0]} categories came back {words[1]}")
    one, other = before.categories, after.categories
    if one.dtype != other.dtype:
        changes.append(f"categories of {one.dtype} came back as {other.dtype}")
    elif not one.equals(other):
        same = len(one) == len(other) and one.isin(other).all()
        changes.append("categories came back in another order" if same else "other categories came back")
    return changes


def _scales(column: pd.Series) -> list[int | str] | None:
    """Return the scale of each decimal of a column of decimals; None for others."""
    import pandas as pd

    if pd.api.types.infer_dtype(column, skipna=True) != "decimal":
        return None
    return [each.as_tuple().exponent for each in column if isinstance(each, Decimal)]


def _rounding(before: pd.Series, after: pd.Series, digits: int | None, decimals: int | None) -> str:
    """Return the rounding that floats differ by, as a phrase; empty if they differ by more."""
    if digits is not None and nested_array(before) is not None:
        wrong = differing(before, after, partial(_beyond_rounding, digits, decimals))
        is_rounded_alone = wrong is not None and not wrong.any()
        return f"floats inside were rounded to {digits} digits" if is_rounded_alone else ""
    if digits is None or before.dtype.kind != "f" or after.dtype.kind not in "fiu":
        return ""
    one, other = before.to_numpy(float), after.to_numpy(float)
    if is_rounded(one, other, digits).all():
        return f"floats were rounded to {digits} digits"
    if decimals is not None and is_rounded(one, other, digits, decimals).all():
        return f"floats were rounded to {decimals} decimals"
    return ""


def _beyond_rounding(
    digits: int, decimals: int | None, before: np.ndarray, after: np.ndarray
) -> np.ndarray | None:
    """Return the mask of numbers that differ by more than rounding, shape (values,)."""
    wrong = differing_numbers(before, after)
    if wrong is not None and wrong.any() and before.dtype.kind == "f":
        one, other = before[wrong].astype(float), after[wrong].astype(float)
        wrong[wrong] = ~is_rounded(one, other, digits, decimals)
    return wrong


def _shown(value: Any) -> str:
    """Return the representation of a value as a Python object: NumPy's own differs between versions."""
    import numpy as np

    return repr(value.item() if isinstance(value, np.generic) else value)
