"""JSON Lines through pandas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import (
    BatchedReads,
    FilteredReads,
    Kind,
    RowReads,
    Snippet,
    Streams,
    Trait,
    values,
    whole_file,
)
from adapter_core.file_facts import FileFacts
from adapter_core.pandas_text import common_dtypes
from adapter_core.remote import OBJECT_STORES
from adapter_core.snippets import keywords, literal
from adapter_core.tables.fetched import FetchedFormat

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core import RemoteFile

# Options of `DataFrame.to_json`.
_WRITER: dict[str, Any] = {
    "orient": "records",
    "lines": True,
    "double_precision": 15,
    "date_format": "iso",
    "date_unit": "ns",
}

_AS_OTHER = "JSON would turn them into text or objects"


class Adapter(FetchedFormat, RowReads, FilteredReads, BatchedReads, Streams):
    """One JSON object a line through `DataFrame.to_json` and `pandas.read_json`.

    pandas writes at most 15 decimals of a float, from 1e-15 to 1e16, and 15 digits of others: 0.000123
    keeps 12 digits. It writes -0.0 as 0.0, and reads the largest floats as infinite and subnormal ones
    as others or zero; these are refused. JSON has numbers, text, booleans and null only: small integers
    and floats come back as 64-bit ones; dates, timedeltas and categories as text.

    For parts of a table, pandas parses the file twice, in batches: the types of the columns depend on
    all rows.
    """

    label = "JSON"
    suffix = ".jsonl"
    requires = ("pandas", "zstandard")
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    holds_nul_in_names = False
    holds_zero_rows = False
    detects_truncation = False
    kept_digits = 15
    kept_decimals = 15
    reads_nullable_integers_as_floats = True
    codecs: ClassVar = whole_file.CODECS
    save_schemes: ClassVar = OBJECT_STORES
    refuses: ClassVar = {
        Kind.COMPLEX: _AS_OTHER,
        Kind.BINARY: _AS_OTHER,
        Kind.TIME: _AS_OTHER,
        Kind.DECIMAL: "pandas turns them into floats",
        Kind.WIDE_DECIMAL: "pandas turns them into floats",
        Kind.PERIOD: "pandas cannot write them",
        Kind.INTERVAL: _AS_OTHER,
        Kind.SPARSE: "JSON would fill them up",
        Kind.ARROW: "JSON keeps no Arrow types",
        Kind.MAP: "JSON's objects have keys of text, each once",
        Kind.EMPTY_STRUCT: "nothing in the file shows their type",
        Kind.OTHER_NESTED: _AS_OTHER,
        Kind.CATEGORY_NOT_TEXT: "JSON keeps no categories",
        Kind.MIXED: "JSON would change their types",
    }
    file_facts = FileFacts(silent="text names no settings of its writer")
    snippet = Snippet(
        imports="import pandas as pd",
        write="""
            df.to_json(
                {path}, {compression}, {options}
            )
        """,
        read="""
            df = pd.read_json(
                {path},
                orient="records",
                lines=True,
                dtype=False,
                convert_axes=False,
                compression={codec},
            )
        """,
        changes={
            "int8": "int64",
            "float32": "float64",
            "datetime64[us]": "str",
            "category": "str",
            "Int64": "float64",
        },
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {
            "compression": f"compression={literal(whole_file.pandas_options(codec, level))}",
            "options": keywords(**_WRITER),
            **super().placeholders(codec, level),
        }

    tells_nan_from_null = False
    refuses_inside: ClassVar = dict.fromkeys(
        (Kind.DATE, Kind.DATETIME, Kind.ZONED_DATETIME, Kind.TIMEDELTA), _AS_OTHER
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        self._refuse_column(values.infinite_floats(df), "an infinite value; JSON has no infinity")
        self._refuse_column(values.with_minus_zero(df), "-0.0, which pandas writes as 0.0")
        name = values.rounded_to_infinity(df, self.kept_digits)
        self._refuse_column(name, f"floats that {self.kept_digits} digits round to infinity")
        self._refuse_column(
            values.subnormal_floats(df), "subnormal floats, which pandas reads as others"
        )
        name = values.timedeltas_beyond_nanoseconds(df)
        self._refuse_column(name, "timedeltas beyond 64-bit nanoseconds, which pandas cannot parse")
        times = {Kind.DATE, Kind.DATETIME, Kind.ZONED_DATETIME}
        name = values.datetimes_beyond(df, times, *values.NANOSECOND_YEARS)
        self._refuse_column(name, "dates beyond 64-bit nanoseconds")

    def _check_leaves(self, name: str, kind: Kind, leaves: pa.Array) -> None:
        import pandas as pd

        super()._check_leaves(name, kind, leaves)
        inside = pd.DataFrame({name: leaves.drop_null().to_pandas()})
        if values.integers_beyond_float(inside, {Kind.INTEGER, Kind.UNSIGNED}):
            self._refuse_column(name, f"{kind} with integers beyond 2**53, read as floats beside nulls")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        df.to_json(path, compression=whole_file.pandas_options(codec, level), **_WRITER)

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        with file.arrow_stream() as stream:
            df.to_json(stream, compression=whole_file.pandas_options(codec, level), **_WRITER)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            for df in batches:
                df.to_json(file, **_WRITER)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        return pd.read_json(path, **_options(path))

    def _column_names(self, path: Path) -> list[str]:
        with whole_file.reading(path) as file:
            return list(json.loads(file.readline()))

    def _codec_used(self, path: Path) -> str | None:
        return whole_file.codec_of(path)

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        import pandas as pd

        options = _options(path) | {"chunksize": batch_rows}
        with pd.read_json(path, **options) as batches:
            dtypes = common_dtypes(batches, object)
        with pd.read_json(path, **options) as batches:
            for df in batches:
                yield df.astype(dtypes).reset_index(drop=True)


def _options(path: Path) -> dict[str, Any]:
    """Return the options of `pandas.read_json`."""
    return {
        "orient": "records",
        "lines": True,
        # By default, pandas turns text and column names that look like numbers or dates into these.
        "dtype": False,
        "convert_axes": False,
        "compression": whole_file.codec_of(path),
    }
