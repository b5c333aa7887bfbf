"""A user's own table: read from whatever file it is in, and made ready to be measured."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator import location
from data_generator.catalog import names
from data_generator.labels import with_plain_labels
from data_generator.readers._reader import ReadRequest
from data_generator.readers._rehearsal import rehearse
from data_generator.sampling import sampled_rows
from data_generator.spec.spec import DEFAULT_SEED
from data_generator.user import file_kind
from data_generator.user.dataset import UserData, safe_name

if TYPE_CHECKING:
    from data_generator.location import DataLocation


def load_table(
    path: str | os.PathLike[str],
    *,
    sample_rows: int | None = None,
    seed: int = DEFAULT_SEED,
    trust_pickle: bool = False,
) -> UserData:
    """Return the table in a file; the file is opened for reading, and nothing is left beside it.

    Read are Parquet, CSV and TSV, JSON (an array of records, or one record a line), Feather and Arrow
    IPC, ORC, Excel, HDF5 that pandas wrote, Avro, Lance, SQLite, DuckDB and pickles; text and pickles
    also compressed by gzip, zstd or xz. The content says which it is; for text, which has no signature,
    the name does. HDF5 and Lance, whose libraries crash over some damaged files, are read twice, first
    in a process of its own.

    Parameters
    ----------
    path : path-like
        The file, or the folder of a Lance data set; ``measures.db::trips`` for one of several tables.
    sample_rows : int, optional
        Take that many rows at random, without replacement and in their order; all if there are fewer.
        Parquet, ORC and Lance are read part by part, so that only these rows take memory; any other kind
        is read whole first.
    seed : int
        What the sample depends on, beside the number of rows. The order of columns or the kind of file
        have no influence.
    trust_pickle : bool
        Load pickles, which can run any program. HDF5 files hold pickles too; without it, those that ask
        for more than data are refused.

    Returns
    -------
    UserData
        Shape (rows, columns), at least one of each, with the default index and unique text names.

    Raises
    ------
    InvalidDataError
        If there is no such file, or its content cannot be read or measured.
    UnavailableError
        If the package that reads it is missing or broken.
    ValueError
        If `sample_rows` is not positive.
    """
    if sample_rows is not None and sample_rows < 1:
        raise ValueError(f"a sample cannot have {sample_rows} rows")
    found = location.find(path)
    codec = file_kind.codec_of(found)
    reader = file_kind.reader_of(found, codec)
    request = ReadRequest(found.path, codec, found.table, sample_rows, seed, trust_pickle)
    if reader.crashes:
        rehearse(reader, request)
    df = reader.read(request)
    if df.shape[1] == 0:
        raise InvalidDataError(found.path, "contains no columns")
    if df.shape[0] == 0:
        raise InvalidDataError(found.path, "contains no rows, so there is nothing to measure")
    plain, remarks = with_plain_labels(found.path, df)
    chosen = sampled_rows(len(plain), sample_rows, seed)
    if chosen is not None:
        plain = plain.take(chosen).reset_index(drop=True)
    return UserData(_name(found), plain, remarks=tuple(remarks))


def _name(found: DataLocation) -> str:
    stem = Path(location.bare_name(found.path)).stem
    return safe_name(f"{stem}_{found.table}" if found.table else stem, names())
