"""Comparison of a table read back with the one saved.

A changed dtype is a loss; a changed value, row, name or order is an error. Floats are compared bit for
bit, except that all NaN are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


NAMES_SHOWN = 5


@dataclass(frozen=True)
class TableDiff:
    """The result of a comparison."""

    losses: tuple[str, ...] = ()
    """Changes that leave every value right, as sentences: changed dtypes, rounded floats."""
    lost_columns: int = 0
    """Number of columns with losses."""
    errors: tuple[str, ...] = ()
    """Wrong values, nulls, rows, names or order, as sentences."""

    @property
    def exact(self) -> bool:
        """True without losses and errors."""
        return not self.losses and not self.errors


def verify(saved: pd.DataFrame, read: pd.DataFrame, kept_digits: int | None = None) -> TableDiff:
    """Compare a table read back with the one saved.

    Parameters
    ----------
    saved, read : pandas.DataFrame
        Shape (rows, columns).
    kept_digits : int, optional
        Decimal digits of floats that the format declares to keep; smaller differences are losses. By
        default, floats must be equal bit for bit.
    """
    import pandas as pd

    if list(saved.columns) != list(read.columns):
        return TableDiff(errors=(f"columns {_short(saved)} came back as {_short(read)}",))
    if len(saved) != len(read):
        return TableDiff(errors=(f"{len(saved):,} rows came back as {len(read):,}",))
    losses, errors = [], []
    lost: set[int] = set()
    if not read.index.equals(pd.RangeIndex(len(read))):
        errors.append("the index is not the default one")
    for position, name in enumerate(saved.columns):
        before, after = saved.iloc[:, position], read.iloc[:, position].set_axis(saved.index)
        if before.dtype != after.dtype:
            lost.add(position)
            losses.append(f"column {name}: {before.dtype} came back as {after.dtype}")
        wrong = _differing(before, after)
        if wrong is None:
            errors.append(f"column {name}: {after.dtype} cannot be compared with {before.dtype}")
        elif wrong.any():
            if kept_digits and _all_rounded(before[wrong], after[wrong], kept_digits):
                lost.add(position)
                losses.append(f"column {name}: floats were rounded to {kept_digits} digits")
            else:
                first = int(wrong.argmax())
                errors.append(
                    f"column {name}: {int(wrong.sum()):,} of {len(saved):,} values differ, first in row "
                    f"{first}: {_shown(before.iloc[first])} came back as {_shown(after.iloc[first])}"
                )
    return TableDiff(tuple(losses), len(lost), tuple(errors))


def _short(df: pd.DataFrame) -> str:
    first = [repr(name) for name in df.columns[:NAMES_SHOWN]]
    return ", ".join(first) + (", ..." if len(df.columns) > NAMES_SHOWN else "")


def _differing(before: pd.Series, after: pd.Series) -> np.ndarray | None:
    """Return a mask of differing values, shape (rows,), or None if the dtypes cannot be compared."""
    import numpy as np
    import pandas as pd

    nulls = before.isna().to_numpy()
    wrong: np.ndarray = nulls != after.isna().to_numpy()
    both = ~nulls & ~wrong
    kept = before[both]
    try:
        back = _as_dtype_of(kept, after[both])
    except (ValueError, TypeError, OverflowError):
        return None
    # Nulls, NaN included, are compared above; bits distinguish -0.0 from 0.0.
    if isinstance(kept.dtype, np.dtype) and kept.dtype.kind in "fc":
        wrong[both] = (_bits(kept) != _bits(back)).any(axis=1)
    elif kept.dtype == object or isinstance(kept.dtype, pd.ArrowDtype):
        # 1 == True == 1.0 in Python: equal objects have to be of one type as well.
        pairs = zip(kept.tolist(), back.tolist(), strict=True)
        wrong[both] = [a != b or type(a) is not type(b) for a, b in pairs]
    else:
        wrong[both] = (kept != back).to_numpy(bool)
    return wrong


def _bits(values: pd.Series) -> np.ndarray:
    """Return the bytes of floats or complex numbers, shape (rows, bytes), dtype uint8."""
    import numpy as np

    array = np.ascontiguousarray(values.to_numpy())
    return array.view(np.uint8).reshape(len(array), array.itemsize)


def _as_dtype_of(model: pd.Series, values: pd.Series) -> pd.Series:
    """Return values converted to the dtype of `model`, from its usual notation if they are text."""
    import pandas as pd

    dtype: Any = model.dtype
    if values.dtype == dtype:
        return values
    from_text = isinstance(values.dtype, pd.StringDtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return pd.to_datetime(values, utc=True, format="ISO8601" if from_text else None).astype(dtype)
    if dtype.kind == "M" and from_text:
        return pd.to_datetime(values, format="ISO8601").dt.as_unit(pd.Series(dtype=dtype).dt.unit)
    if dtype.kind == "m" and from_text:
        return pd.to_timedelta(values).astype(dtype)
    if dtype == object and len(model):
        return _as_objects_like(model.iloc[0], values)
    if isinstance(dtype, pd.CategoricalDtype):
        return values.astype(dtype.categories.dtype).astype(dtype)
    return values.astype(dtype)


def _as_objects_like(example: Any, values: pd.Series) -> pd.Series:
    import datetime

    import pandas as pd

    if type(example) is datetime.date:
        from_text = isinstance(values.dtype, pd.StringDtype)
        dates = pd.to_datetime(values, format="ISO8601" if from_text else None)
        return dates.dt.date.astype(object)
    return values.astype(type(example)).astype(object)


def _all_rounded(before: pd.Series, after: pd.Series, digits: int) -> bool:
    """Return True if floats differ only by rounding to significant digits, or to decimals."""
    import numpy as np

    if before.dtype.kind != "f" or after.dtype.kind not in "fiu":
        return False
    a, b = before.to_numpy(float), after.to_numpy(float)
    # Significant digits matter for large numbers, decimals for those below 1.
    return bool(np.all(np.abs(a - b) <= 10.0**-digits * np.maximum(1, 10 * np.abs(a))))


def _shown(value: Any) -> str:
    """Return the representation of a value as a Python object: NumPy's own differs between versions."""
    import numpy as np

    return repr(value.item() if isinstance(value, np.generic) else value)
