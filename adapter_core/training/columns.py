"""Samples as columns of tables, and batches of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter_core.training.arrow import sample_batches, sample_schema
from adapter_core.training.fields import PlainFields

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from adapter_core.sample_set import SampleSet


def frame_of(samples: SampleSet) -> pd.DataFrame:
    """Return all samples as a table of pandas, vectors as columns of a type of Arrow."""
    import pandas as pd
    import pyarrow as pa

    fields = PlainFields(len(samples), samples.fields)
    batches = sample_batches(samples, fields, has_lists=True)
    table = pa.Table.from_batches(batches, sample_schema(fields, has_lists=True)).combine_chunks()
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
