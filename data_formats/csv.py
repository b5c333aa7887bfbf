"""CSV through pandas."""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import DataFormat, Feature, Kind, Trait, whole_file
from adapter_core.values import (
    any_contains,
    any_equals,
    offsets_with_seconds,
    reads_as_other_type,
    text_columns,
    timedeltas_beyond_nanoseconds,
)

if TYPE_CHECKING:
    import pandas as pd

# Empty text stays empty text by this null marker, which is that of PostgreSQL's COPY (text format),
# MySQL and Hive.
NULL = r"\N"

# Since this version of pandas, the default parser reads floats exactly, and the option is deprecated.
_EXACT_SINCE = (3, 1)

_AS_TEXT = "CSV would turn them into text"


class Adapter(DataFormat):
    """Comma-separated values through `DataFrame.to_csv` and `pandas.read_csv`.

    CSV has no types, and pandas infers them when it reads: small integers and floats come back as 64-bit
    ones; dates, timedeltas and categories as text.
    """

    label = "CSV"
    suffix = ".csv"
    requires = ("pandas", "pyarrow", "zstandard")
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    supports: ClassVar = frozenset({Feature.COLUMNS})
    holds_duplicate_names = True
    detects_truncation = False
    reads_nullable_integers_as_floats = True
    codecs: ClassVar = whole_file.CODECS
    refuses: ClassVar = {
        Kind.COMPLEX: _AS_TEXT,
        Kind.BINARY: _AS_TEXT,
        Kind.TIME: _AS_TEXT,
        Kind.DECIMAL: "CSV readers turn them into floats",
        Kind.PERIOD: _AS_TEXT,
        Kind.INTERVAL: _AS_TEXT,
        Kind.SPARSE: "CSV would fill them up",
        Kind.ARROW: "CSV keeps no Arrow types",
        Kind.ARROW_NESTED: "CSV keeps no Arrow types",
        Kind.CATEGORY_NOT_TEXT: "CSV keeps no categories",
        Kind.MIXED: _AS_TEXT,
    }

    def _check_values(self, df: pd.DataFrame) -> None:
        self._refuse_column(offsets_with_seconds(df), "UTC offsets with seconds, unlike ISO 8601")
        name = timedeltas_beyond_nanoseconds(df)
        self._refuse_column(name, "timedeltas beyond 64-bit nanoseconds, which pandas cannot parse")
        for name, text in text_columns(df):
            if any_equals(text, NULL):
                self._refuse_column(name, f"the text {NULL}, the marker of nulls")
            if reads_as_other_type(text):
                raise self.refusal(f"the text of column {name!r} would be read as numbers or booleans")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        # pandas formats integers more slowly if nulls have a text of their own.
        null = NULL if df.isna().to_numpy().any() else ""
        df.to_csv(
            path,
            index=False,
            na_rep=null,
            quoting=_quoting(df),
            compression=whole_file.pandas_options(codec, level),
        )

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        names = self._column_names(path)
        wanted = [i for i, name in enumerate(names) if columns is None or name in columns]
        options = {
            # Positions as names, since pandas renames columns of equal or empty name.
            "header": 0,
            "names": range(len(names)),
            "usecols": wanted,
            "na_values": [NULL],
            "keep_default_na": False,
            "compression": whole_file.codec_of(path),
            **_exactly(pd.__version__),
        }
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.DtypeWarning)
            try:
                df = pd.read_csv(path, **options)
            except pd.errors.DtypeWarning:
                # The default parser infers types chunk by chunk; if chunks disagree, the file is read
                # again in one piece.
                df = pd.read_csv(path, low_memory=False, **options)
        df.columns = pd.Index([names[i] for i in wanted])
        return df

    def _column_names(self, path: Path) -> list[str]:
        with (
            whole_file.reading(path) as file,
            io.TextIOWrapper(file, encoding="utf-8", newline="") as text,
        ):
            return next(csv.reader(text), [])

    def _codec_used(self, path: Path) -> str | None:
        return whole_file.codec_of(path)

    @staticmethod
    def plain_save(df: pd.DataFrame, path: Path) -> None:
        df.to_csv(path, index=False)

    @staticmethod
    def plain_read(path: Path) -> pd.DataFrame:
        import pandas as pd

        return pd.read_csv(path)


def _exactly(pandas_version: str) -> dict[str, str]:
    """Return the option that makes a version of pandas read floats exactly."""
    # By default, older versions err by one unit in the last place.
    version = tuple(map(int, pandas_version.split(".")[:2]))
    return {"float_precision": "round_trip"} if version < _EXACT_SINCE else {}


def _quoting(df: pd.DataFrame) -> int:
    # Readers take a bare carriage return for the end of a line.
    names = any("\r" in name for name in df.columns)
    if names or any(any_contains(text, "\r") for _, text in text_columns(df)):
        return csv.QUOTE_NONNUMERIC
    return csv.QUOTE_MINIMAL
