"""Reader of delimited text, through pandas."""

from __future__ import annotations

import csv
import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from adapter_core.pandas_text import exact_floats
from data_generator.labels import refuse_duplicates
from data_generator.location import bare_name
from data_generator.readers import _text
from data_generator.readers._reader import ReadRequest, TableReader, check_columns

if TYPE_CHECKING:
    import pandas as pd

TSV = ".tsv"
# Candidates: the most frequent one in the first line separates the fields.
SEPARATORS = ",;\t|"

# Two positions for each field while a text is parsed, and the value afterwards.
FIELD_BYTES = 24


class CSVReader(TableReader):
    """Reader of UTF-8 text with a header, by the rules of `pandas.read_csv`.

    Empty fields and the words NA, null, nan and so on are nulls. Lines with too few fields are filled up
    with nulls; columns with too many are refused.
    """

    kind = "CSV"
    endings = (".csv", TSV)
    is_text = True
    is_delimited = True
    is_compressible = True

    def guard(self, request: ReadRequest) -> AbstractContextManager[None]:
        """Return the context manager for calls into pandas."""
        return _text.guard(request, self.kind)

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the table."""
        import pandas as pd

        with self.guard(request):
            separator, header = _header(request)
        if not header:
            raise InvalidDataError(request.path, "contains no columns")
        # pandas would rename the second of two equal names.
        refuse_duplicates(request.path, [name for name in header if name])
        check_columns(request.path, len(header))
        with self.guard(request):
            memory = _Memory(separator.encode(), len(header))
            _text.check_unpacked(request, 2 + FIELD_BYTES * len(header), memory.add)
        with self.guard(request):
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # Without index_col, lines longer than the header make the first column an index; with
            # low_memory, types are inferred part by part, and a column may get several.
            df = pd.read_csv(
                request.path,
                sep=separator,
                index_col=False,
                low_memory=False,
                compression=request.codec,
                dtype_backend="numpy_nullable",
                **exact_floats(pd.__version__),
            )
        return _without_needless_nullable(df)


def _without_needless_nullable(df: pd.DataFrame) -> pd.DataFrame:
    """Return a table that has nullable dtypes for integers and booleans with nulls alone.

    Text has pandas' default dtype, floats and columns without values are NumPy's.
    """
    import numpy as np
    import pandas as pd

    df = df.copy(deep=False)
    for position, dtype in enumerate(df.dtypes):
        column = df.iloc[:, position]
        if isinstance(dtype, pd.StringDtype):
            df.isetitem(position, pd.Series(column.to_numpy(object, na_value=None)))
        elif plain := getattr(dtype, "numpy_dtype", None):
            if plain.kind == "f" or column.isna().all():
                df.isetitem(position, column.to_numpy(np.float64, na_value=np.nan))
            elif not column.isna().any():
                df.isetitem(position, column.to_numpy(plain))
    return df


def _header(request: ReadRequest) -> tuple[str, list[str]]:
    """Return the separator of fields and the names of the columns."""
    with _text.opened(request) as text:
        lines = iter(partial(text.readline, _text.LONGEST_LINE), "")
        first = next((line for line in lines if line.strip("\r\n")), "")
        if len(first) == _text.LONGEST_LINE:
            problem = f"has a first line of more than {_text.LONGEST_LINE:,} characters"
            raise InvalidDataError(request.path, problem, "put the names of columns into it alone")
        is_tsv = bare_name(request.path).lower().endswith(TSV)
        separator = "\t" if is_tsv else max(SEPARATORS, key=first.count)
        # A quoted name may continue on the next line.
        return separator, next(csv.reader(chain([first], lines), delimiter=separator), [])


@dataclass
class _Memory:
    """Estimate of the memory that pandas needs for a text, at least."""

    separator: bytes
    columns: int
    bytes_read: int = 0
    lines: int = 0
    fields: int = 0

    def add(self, text: bytes) -> int:
        """Return the memory for the text so far, in bytes."""
        ends = text.count(b"\n")
        self.bytes_read += len(text)
        self.lines += ends
        self.fields += ends + text.count(self.separator)
        # Lines that are too short are filled up.
        return 2 * self.bytes_read + FIELD_BYTES * max(self.fields, self.lines * self.columns)
