"""Delimited text through pandas."""

from __future__ import annotations

import csv
import warnings
from contextlib import AbstractContextManager
from itertools import chain
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator.labels import refuse_duplicates
from data_generator.location import bare_name
from data_generator.readers import _text
from data_generator.readers._reader import Request, TableReader

if TYPE_CHECKING:
    import pandas as pd

TSV = ".tsv"
SEPARATORS = ",;\t|"
"""Whichever the first line has most of separates the fields; of equally many, the first here."""


class Reader(TableReader):
    """UTF-8 text with a header, as `pandas.read_csv` takes it.

    Empty fields and the words NA, null, nan and so on are nulls, and lines that are too short are filled
    up with nulls. Lines that are too long are refused.
    """

    what = "CSV"
    endings = (".csv", TSV)
    is_text = True
    is_compressible = True

    def guard(self, request: Request) -> AbstractContextManager[None]:
        """Return what stands around calls of pandas."""
        return _text.guard(request, self.what)

    def read(self, request: Request) -> pd.DataFrame:
        """Return the table."""
        import pandas as pd

        with self.guard(request):
            separator, header = _header(request)
        if not header:
            raise InvalidDataError(request.path, "holds no columns")
        # pandas would give the second of two equal names another one.
        refuse_duplicates(request.path, [name for name in header if name])
        with self.guard(request):
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # Without index_col, lines longer than the header make the first column an index; with
            # low_memory, types are guessed part by part, and a column may hold several.
            return pd.read_csv(
                request.path,
                sep=separator,
                index_col=False,
                low_memory=False,
                compression=request.codec,
            )


def _header(request: Request) -> tuple[str, list[str]]:
    """Return what separates fields, and the names of the columns."""
    with _text.opened(request) as text:
        first = next((line for line in text if line.strip("\r\n")), "")
        is_tsv = bare_name(request.path).lower().endswith(TSV)
        separator = "\t" if is_tsv else max(SEPARATORS, key=first.count)
        # A name in quotes may go on in the next line.
        return separator, next(csv.reader(chain([first], text), delimiter=separator), [])
