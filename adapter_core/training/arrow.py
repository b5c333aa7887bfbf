"""Samples as rows of Arrow tables: numbers, texts, bytes of pictures, and arrays as bytes or lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from adapter_core.sample_set import INDEX, FieldForm, Sample, SampleField, as_stored
from adapter_core.training.batches import collated, grouped
from adapter_core.training.fields import PlainFields, array_of

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.training_loader import Batch

# Rows of a batch that is written: small enough for the windows of an array.
_ROWS = 64


def sample_schema(fields: PlainFields, *, has_lists: bool = False) -> pa.Schema:
    """Return the columns of samples, the index first; arrays are bytes, or lists of one length."""
    import pyarrow as pa

    types = {
        FieldForm.INTEGER: pa.int64(),
        FieldForm.NUMBER: pa.float64(),
        FieldForm.TEXT: pa.string(),
        FieldForm.PICTURE: pa.binary(),
        FieldForm.ARRAY: pa.binary(),
    }

    def type_of(field: SampleField) -> pa.DataType:
        if not (has_lists and field.form is FieldForm.ARRAY):
            return types[field.form]
        return pa.list_(pa.from_numpy_dtype(field.dtype), math.prod(field.shape))

    columns = [(name, type_of(field)) for name, field in fields.fields.items()]
    return pa.schema([(INDEX, pa.int64()), *columns])


def sample_batches(
    samples: Iterable[Sample], fields: PlainFields, *, has_lists: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield stored samples as record batches."""
    import pyarrow as pa

    schema = sample_schema(fields, has_lists=has_lists)
    for rows in grouped(samples, _ROWS):
        plain = rows if has_lists else [fields.plain(each) for each in rows]
        yield pa.RecordBatch.from_pylist(plain, schema)


def samples_of(table: pa.Table | pa.RecordBatch, fields: PlainFields) -> list[Sample]:
    """Return the stored samples of a table."""
    return [fields.restored(row) for row in table.to_pylist()]


def batch_of(
    table: pa.Table | pa.RecordBatch, fields: PlainFields, decode: Callable[[Sample], Sample]
) -> Batch:
    """Return the rows of a table as a batch, by columns if samples need no decoding."""
    import numpy as np

    if decode is not as_stored:
        return collated([decode(each) for each in samples_of(table, fields)])
    batch: dict[str, Any] = {INDEX: table.column(INDEX).to_numpy()}
    for name, field in fields.fields.items():
        column = table.column(name)
        if field.form in {FieldForm.INTEGER, FieldForm.NUMBER}:
            batch[name] = column.to_numpy()
        elif field.form == FieldForm.ARRAY:
            batch[name] = np.stack([array_of(each.as_buffer(), field) for each in column])
        else:
            batch[name] = column.to_pylist()
    return batch
