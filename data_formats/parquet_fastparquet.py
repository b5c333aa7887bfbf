"""Parquet through fastparquet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ColumnReads, FilteredReads, Kind, RemoteTable, RowReads, Snippet, Trait, Tunable
from adapter_core.file_facts import FileFacts
from adapter_core.remote import OBJECT_STORES
from adapter_core.snippets import keywords

if TYPE_CHECKING:
    import fastparquet
    import numpy as np
    import pandas as pd

    from adapter_core import Predicate, RemoteFile

# Dtypes of text, by fastparquet's metadata: "mixed" are Python objects, here text only.
_TEXT = {"unicode": "str", "empty": "str", "mixed": "object"}

_NO_TYPE = "fastparquet has no type for them"


class Adapter(ColumnReads, RowReads, FilteredReads, Tunable, RemoteTable):
    """Apache Parquet through `fastparquet.write` and `fastparquet.ParquetFile`, without Arrow.

    fastparquet's build decides if text is read as pandas' text or as Python objects; the dtype that was
    saved is restored from the file's metadata. All rows are one row group, the least that fastparquet
    reads, but in tuned files. Damage may crash the process, since lengths in a file are trusted, as in
    14 of 56 trials with fastparquet 2026.9.0: open files from trusted sources only.
    """

    label = "Parquet[fastparquet]"
    suffix = ".parquet"
    requires = ("pandas", "fastparquet")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    tuned_options: ClassVar = {"compression": "UNCOMPRESSED", "row_group_offsets": 32_768}
    # Those of text are in fields that the Parquet format deprecates, and other readers leave out.
    tuned_indexes = "statistics of sort keys and lookup columns; fastparquet writes no bloom filters"
    save_schemes: ClassVar = OBJECT_STORES
    crash_on_damage = "damaged files end the process during a read (SIGSEGV)"
    refuses_categories: ClassVar = {Kind.BOOLEAN: "fastparquet does not read them back"}
    refuses: ClassVar = {
        Kind.COMPLEX: _NO_TYPE,
        Kind.DATE: _NO_TYPE,
        Kind.TIME: _NO_TYPE,
        Kind.DECIMAL: "fastparquet turns them into floats",
        Kind.WIDE_DECIMAL: "fastparquet turns them into floats",
        Kind.TIMEDELTA: "fastparquet cuts off their nanoseconds",
        Kind.ZONED_DATETIME: "fastparquet writes them by a call that pandas gives up",
        Kind.PERIOD: _NO_TYPE,
        Kind.INTERVAL: _NO_TYPE,
        Kind.SPARSE: _NO_TYPE,
        Kind.ARROW: _NO_TYPE,
        Kind.NESTED: _NO_TYPE,
        Kind.MIXED: "fastparquet would make JSON of them",
    }
    file_facts = FileFacts(
        version="1.0",
        parts={"row group": 50_000_000, "encodings": "PLAIN", "page index": "no"},
        threads="one",
    )
    snippet = Snippet(
        imports="import fastparquet",
        write="fastparquet.write({path}, df, write_index=False, {options})",
        read="df = fastparquet.ParquetFile({path}).to_pandas()",
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"options": keywords(**self.options)}

    def _check_values(self, df: pd.DataFrame) -> None:
        import pandas as pd

        super()._check_values(df)
        for name, dtype in df.dtypes.items():
            if isinstance(dtype, pd.CategoricalDtype) and not len(dtype.categories):
                self._refuse_column(str(name), "no category, of which fastparquet writes no column")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        _write(df, path, **self.options)

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        _write(df, path, stats=[*sort_by, *lookups], **self.tuned_options)

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        with file.arrow_stream() as stream:
            # fastparquet closes what it opened, and would complete an object that is not whole.
            opener = {"open_with": lambda *_: nullcontext(stream)}
            _write(df, file.key, compression="UNCOMPRESSED", **opener)

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        import fastparquet

        with file.arrow_file_system().open_input_file(file.arrow_path) as opened:
            return _table(fastparquet.ParquetFile(opened), columns)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import fastparquet

        with path.open("rb") as file:
            return _table(fastparquet.ParquetFile(file), columns)

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        return self._read_columns(path, columns, lambda _: slice(start, stop))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        return self._read_columns(
            path, columns, lambda parquet: predicate.mask(_table(parquet, predicate.columns))
        )

    @staticmethod
    def _read_columns(
        path: Path,
        columns: list[str] | None,
        rows_of: Callable[[fastparquet.ParquetFile], slice | np.ndarray],
    ) -> pd.DataFrame:
        """Read some rows, one column after the other: all rows of all columns are never in memory."""
        import fastparquet
        import pandas as pd

        with path.open("rb") as file:
            parquet = fastparquet.ParquetFile(file)
            rows = rows_of(parquet)
            # fastparquet's own filter of rows returns other values of columns with nulls.
            values = {
                name: _table(parquet, [name])[name][rows].reset_index(drop=True).copy()
                for name in columns or parquet.columns
            }
        return pd.DataFrame(values, copy=False)

    def _column_names(self, path: Path) -> list[str]:
        import fastparquet

        with path.open("rb") as file:
            return list(fastparquet.ParquetFile(file).columns)


def _write(df: pd.DataFrame, path: Path | str, **options: Any) -> None:
    import fastparquet

    # By NumPy's kind first: to compare each dtype with a name takes half a millisecond.
    times = (name for name, each in df.dtypes.items() if each.kind == "M" and each == "datetime64[s]")
    seconds = dict.fromkeys(times, "datetime64[ms]")
    fastparquet.write(str(path), df.astype(seconds) if seconds else df, write_index=False, **options)


def _table(parquet: fastparquet.ParquetFile, columns: list[str] | None) -> pd.DataFrame:
    import pandas as pd

    df = parquet.to_pandas(columns=columns)
    # As "str" of pandas 2, nulls would be texts.
    texts = _TEXT if isinstance(pd.api.types.pandas_dtype("str"), pd.StringDtype) else {}
    # Files of other programs have no metadata of pandas.
    described = parquet.pandas_metadata.get("columns", ())
    types = {
        each["name"]: texts[each["pandas_type"]]
        for each in described
        if each["pandas_type"] in texts and each["name"] in df.columns
    }
    return df.astype(types) if types else df
