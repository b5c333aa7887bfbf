"""Exact comparison of the values of two columns, whatever dtypes these have.

No value is converted on the way if that could change it: integers beyond 2**53 do not pass through
floats, floats are not cut to integers, nor times to a coarser unit. Numbers compare with numbers, text
with text, times with times. Text is parsed for times alone, which formats without types write so.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from adapter_core.kinds import nested_array
from format_bench.verification.nested import Comparison, differing_nested
from format_bench.verification.numbers import differing_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from format_bench.verification.nested import Leaves

# Nanoseconds in the units of times of pandas.
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}

# Dtypes for the results of `pandas.api.types.infer_dtype` that are numbers.
_NUMBERS = {"boolean": "bool", "integer": "int64", "floating": "float64"}

# Results of `pandas.api.types.infer_dtype` for Python's dates and times.
_TIMES = {"date", "datetime", "datetime64"}


# Characters of names in a message, which stays one line.
_LONG = 80


def other_columns(saved: Sequence[object], read: Sequence[object]) -> str:
    """Return as what columns came back, as a phrase; the first other name where the lists look alike.

    Parameters
    ----------
    saved, read : sequence
        Their names, which differ, or are in another order.
    """
    before, after = (", ".join(map(repr, names))[: _LONG + 1] for names in (saved, read))
    if before[:_LONG] != after[:_LONG]:
        before, after = (
            each if len(each) <= _LONG else f"{each[:_LONG]}..." for each in (before, after)
        )
        return f"columns {before} came back as {after}"
    place = _first_other(saved, read)
    one, other = (repr(names[place]) if place < len(names) else "none" for names in (saved, read))
    # Of long names, where they begin to differ.
    start = max(0, _first_other(one, other) - _LONG // 2)
    one, other = (("..." if start else "") + each[start : start + _LONG] for each in (one, other))
    return f"the name of column {place + 1:,} of {len(saved):,}: {one} came back as {other}"


def _first_other(saved: Sequence[object], read: Sequence[object]) -> int:
    """Return the first place at which two sequences differ, maybe the end of the shorter one."""
    pairs = enumerate(zip(saved, read, strict=False))
    others = (place for place, (one, other) in pairs if one is not other and one != other)
    return next(others, min(len(saved), len(read)))


def differing(
    before: pd.Series, after: pd.Series, numbers: Leaves = differing_numbers
) -> np.ndarray | None:
    """Return a mask of differing values, shape (rows,), or None if the dtypes cannot be compared.

    All nulls are equal, NaN included, whatever its payload. Floats are equal if their bits are; a float
    of fewer bits equals the others that round to it.

    Parameters
    ----------
    before, after : pandas.Series
        The column saved and the one read, shape (rows,), in the same order of rows.
    numbers : callable
        Compares arrays of the numbers inside nested values.
    """
    if (nested := nested_array(before)) is not None:
        return _differing_nested(before, after, nested, numbers)
    nulls = _nulls(before)
    wrong: np.ndarray = nulls != _nulls(after)
    both = ~nulls & ~wrong
    kept, back = (column if both.all() else column[both] for column in (before, after))
    if not len(kept):
        return wrong
    try:
        found = _differing_values(_plain(kept), _plain(back))
    except (ValueError, TypeError, OverflowError):
        return None
    if found is None:
        return None
    wrong[both] = found
    return wrong


def _differing_nested(
    before: pd.Series, after: pd.Series, nested: pa.Array, numbers: Leaves
) -> np.ndarray | None:
    found = nested_array(after)
    if found is None:
        # Nulls alone have no type.
        return before.notna().to_numpy() if after.isna().all() else None
    # pandas does not tell NaN from null among objects.
    as_objects = object in (before.dtype, after.dtype)
    return differing_nested(nested, found, Comparison(numbers, differing, as_objects))


def _nulls(column: pd.Series) -> np.ndarray:
    """Return a mask of nulls, shape (rows,); a complex number with one part of NaN is none."""
    import numpy as np
    import pandas as pd

    if column.dtype.kind == "c":
        values = column.to_numpy()
        both: np.ndarray = np.isnan(values.real) & np.isnan(values.imag)
        return both
    nulls: np.ndarray = column.isna().to_numpy(bool)
    if isinstance(column.dtype, pd.ArrowDtype) and column.dtype.kind == "f":
        nulls = nulls | np.isnan(column.to_numpy(float, na_value=np.nan))
    return nulls


def _plain(column: pd.Series) -> pd.Series:
    """Return values, none of them null, in the plainest dtype that has all of them.

    Categories become their values; nullable, sparse and Arrow's types become NumPy's or objects; and
    objects that are all booleans, integers of 64 bits, or floats become numbers.
    """
    import pandas as pd

    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _plain(column.astype(dtype.categories.dtype))
    if isinstance(dtype, pd.SparseDtype):
        return column.sparse.to_dense()
    if isinstance(dtype, pd.ArrowDtype):
        import pyarrow as pa

        return _plain(pa.array(column.array).to_pandas())
    if dtype == object:
        inferred = pd.api.types.infer_dtype(column, skipna=False)
        if inferred not in _NUMBERS:
            return column
        try:
            return column.astype(_NUMBERS[inferred])
        except OverflowError:
            return column
    if hasattr(dtype, "numpy_dtype"):
        return pd.Series(column.to_numpy(dtype.numpy_dtype))
    return column


def _differing_values(kept: pd.Series, back: pd.Series) -> np.ndarray | None:
    import numpy as np
    import pandas as pd

    if kept.dtype.kind in "biufc" and back.dtype.kind in "biufc":
        return differing_numbers(kept.to_numpy(), back.to_numpy())
    # Before pandas 3, text is objects.
    is_text = _is_text(back)
    if kept.dtype.kind == "M" or (_contains(kept, {"date"}) and (is_text or back.dtype != object)):
        return _differing_times(_times(kept), _times(back), is_zoned=_is_zoned(kept))
    if kept.dtype.kind == "m":
        spans = pd.to_timedelta(back) if is_text else back
        return _differing_counts(kept, spans) if spans.dtype.kind == "m" else None
    if _is_text(kept) and is_text:
        return _differing_texts(kept, back)
    if kept.dtype == back.dtype == object:
        pairs = zip(kept.tolist(), back.tolist(), strict=True)
        return np.fromiter((not _same(one, other) for one, other in pairs), bool, len(kept))
    return np.asarray(kept.array != back.array, bool) if kept.dtype == back.dtype else None


def _times(column: pd.Series) -> pd.Series | None:
    """Return times in their own unit, from text or objects if need be; None if it has others."""
    import numpy as np
    import pandas as pd

    if column.dtype.kind == "M":
        return column
    if _is_text(column):
        # Offsets of a zone may differ between rows, and then only times in UTC have one dtype.
        zoned = re.search(r"[T ].*(?:[zZ]|[+-]\d\d(?::?\d\d)?)$", column.iloc[0])
        return pd.to_datetime(column, format="ISO8601", utc=zoned is not None)
    if _contains(column, {"date"}):
        return pd.Series(np.array(column.tolist(), "M8[D]").astype("M8[s]"))
    return pd.to_datetime(column) if _contains(column, _TIMES) else None


def _is_zoned(column: pd.Series) -> bool:
    import pandas as pd

    return isinstance(column.dtype, pd.DatetimeTZDtype)


def _differing_times(kept: Any, back: Any, *, is_zoned: bool) -> np.ndarray | None:
    """Return the mask for times; those read without a zone are taken for UTC if one was saved."""
    if kept is None or back is None or back.dtype.kind != "M":
        return None
    return None if _is_zoned(back) and not is_zoned else _differing_counts(kept, back)


def _differing_counts(kept: pd.Series, back: pd.Series) -> np.ndarray:
    """Return the mask for times, or spans of time, by the counts of their units."""
    import numpy as np

    one, other = (each.astype("int64").to_numpy() for each in (kept, back))
    ratio = _NANOSECONDS[kept.dt.unit], _NANOSECONDS[back.dt.unit]
    if ratio[0] == ratio[1]:
        return one != other
    coarse, fine = (one, other) if ratio[0] > ratio[1] else (other, one)
    # To multiply the coarse counts could overflow.
    whole, part = np.divmod(fine, max(ratio) // min(ratio))
    return (whole != coarse) | (part != 0)


def _is_text(column: pd.Series) -> bool:
    import pandas as pd

    return isinstance(column.dtype, pd.StringDtype) or _contains(column, {"string"})


def _contains(column: pd.Series, inferred: set[str]) -> bool:
    """Return True if a column of objects has one of these types alone."""
    import pandas as pd

    return column.dtype == object and pd.api.types.infer_dtype(column, skipna=False) in inferred


def _differing_texts(kept: pd.Series, back: pd.Series) -> np.ndarray:
    import numpy as np

    if kept.dtype == back.dtype and kept.dtype != object:
        return np.asarray(kept.array != back.array, bool)
    return np.asarray(kept.to_numpy(object) != back.to_numpy(object), bool)


def _same(one: Any, other: Any) -> bool:
    """Return True for equal objects of one type: 1, True and 1.0 are three values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return one == other and math.copysign(1.0, one) == math.copysign(1.0, other)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(_same, one.values(), other.values()))
    return bool(one == other)
