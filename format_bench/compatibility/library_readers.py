"""Reads of files by libraries alone: adapters hand tables to pandas, which changes types.

They also happen with the libraries of other sets, so nothing else is imported at the top.
"""

from __future__ import annotations

import pkgutil
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench.verification.canonical import CanonicalTable

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def read(steps: Sequence[str], path: str) -> CanonicalTable:
    """Read a file: call a function, then methods on its result.

    Parameters
    ----------
    steps : sequence of str
        The function as "module:name", and the names of the methods.
    path : str
        The file.
    """
    import pyarrow as pa

    function, *methods = steps
    found = pkgutil.resolve_name(function)(path)
    for each in methods:
        found = getattr(found, each)()
    if isinstance(found, pa.Table):
        return CanonicalTable.of_arrow(found)
    # pandas keeps the objects of libraries that have a type for them.
    objects = found.select_dtypes(object)
    texts = objects.map(lambda each: str(each) if isinstance(each, uuid.UUID) else each)
    return CanonicalTable.of_frame(found.assign(**texts))


def _frame(columns: dict[str, Any]) -> pd.DataFrame:
    """Return arrays of a file as a table, bytes of text as text."""
    import pandas as pd

    found = pd.DataFrame({name: columns[name] for name in ("c", "row")})
    is_bytes = found["c"].map(type).eq(bytes).all()
    return found.assign(c=found["c"].str.decode("utf-8")) if is_bytes else found


def read_hdf5(path: str) -> pd.DataFrame:
    """Read HDF5 by h5py."""
    import h5py

    with h5py.File(path) as file:
        return _frame({name: dataset[()] for name, dataset in file.items()})


def read_hdf5_by_pytables(path: str) -> pd.DataFrame:
    """Read HDF5 by PyTables."""
    import tables

    with tables.open_file(path) as file:
        return _frame({node.name: node.read() for node in file.iter_nodes("/")})


def read_hdf5_by_netcdf4(path: str) -> pd.DataFrame:
    """Read HDF5 by netCDF4."""
    import netCDF4

    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        return _frame({name: each[...] for name, each in file.variables.items()})


def read_hdf5_by_h5netcdf(path: str) -> pd.DataFrame:
    """Read HDF5 by h5netcdf."""
    import h5netcdf

    with h5netcdf.File(path, "r", phony_dims="sort") as file:
        return _frame({name: each[...] for name, each in file.variables.items()})


def read_zarr(path: str) -> pd.DataFrame:
    """Read a Zarr group by zarr-python."""
    import zarr

    group = zarr.open_group(path, mode="r")
    return _frame({name: array[...] for name, array in group.arrays()})


def read_zarr_by_tensorstore(path: str) -> pd.DataFrame:
    """Read the arrays of a Zarr group by TensorStore."""
    import tensorstore

    def opened(name: str) -> Any:
        place = Path(path, name)
        driver = "zarr3" if (place / "zarr.json").exists() else "zarr"
        return tensorstore.open({"driver": driver, "kvstore": f"file://{place}/"}).result()

    return _frame({name: opened(name).read().result() for name in ("c", "row")})


def read_avro(path: str) -> pd.DataFrame:
    """Read Avro by fastavro."""
    import fastavro
    import pandas as pd

    with Path(path).open("rb") as file:
        return pd.DataFrame(list(fastavro.reader(file)), dtype=object).astype({"row": "int64"})


def read_iceberg(path: str) -> pa.Table:
    """Read an Iceberg table by PyIceberg."""
    from pyiceberg.table import StaticTable

    found: pa.Table = StaticTable.from_metadata(_metadata_of(path)).scan().to_arrow()
    return found


def read_iceberg_by_polars(path: str) -> pa.Table:
    """Read an Iceberg table by Polars."""
    import polars as pl

    return pl.scan_iceberg(_metadata_of(path)).collect().to_arrow()


def _metadata_of(path: str) -> str:
    """Return the address of the last metadata of an Iceberg table."""
    versions = Path(path, "metadata").glob("v*.metadata.json")
    return str(max(versions, key=lambda each: int(each.name[1:].partition(".")[0])))


def _by_datafusion(method: str) -> Callable[[str], pa.Table]:
    def read_file(path: str) -> pa.Table:
        from datafusion import SessionContext

        frame = getattr(SessionContext(), method)(path, file_extension=Path(path).suffix)
        found: pa.Table = frame.to_arrow_table()
        return found

    return read_file


read_parquet_by_datafusion = _by_datafusion("read_parquet")
read_avro_by_datafusion = _by_datafusion("read_avro")
read_arrow_by_datafusion = _by_datafusion("read_arrow")


def read_json_lines(path: str) -> pd.DataFrame:
    """Read JSON lines by pandas."""
    import pandas as pd

    return pd.read_json(path, lines=True)
