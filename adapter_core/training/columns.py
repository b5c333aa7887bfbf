"""Samples as columns of tables, and batches of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter_core.sample_set import INDEX, FieldForm

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from adapter_core.sample_set import SampleField, SampleSet


def arrow_table(samples: SampleSet, start: int = 0, stop: int | None = None) -> pa.Table:
    """Return samples from `start` to before `stop` as a table of Arrow, with a column for the index.

    Pictures are binary, and arrays lists of one length, whatever their shape.
    """
    import pyarrow as pa

    chosen = samples[start : len(samples) if stop is None else stop]
    columns = {INDEX: pa.array([each[INDEX] for each in chosen], pa.int64())}
    for name, field in samples.fields.items():
        columns[name] = _column([each[name] for each in chosen], field)
    return pa.table(columns)


def _column(values: list[Any], field: SampleField) -> pa.Array:
    import math

    import numpy as np
    import pyarrow as pa

    if field.form is FieldForm.ARRAY:
        flat = np.concatenate([each.reshape(-1) for each in values] or [np.empty(0, field.dtype)])
        return pa.FixedSizeListArray.from_arrays(pa.array(flat), math.prod(field.shape))
    types = {
        FieldForm.INTEGER: pa.int64(),
        FieldForm.NUMBER: pa.float64(),
        FieldForm.TEXT: pa.large_string(),
        FieldForm.PICTURE: pa.large_binary(),
    }
    return pa.array(values, types[field.form])


def frame_of(samples: SampleSet) -> pd.DataFrame:
    """Return all samples as a table of pandas, vectors as columns of a type of Arrow."""
    import pandas as pd
    import pyarrow as pa

    table = arrow_table(samples)
    plain = [name for name in table.column_names if not pa.types.is_nested(table[name].type)]
    df: pd.DataFrame = table.select(plain).to_pandas()
    for place, name in enumerate(table.column_names):
        if name not in plain:
            df.insert(place, name, pd.arrays.ArrowExtensionArray(table[name]))
    return df


def column_values(column: pd.Series[Any]) -> np.ndarray:
    """Return the values of a column: of shape (rows,), or (rows, length) of vectors."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    if not isinstance(column.dtype, pd.ArrowDtype):
        return column.to_numpy()
    array = pa.array(column)
    if pa.types.is_fixed_size_list(array.type):
        return array.flatten().to_numpy(zero_copy_only=False).reshape(len(array), -1)
    return np.stack([np.asarray(each) for each in array.to_pylist()]) if len(array) else np.empty((0, 0))
