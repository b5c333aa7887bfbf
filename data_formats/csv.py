"""CSV through pandas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import OBJECT_STORES, Kind, PartialReads, Snippet, Streams, Trait, values, whole_file
from adapter_core.file_facts import FileFacts
from adapter_core.pandas_text import EXACT_SINCE, common_dtypes, exact_floats, read_csv
from adapter_core.snippets import keywords, literal
from adapter_core.tables.fetched import FetchedFormat

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import RemoteFile

# Empty text stays empty text by this null marker, as PostgreSQL's COPY has it (text format),
# MySQL and Hive.
NULL = r"\N"

_AS_TEXT = "CSV would turn them into text"


class Adapter(FetchedFormat, PartialReads, Streams):
    """Comma-separated values through `DataFrame.to_csv` and `pandas.read_csv`.

    CSV has no types, and pandas infers them when it reads: small integers and floats come back as 64-bit
    ones; dates, timedeltas and categories as text.

    For parts of a table, pandas parses the file twice, in batches: the types of the columns depend on
    all rows.
    """

    label = "CSV"
    suffix = ".csv"
    requires = ("pandas", "pyarrow", "zstandard")
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    tuned_indexes = "nothing else: CSV has neither statistics, indexes nor parts"
    holds_duplicate_names = True
    detects_truncation = False
    shortens_singles = True
    reads_nullable_integers_as_floats = True
    codecs: ClassVar = whole_file.CODECS
    remote_schemes: ClassVar = ("http",)
    save_schemes: ClassVar = OBJECT_STORES
    refuses: ClassVar = {
        Kind.COMPLEX: _AS_TEXT,
        Kind.BINARY: _AS_TEXT,
        Kind.TIME: _AS_TEXT,
        Kind.DECIMAL: "CSV readers turn them into floats",
        Kind.WIDE_DECIMAL: "CSV readers turn them into floats",
        Kind.PERIOD: _AS_TEXT,
        Kind.INTERVAL: _AS_TEXT,
        Kind.SPARSE: "CSV would fill them up",
        Kind.ARROW: "CSV keeps no Arrow types",
        Kind.NESTED: _AS_TEXT,
        Kind.CATEGORY_NOT_TEXT: "CSV keeps no categories",
        Kind.MIXED: _AS_TEXT,
    }
    file_facts = FileFacts(silent="text names no settings of its writer")
    snippet = Snippet(
        imports="import pandas as pd",
        write=r'df.to_csv({path}, index=False, na_rep=r"\N", {compression})',
        read=r"""
            df = pd.read_csv(
                {path}, na_values=[r"\N"], keep_default_na=False, compression={codec}, {exact}
            )
        """,
        changes={
            "int8": "int64",
            "float32": "float64",
            "datetime64[us]": "str",
            "category": "str",
            "Int64": "float64",
        },
        notes=(
            "quoting=csv.QUOTE_NONNUMERIC in to_csv if texts contain carriage returns",
            'parse_dates=["name"] in read_csv for dates',
        ),
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {
            "compression": f"compression={literal(whole_file.pandas_options(codec, level))}",
            "exact": keywords(**exact_floats(_pandas_here())),
            **super().placeholders(codec, level),
        }

    def _check_values(self, df: pd.DataFrame) -> None:
        self._refuse_column(values.datetimes_unlike_iso_8601(df), values.UNLIKE_ISO_8601)
        name = values.timedeltas_beyond_nanoseconds(df)
        self._refuse_column(name, "timedeltas beyond 64-bit nanoseconds, which pandas cannot parse")
        for name, text in values.text_columns(df):
            if values.any_equals(text, NULL):
                self._refuse_column(name, f"the text {NULL}, the marker of nulls")
            if values.reads_as_other_type(text):
                raise self.refusal(f"the text of column {name!r} would be read as numbers or booleans")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        df.to_csv(path, **_writer_options(df, codec, level))

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            for number, df in enumerate(batches):
                null = NULL if df.isna().to_numpy().any() else ""
                df.to_csv(file, index=False, header=not number, na_rep=null, quoting=_quoting(df))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        names, options = self._options(path, columns)
        df = read_csv(path, **options)
        df.columns = pd.Index(names)
        return df

    def _options(self, path: Path, columns: list[str] | None) -> tuple[list[str], dict[str, Any]]:
        """Return the names of the columns to read, and the options of `pandas.read_csv`."""
        import pandas as pd

        names = self._column_names(path)
        wanted = [i for i, name in enumerate(names) if columns is None or name in columns]
        return [names[i] for i in wanted], {
            # Positions as names, since pandas renames columns of equal or empty name.
            "header": 0,
            "names": range(len(names)),
            "usecols": wanted,
            "na_values": [NULL],
            "keep_default_na": False,
            "compression": whole_file.codec_of(path),
            **exact_floats(pd.__version__),
        }

    def _column_names(self, path: Path) -> list[str]:
        with (
            whole_file.reading(path) as file,
            io.TextIOWrapper(file, encoding="utf-8", newline="") as text,
        ):
            return next(csv.reader(text), [])

    def _codec_used(self, path: Path) -> str | None:
        return whole_file.codec_of(path)

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        import pandas as pd

        names, options = self._options(path, columns)
        # Otherwise pandas infers types of parts of a batch.
        options |= {"chunksize": batch_rows, "low_memory": False}
        with pd.read_csv(path, **options) as batches:
            dtypes = common_dtypes(batches, float)
        # Booleans among nulls are objects, which pandas would not parse.
        objects = [name for name, dtype in dtypes.items() if dtype is object]
        parsed = {name: dtype for name, dtype in dtypes.items() if dtype is not object}
        with pd.read_csv(path, dtype=parsed, **options) as batches:
            for batch in batches:
                df = batch.astype(dict.fromkeys(objects, object)).reset_index(drop=True)
                df.columns = pd.Index(names)
                yield df

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        with file.arrow_stream() as stream:
            df.to_csv(stream, mode="wb", **_writer_options(df, codec, level))


def _writer_options(df: pd.DataFrame, codec: str | None, level: int | None) -> dict[str, Any]:
    return {
        "index": False,
        # pandas formats integers more slowly if nulls have a text of their own.
        "na_rep": NULL if df.isna().to_numpy().any() else "",
        "quoting": _quoting(df),
        "compression": whole_file.pandas_options(codec, level),
    }


def _pandas_here() -> str:
    """Return the installed version of pandas; without one, the first that needs no option."""
    try:
        return version("pandas")
    except PackageNotFoundError:
        return ".".join(map(str, EXACT_SINCE))


def _quoting(df: pd.DataFrame) -> int:
    # Readers take a bare carriage return for the end of a line.
    names = any("\r" in name for name in df.columns)
    if names or any(values.any_contains(text, "\r") for _, text in values.text_columns(df)):
        return csv.QUOTE_NONNUMERIC
    return csv.QUOTE_MINIMAL
