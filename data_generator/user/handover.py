"""Tables handed over by the confined process that read them, in a form that nobody has to trust.

A file has one pickle of data for each column, which `data_generator.readers._pickles` turns into values
without Python's unpickler. Columns of Arrow are in Arrow's own stream, and are validated.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Iterator
from datetime import timezone
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from adapter_core.errors import ForeignPickleError, UserDataError
from adapter_core.values import in_utc
from data_generator.readers import _pickles

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

# Most values that are written at once, if they are more than a column.
BATCH_VALUES = 2**22

_SIZE = struct.Struct("<Q")


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """Return how to make a value that Python pickles by an inner state."""
        return (UUID, (str(value),)) if type(value) is UUID else NotImplemented


def store(df: pd.DataFrame, path: Path) -> None:
    """Write a table with the default index."""
    with path.open("wb") as file:
        _write(file, [list(df.columns), len(df)])
        for first, last in _batches(df):
            part = df.iloc[:, first:last]
            alone = last - first == 1
            _write(file, _parts(part.iloc[:, 0]) if alone else {"values": part.to_numpy()})


def load(path: Path, *, trusted: bool) -> pd.DataFrame:
    """Return the table of a file that `store` wrote, or that pretends to be one.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    trusted : bool
        Values of any class are loaded, because the user trusts the pickle that they come from.

    Raises
    ------
    UserDataError
        If it contains something else than columns of data.
    """
    import pandas as pd

    try:
        with path.open("rb") as file:
            parts = _read(file, trusted=trusted)
            names, rows = next(parts)
            found = [_frame(each) for each in parts]
        _check(names, rows, found)
        # A copy has one block for each data type.
        df = pd.concat(found, axis=1, ignore_index=True).copy()
        df.columns = pd.Index(names)
    except ForeignPickleError as error:
        raise UserDataError(
            f"it has values of another kind than data: {error}; if you trust where they come from, "
            "add --trust-pickle"
        ) from error
    except UserDataError:
        raise
    except Exception as error:
        raise UserDataError(f"it was not handed over: {type(error).__name__}: {error}") from error
    return df


def _batches(df: pd.DataFrame) -> Iterator[tuple[int, int]]:
    """Yield the first and the end of columns that are written together, of one type in NumPy."""
    import numpy as np

    dtypes = list(df.dtypes)
    most = max(1, BATCH_VALUES // max(1, len(df)))
    first = 0
    for place in range(1, len(dtypes) + 1):
        is_batch = place < len(dtypes) and place - first < most and isinstance(dtypes[first], np.dtype)
        if not is_batch or dtypes[place] != dtypes[first]:
            yield first, place
            first = place


def _frame(parts: dict[str, Any]) -> pd.DataFrame:
    """Return the columns of a mapping that `store` wrote."""
    import numpy as np
    import pandas as pd

    values = parts.get("values")
    if type(values) is np.ndarray and values.ndim == 2 and "tz" not in parts:  # noqa: PLR2004 (axes)
        return pd.DataFrame(values, dtype=values.dtype)  # without a look at objects
    return _column(parts).to_frame()


def _check(names: Any, rows: Any, found: list[pd.DataFrame]) -> None:
    columns = sum(each.shape[1] for each in found)
    if not found or columns != len(names) or any(len(each) != rows for each in found):
        raise UserDataError("columns are missing, or have other lengths")


def _write(file: IO[bytes], value: Any) -> None:
    held = io.BytesIO()
    _Pickler(held, protocol=_pickles.NEWEST_PROTOCOL).dump(value)
    file.write(_SIZE.pack(held.tell()))
    file.write(held.getbuffer())


def _read(file: IO[bytes], *, trusted: bool) -> Iterator[Any]:
    while head := file.read(_SIZE.size):
        data = file.read(_SIZE.unpack(head)[0])
        yield pickle.loads(data) if trusted else _pickles.loads(data)  # noqa: S301 (trusted)


def _parts(column: pd.Series) -> dict[str, Any]:
    """Return a column as a mapping of data."""
    import pandas as pd
    import pyarrow as pa

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = _parts(dtype.categories.to_series())
        return {"codes": column.cat.codes.to_numpy(), "of": categories, "ordered": dtype.ordered}
    if isinstance(dtype, pd.PeriodDtype):
        return {"period": dtype.name, "ordinals": column.array.asi8}
    if isinstance(dtype, pd.IntervalDtype):
        left, right = (pd.Series(each) for each in (column.array.left, column.array.right))
        return {"left": _parts(left), "right": _parts(right), "closed": dtype.closed}
    if isinstance(dtype, pd.SparseDtype):
        return {"sparse": column.sparse.to_dense().to_numpy(), "fill": dtype.fill_value}
    if isinstance(dtype, pd.StringDtype):
        missing = "NA" if dtype.na_value is pd.NA else "nan"
        return {"arrow": _stream(pa.array(column.array)), "text": [dtype.storage, missing]}
    if isinstance(dtype, pd.ArrowDtype):
        return {"arrow": _stream(column.array.__arrow_array__())}
    if isinstance(dtype, pd.DatetimeTZDtype):
        zone = dtype.tz if isinstance(dtype.tz, ZoneInfo | timezone) else str(dtype.tz)
        return {"values": in_utc(column).to_numpy(), "tz": zone}
    if pd.api.types.is_extension_array_dtype(dtype):
        return {"arrow": _stream(pa.array(column.array)), "masked": str(dtype)}
    return {"values": column.to_numpy()}


def _column(parts: dict[str, Any]) -> pd.Series:
    """Return the column of a mapping from `_parts`."""
    import numpy as np
    import pandas as pd

    found: Any
    if "codes" in parts:
        categories = _column(parts["of"]).array
        dtype = pd.CategoricalDtype(pd.Index(categories), bool(parts["ordered"]))
        found = pd.Categorical.from_codes(parts["codes"], dtype=dtype)
    elif "period" in parts:
        found = pd.arrays.PeriodArray(parts["ordinals"], dtype=parts["period"])
    elif "left" in parts:
        left, right = (_column(parts[side]).array for side in ("left", "right"))
        found = pd.arrays.IntervalArray.from_arrays(left, right, closed=parts["closed"])
    elif "sparse" in parts:
        found = pd.arrays.SparseArray(parts["sparse"], fill_value=parts["fill"])
    elif "arrow" in parts:
        found = _arrow(parts)
    elif "tz" in parts:
        values = pd.Series(_array(parts["values"]))
        found = values.dt.tz_localize("UTC").dt.tz_convert(parts["tz"]).array
    else:
        found = _array(parts["values"])
    if isinstance(found, np.ndarray) and found.dtype == object:
        return pd.Series(found, dtype=object)
    return pd.Series(found)


def _array(values: Any) -> np.ndarray:
    """Return values that must be an array with one axis."""
    import numpy as np

    if type(values) is not np.ndarray or values.ndim != 1:
        raise UserDataError("a column is no array")
    return values


def _stream(array: pa.Array | pa.ChunkedArray) -> bytes:
    """Return an array as a stream of Arrow."""
    import pyarrow as pa

    whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    table = pa.Table.from_arrays([whole], [""])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _arrow(parts: dict[str, Any]) -> Any:
    """Return an array of pandas from a stream of Arrow, after a full validation."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    table = pa.ipc.open_stream(parts["arrow"]).read_all()
    # Offsets may point outside of their buffers.
    table.validate(full=True)
    array = table.column(0).combine_chunks()
    if "text" in parts:
        storage, missing = parts["text"]
        dtype = pd.StringDtype(storage, na_value=pd.NA if missing == "NA" else np.nan)
    elif "masked" in parts:
        dtype = pd.api.types.pandas_dtype(parts["masked"])
    else:
        dtype = pd.ArrowDtype(array.type)
    return dtype.__from_arrow__(array)
