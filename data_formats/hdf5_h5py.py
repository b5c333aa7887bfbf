"""HDF5 through h5py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import PartialReads, RemoteTable, Snippet
from adapter_core.tables.array_format import DESCRIPTION, by_elements
from adapter_core.tables.arrays import array_names_of_numbers
from adapter_core.tables.hdf5 import ARRAY_BATCH_ROWS, H5pyFormat
from adapter_core.tables.text_arrays import has_one_length

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import Batch, RemoteFile
    from adapter_core.tables.array_format import ArrayTable, Opened, OpenedRows


# Bytes that are requested at once from a server. Metadata are in pieces of some hundred bytes, and a
# request for each takes a round trip. Chosen, not measured.
BLOCK_BYTES = 1 << 20


class Adapter(H5pyFormat, PartialReads, RemoteTable):
    """HDF5 through h5py: a dataset for each array, contiguous unless it is compressed.

    Text of one length is HDF5's fixed-length UTF-8. Other text is bytes and offsets: for a value of
    variable length, h5py makes a Python object, and HDF5 an entry of 16 bytes in a heap. Times are
    integers, since HDF5's type for them is not in use. The description of the table is an attribute of
    the file. HDF5 notices a truncated file, but not flipped bits.
    """

    label = "HDF5[h5py]"
    suffix = ".h5"
    requires = ("pandas", "pyarrow", "h5py")
    suite = "engines"
    remote_schemes: ClassVar = ("http",)
    remote_requires: ClassVar = ("fsspec", "aiohttp")
    checksums = "Fletcher-32 of each chunk of a dataset: fletcher32, which makes datasets chunked"
    snippet = Snippet(
        imports="import h5py\nimport pandas as pd",
        write="""
            with h5py.File({path}, "w", track_order=True) as file:
                for name, column in df.items():
                    file.create_dataset(name, data=column.to_numpy(), {compression})
        """,
        read="""
            with h5py.File({path}) as file:
                texts = {name for name, each in file.items() if each.dtype.kind == "O"}
                values = {n: each.asstr() if n in texts else each for n, each in file.items()}
                df = pd.DataFrame({name: each[()] for name, each in values.items()})
        """,
        changes={"category": "str", "Int64": "float64"},
        lacks=("datetime64[us]",),
        differs="FormatBench's own files also contain the dtypes of pandas, and text as bytes",
    )

    def _write(self, path: Path, table: ArrayTable, codec: str | None, level: int | None) -> None:
        import h5py

        with h5py.File(path, "w") as file:
            file.attrs[DESCRIPTION] = table.description
            for name, array in table.arrays.items():
                # HDF5 has no chunks, and hence no filters, for empty arrays.
                options: dict[str, Any] = {}
                if array.size:
                    options = {"compression": codec, "compression_opts": level}
                    options |= {"fletcher32": True} if self.uses_checksums else {}
                file.create_dataset(name, data=_as_hdf5(array), **options)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        import h5py

        with h5py.File(path, "r") as file:
            yield file.attrs[DESCRIPTION], lambda names: {name: file[name][()] for name in names}

    @contextmanager
    def _opened_remote(self, file: RemoteFile) -> Iterator[Opened]:
        import fsspec
        import h5py

        # The default reads ahead, and fetches several times what is used.
        options = {"cache_type": "blockcache", "block_size": BLOCK_BYTES}
        with fsspec.open(file.url, "rb", **options) as remote, h5py.File(remote, "r") as opened:
            yield opened.attrs[DESCRIPTION], lambda names: {name: opened[name][()] for name in names}

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import h5py

        with h5py.File(path, "r") as file:
            described = json.loads(file.attrs[DESCRIPTION])
            names = array_names_of_numbers(described["columns"], columns)
            datasets = {column: file[name] for column, name in names.items()}
            for start in range(0, max(described["rows"], 1), ARRAY_BATCH_ROWS):
                rows = slice(start, start + ARRAY_BATCH_ROWS)
                yield {column: dataset[rows] for column, dataset in datasets.items()}

    @contextmanager
    def _opened_rows(self, path: Path) -> Iterator[OpenedRows]:
        import h5py

        with h5py.File(path, "r") as file:
            yield file.attrs[DESCRIPTION], by_elements(lambda name, part: file[name][part])


def _as_hdf5(array: np.ndarray) -> np.ndarray:
    """Return an array in a type of HDF5, over the same memory."""
    import h5py

    if has_one_length(array):
        return array.view(h5py.string_dtype("utf-8", array.shape[1]))[:, 0]
    return array.view("int64") if array.dtype.kind in "mM" else array
