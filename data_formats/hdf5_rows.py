"""HDF5 by rows through h5py."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import BatchedReads, Snippet
from adapter_core.tables.array_format import DESCRIPTION, by_elements
from adapter_core.tables.arrays import OFFSETS, VALID, array_names_of_numbers
from adapter_core.tables.hdf5 import ARRAY_BATCH_ROWS, H5pyFormat
from adapter_core.tables.text_arrays import has_one_length

if TYPE_CHECKING:
    import h5py
    import numpy as np
    import pandas as pd

    from adapter_core import Batch
    from adapter_core.tables.array_format import ArrayTable, Opened, OpenedRows


ROWS = "__rows"
"""Name of the dataset of rows, which no other array has."""

# The type of a dataset is part of its object header, whose messages have less than 64 KiB:
# https://support.hdfgroup.org/documentation/hdf5/latest/_h5_a__u_g.html
MAX_TYPE_BYTES = 64_000


class Adapter(H5pyFormat, BatchedReads):
    """HDF5 through h5py: one dataset of compound type, whose values lie row by row.

    A projection reads whole rows, from which HDF5 takes the requested fields. Times are integers. Text,
    whose length differs, is bytes and offsets in further datasets: in rows it would be a pointer to a
    heap. The description of the table is an attribute of the file. HDF5 notices a truncated file, but no
    flipped bits.
    """

    label = "HDF5.rows[h5py]"
    suffix = ".h5"
    requires = ("pandas", "pyarrow", "h5py")
    suite = "analysis"
    snippet = Snippet(
        imports="import h5py\nimport numpy as np\nimport pandas as pd",
        write="""
            types = dict.fromkeys(df.select_dtypes("str"), h5py.string_dtype())
            rows = np.empty(len(df), [(name, types.get(name, df[name].dtype)) for name in df])
            for name in df:
                rows[name] = df[name]
            with h5py.File({path}, "w") as file:
                file.create_dataset("rows", data=rows, {compression})
        """,
        read="""
            with h5py.File({path}) as file:
                rows = file["rows"][()]
            df = pd.DataFrame({name: rows[name] for name in rows.dtype.names})
            for name in df.select_dtypes(object):
                df[name] = df[name].str.decode("utf-8")
        """,
        lacks=("category", "Int64", "datetime64[us]"),
        differs="FormatBench's own files also contain the dtypes of pandas, and text as bytes",
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        import h5py
        import numpy as np

        super()._check_values(df)
        names = [self._array_name(i, name) for i, name in enumerate(df.columns)]
        largest = np.dtype([(name + end, "f8") for name in names for end in ("", VALID)])
        if len(h5py.h5t.py_create(largest, logical=True).encode()) > MAX_TYPE_BYTES:
            raise self.refusal(f"the type of {len(names):,} columns may not fit in 64 KiB")

    def _write(self, path: Path, table: ArrayTable, codec: str | None, level: int | None) -> None:
        import h5py

        fields, others = _divided(table.arrays)
        with h5py.File(path, "w") as file:
            file.attrs[DESCRIPTION] = table.description
            for name, array in {**others, **({ROWS: _rows_of(fields)} if fields else {})}.items():
                # HDF5 has no chunks, and hence no filters, for empty arrays.
                options = {"compression": codec, "compression_opts": level} if array.size else {}
                file.create_dataset(name, data=array, **options)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        with self._opened_rows(path) as (description, get):
            yield description, lambda names: get(names, slice(None))

    @contextmanager
    def _opened_rows(self, path: Path) -> Iterator[OpenedRows]:
        import h5py

        with h5py.File(path, "r") as file:
            get_others = by_elements(lambda name, part: file[name][part])

            def get(names: list[str], part: slice) -> dict[str, np.ndarray]:
                others = [name for name in names if name in file]
                fields = [name for name in names if name not in file]
                rows = _fields(file[ROWS], fields)[part] if fields else {}
                # Copies, since views would keep all fields in memory.
                found = {name: rows[name].copy() for name in fields}
                if part == slice(None):
                    return found | {name: file[name][()] for name in others}
                return {**found, **get_others(others, part)}

            yield file.attrs[DESCRIPTION], get

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import h5py

        with h5py.File(path, "r") as file:
            table = json.loads(file.attrs[DESCRIPTION])
            names = array_names_of_numbers(table["columns"], columns)
            fields = _fields(file[ROWS], list(names.values()))
            for start in range(0, max(table["rows"], 1), ARRAY_BATCH_ROWS):
                rows = fields[start : start + ARRAY_BATCH_ROWS]
                yield {column: rows[name] for column, name in names.items()}


def _divided(
    arrays: Mapping[str, np.ndarray],
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the arrays with a value a row, and the arrays of text."""
    is_text = {
        name: name.endswith(OFFSETS) or name + OFFSETS in arrays or has_one_length(array)
        for name, array in arrays.items()
    }
    fields = {name: array for name, array in arrays.items() if not is_text[name]}
    return fields, {name: array for name, array in arrays.items() if is_text[name]}


def _rows_of(fields: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return arrays of one length as one of compound type, shape (rows,)."""
    import numpy as np

    plain = {
        name: each.view("int64") if each.dtype.kind in "mM" else each for name, each in fields.items()
    }
    length = len(next(iter(plain.values())))
    rows = np.empty(length, [(name, each.dtype, each.shape[1:]) for name, each in plain.items()])
    for name, each in plain.items():
        rows[name] = each
    return rows


def _fields(rows: h5py.Dataset, names: list[str]) -> Any:
    """Return an object whose slices are rows with at least these fields."""
    # To take fields apart costs HDF5 more than to copy rows that mostly consist of them.
    dtype = rows.dtype  # which h5py makes anew each time
    wanted = sum(dtype[name].itemsize for name in names)
    return rows if 2 * wanted > dtype.itemsize else rows.fields(names)
