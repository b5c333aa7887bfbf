"""Loading of a user's own table from a file of any known kind."""

from __future__ import annotations

import os
from pathlib import Path

from adapter_core.errors import InvalidDataError
from adapter_core.text import listed
from data_generator import location
from data_generator.catalog import names
from data_generator.dataset import UserData
from data_generator.labels import with_plain_labels
from data_generator.location import DataLocation
from data_generator.readers._reader import ReadRequest, check_columns
from data_generator.readers._rehearsal import rehearse
from data_generator.sampling import sampled_rows
from data_generator.spec.spec import DEFAULT_SEED
from data_generator.user import file_kind
from data_generator.user.typed import numbers_with_commas, with_dates, with_nested_types

_NAMES_SHOWN = 5


def load_table(
    path: str | os.PathLike[str],
    *,
    sample_rows: int | None = None,
    seed: int = DEFAULT_SEED,
    trust_pickle: bool = False,
    parse_dates: bool = True,
) -> UserData:
    """Return the table in a file; the file is only read, and nothing is left beside it.

    `data_generator.readers` has a reader for each kind of file. Text and pickles may be compressed by
    gzip, zstd or xz. The kind is recognised by the content, or by the name for text, which has no
    signature. Files whose libraries crash on damaged ones are read twice, first in a separate process.

    Parameters
    ----------
    path : path-like
        The file, or the folder of a Lance data set; ``measures.db::trips`` for one of several tables.
    sample_rows : int, optional
        Number of rows in a random sample without replacement, kept in their order; all rows if there are
        fewer. Parquet, ORC and Lance are read in parts, and only the rows of the sample take memory;
        other kinds are read completely first.
    seed : int
        Seed of the sample, which depends on the seed and the number of rows alone: not on the order of
        columns or the kind of file.
    trust_pickle : bool
        Load pickles, which can run any program. HDF5 files contain pickles too; without this permission,
        those that call more than constructors of data are refused.
    parse_dates : bool
        Turn columns of delimited text into datetimes, if all their values are dates or times in one form
        of ISO 8601.

    Returns
    -------
    UserData
        Shape (rows, columns), at least one of each, with the default index and unique text names.

    Raises
    ------
    InvalidDataError
        If the file does not exist, or its content cannot be read or measured.
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
    check_columns(found.path, df.shape[1])
    if df.shape[1] == 0:
        raise InvalidDataError(found.path, "contains no columns")
    if df.shape[0] == 0:
        raise InvalidDataError(found.path, "contains no rows, so there is nothing to measure")
    plain, changes = with_plain_labels(found.path, df)
    remarks = [*request.remarks, *changes]
    # Of readers that sampled already, as many rows are left as wanted, and nothing is drawn again.
    chosen = sampled_rows(len(plain), sample_rows, seed)
    if chosen is not None:
        plain = plain.take(chosen).reset_index(drop=True)
    plain, typed = with_nested_types(plain)
    if reader.is_delimited and parse_dates:
        plain, dates = with_dates(plain)
        typed += dates
        if dates:
            names = listed(dates, _NAMES_SHOWN)
            remarks.append(f"dates and times are read as such: {names}; --parse-dates no keeps the text")
    if reader.is_delimited and (numbers := numbers_with_commas(plain)):
        names = listed(numbers, _NAMES_SHOWN)
        remarks.append(f"numbers with commas are read as text: {names}; write 1234.5 for 1.234,5")
    return UserData(
        _name(found),
        plain,
        remarks=tuple(remarks),
        typed=tuple(typed),
        has_other_size=not reader.has_values,
    )


def _name(found: DataLocation) -> str:
    stem = Path(location.bare_name(found.path)).stem
    return location.safe_name(f"{stem}_{found.table}" if found.table else stem, names())
