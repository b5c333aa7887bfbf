"""HDF5 through pandas, table layout."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from adapter_core import (
    Changeable,
    InvalidSelectionError,
    Kind,
    PartialReads,
    Snippet,
    Streams,
    TableChange,
    Trait,
    Tunable,
    UnknownNameError,
)
from adapter_core.codec_choice import Recommended
from adapter_core.column_batches import NUMBERS
from adapter_core.file_facts import FileFacts
from adapter_core.remote_adapter import IN_PLACE
from adapter_core.snippets import keywords
from adapter_core.tables.hdf5 import ARRAY_BATCH_ROWS, CODECS, CODECS_OF_BLOSC2, HDF5
from adapter_core.values import any_contains, any_equals, longest_bytes, text_columns

if TYPE_CHECKING:
    import pandas as pd
    import tables

    from adapter_core.column_batches import Batch

KEY = "table"
"""Name of the HDF5 group that pandas writes to."""

# The default of pandas, "nan", is a word that tables contain.
NULL = r"\N"

# An attribute is part of the object header, whose messages have less than 64 KiB:
# https://support.hdfgroup.org/documentation/hdf5/latest/_h5_a__u_g.html
MAX_ATTRIBUTE_BYTES = 64_000

# Width of text in the first of several batches, in lengths of its longest value: it cannot grow.
_ROOM = 2

_NO_TYPE = "pandas has no HDF5 type for them"


class Adapter(HDF5, PartialReads, Streams, Tunable, Changeable):
    """HDF5 through `DataFrame.to_hdf` with ``format="table"`` and `pandas.read_hdf`.

    Rows are stored together, text in the width of the longest value of its block. Reading may unpickle
    objects: open files from trusted sources only.

    HDF5 has no transactions: rows that do not fit are refused before anything is written, but a process
    that ends during a change may leave a damaged file. Text keeps the width of its block, and columns
    their categories.
    """

    label = "HDF5.table"
    suffix = ".h5"
    requires = ("pandas", "tables", "pyarrow")
    local_only = IN_PLACE
    traits: ClassVar = frozenset({Trait.APPEND, Trait.SINGLE_FILE})
    holds_zero_rows = False
    codecs: ClassVar = CODECS + CODECS_OF_BLOSC2
    # Of a portable file; its makers name level 1 for all codecs, as chunks are small.
    recommended = Recommended(
        "https://www.pytables.org/usersguide/optimization.html",
        "zlib",
        1,
        words="compression at level 1",
        seen="2026-11-25",
    )
    tuned_indexes = (
        "sort keys and lookup columns as data_columns, with an index each (kind=full, optlevel=9)"
    )
    checksums = "Fletcher-32 of each chunk of the table: fletcher32"
    unsupported_changes: ClassVar = {
        TableChange.ADD_COLUMN: "the columns of a PyTables table are fixed: it has to be written anew"
    }
    refuses_categories: ClassVar = {
        Kind.UNSIGNED: "PyTables makes no index of 64 bits without a sign",
        Kind.COMPLEX: "PyTables makes no index of them",
    }
    refuses: ClassVar = {
        Kind.BINARY: _NO_TYPE,
        Kind.DATE: _NO_TYPE,
        Kind.TIME: _NO_TYPE,
        Kind.DECIMAL: _NO_TYPE,
        Kind.WIDE_DECIMAL: _NO_TYPE,
        Kind.MIXED: _NO_TYPE,
        Kind.NULLABLE_BOOLEAN: _NO_TYPE,
        Kind.NULLABLE_INTEGER: _NO_TYPE,
        Kind.NULLABLE_UNSIGNED: _NO_TYPE,
        Kind.NULLABLE_FLOAT: _NO_TYPE,
        Kind.PERIOD: _NO_TYPE,
        Kind.INTERVAL: _NO_TYPE,
        Kind.SPARSE: _NO_TYPE,
        Kind.ARROW: _NO_TYPE,
        Kind.NESTED: _NO_TYPE,
    }
    file_facts = FileFacts(
        version="superblock 0",
        parts={"layout": "chunked"},
        threads="one",
        differs="no index, which pandas adds unasked and whole reads never use",
    )
    snippet = Snippet(
        imports="import pandas as pd",
        write=r"""
            options = {"format": "table", "index": False, "nan_rep": r"\N"}
            df.to_hdf({path}, key="table", mode="w", **options, {compression})
        """,
        read='df = pd.read_hdf({path}, key="table", mode="r")',
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"compression": keywords(complib=codec, complevel=level)}

    def _check_values(self, df: pd.DataFrame) -> None:
        # PyTables stores the names in one attribute, pickled with protocol 0.
        if len(pickle.dumps(list(df.columns), 0)) > MAX_ATTRIBUTE_BYTES:
            raise self.refusal(f"{len(df.columns):,} names do not fit in an attribute of 64 KiB")
        for name, text in text_columns(df, with_unused=True):
            if any_contains(text, "\0"):
                self._refuse_column(name, "NUL, which ends a fixed-width text")
            if any_equals(text, NULL):
                self._refuse_column(name, f"the text {NULL}, the marker of nulls")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        if self.uses_checksums:
            self._save_checked(df, path, codec, level)
            return
        df.to_hdf(
            path,
            key=KEY,
            mode="w",
            format="table",
            index=False,
            nan_rep=NULL,
            complib=codec,
            complevel=level,
        )

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        import pandas as pd

        indexed = [*sort_by, *lookups]
        with pd.HDFStore(path, "w") as store:
            store.append(KEY, df, data_columns=indexed, index=False, nan_rep=NULL)
            # PyTables makes no index of uint64.
            usable = [name for name in indexed if df[name].dtype != "uint64"]
            store.create_table_index(KEY, columns=usable, kind="full", optlevel=9)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        import pandas as pd

        with pd.HDFStore(path, "w") as store:
            width = 0
            for df in batches:
                texts = (text for _, text in text_columns(df, with_unused=True))
                longest = max(map(longest_bytes, texts), default=0)
                width = width or _ROOM * longest
                if longest > width:
                    raise self.refusal(
                        f"a later batch has a text of {longest:,} bytes, and the first left room for "
                        f"{width:,}"
                    )
                store.append(
                    KEY, df, index=False, nan_rep=NULL, min_itemsize={"values": width} if width else None
                )

    @staticmethod
    def _save_checked(df: pd.DataFrame, path: Path, codec: str | None, level: int | None) -> None:
        import pandas as pd

        # `to_hdf` has no such option, and a store applies it only if a compressor is named.
        with pd.HDFStore(path, "w", fletcher32=True) as store:
            store.append(
                KEY, df, index=False, nan_rep=NULL, complib=codec or "zlib", complevel=level or 0
            )

    def _append(self, path: Path, df: pd.DataFrame) -> None:
        with _store(path, "a") as store:
            self._append_rows(store, df)

    def _update(self, path: Path, key: str, df: pd.DataFrame) -> None:
        import numpy as np
        import pandas as pd

        given = pd.Index(df[key])
        with _store(path, "a") as store:
            found = np.concatenate([given.get_indexer(keys) for keys in _values(store, key)])
            places = np.flatnonzero(found >= 0)
            end = len(found)
            # pandas stores and checks the rows at the end, from where they are moved.
            self._append_rows(store, df)
            table = store.get_storer(KEY).table
            try:
                rows = table.read(end)[found[places]]
                rows["index"] = table.read_coordinates(places, field="index")
                table.modify_coordinates(places, rows)
            finally:
                table.remove_rows(end)

    def _delete(self, path: Path, key: str, values: list[int]) -> None:
        import numpy as np

        with _store(path, "a") as store:
            kept = np.concatenate([~keys.isin(values).to_numpy() for keys in _values(store, key)])
            if not kept.any():
                raise self.refusal("no row would be left")
            if kept.all():
                return
            table = store.get_storer(KEY).table
            # `remove_rows` moves all later rows, hence one call for all rows instead of one for each.
            end = int(np.argmin(kept))
            for start in range(end, len(kept), ARRAY_BATCH_ROWS):
                stop = start + ARRAY_BATCH_ROWS
                rows = table.read(start, stop)[kept[start:stop]]
                if len(rows):
                    table.modify_rows(end, end + len(rows), rows=rows)
                end += len(rows)
            table.remove_rows(end)

    def _append_rows(self, store: pd.HDFStore, df: pd.DataFrame) -> None:
        import pandas as pd

        table = store.get_storer(KEY).table
        dtypes = _selected(store, None, 0, 1).dtypes
        for name, dtype in df.dtypes.items():
            # pandas would store the counts of another unit as they are.
            if dtype.kind in "mM" and dtype != dtypes[name]:
                raise self.refusal(
                    f"column {name!r} has the type {dtypes[name]} in the file, not {dtype}"
                )
        try:
            index = pd.RangeIndex(table.nrows, table.nrows + len(df))
            store.append(KEY, df.set_axis(index), index=False, nan_rep=NULL)
        except (TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise self.refusal(f"the rows do not fit the file: {reason}") from error

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        df = _with_types(pd.read_hdf(path, key=KEY, mode="r", columns=columns))
        # pandas reads the default index as an index of stored numbers.
        df.index = pd.RangeIndex(len(df))
        return df

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import tables

        with tables.open_file(path) as file:
            table = file.get_node(f"/{KEY}/table")
            places = _places(table)
            for name in columns:
                if name not in places:
                    raise UnknownNameError("column", name, places)
                if places[name][1] < 0:
                    raise InvalidSelectionError(f"column {name!r} contains more than numbers")
            wanted = {name: places[name] for name in columns}
            for start in range(0, table.nrows, ARRAY_BATCH_ROWS):
                rows = table.read(start, start + ARRAY_BATCH_ROWS)
                # A data column has one axis.
                yield {
                    name: rows[block].reshape(len(rows), -1)[:, i] for name, (block, i) in wanted.items()
                }

    def _column_names(self, path: Path) -> list[str]:
        import pandas as pd

        with pd.HDFStore(path, mode="r") as store:
            return list(store.get_storer(KEY).non_index_axes[0][1])

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with _store(path) as store:
            rows = store.get_storer(KEY).nrows
            if start < (rows if stop is None else min(stop, rows)):
                return _selected(store, columns, start, stop)
            # pandas gives no rows of text another dtype.
            return _selected(store, columns, 0, 1).head(0)

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with _store(path) as store:
            for start in range(0, store.get_storer(KEY).nrows, batch_rows):
                yield _selected(store, columns, start, start + batch_rows)


def _store(path: Path, mode: Literal["r", "a"] = "r") -> pd.HDFStore:
    import pandas as pd

    return pd.HDFStore(path, mode=mode)


def _values(store: pd.HDFStore, column: str) -> Iterator[pd.Series]:
    """Yield the values of a column, batch by batch."""
    for start in range(0, store.get_storer(KEY).nrows, ARRAY_BATCH_ROWS):
        yield _selected(store, [column], start, start + ARRAY_BATCH_ROWS)[column]


def _selected(
    store: pd.HDFStore, columns: list[str] | None, start: int, stop: int | None
) -> pd.DataFrame:
    df: pd.DataFrame = store.select(KEY, columns=columns, start=start, stop=stop)
    return _with_types(df).reset_index(drop=True)


def _with_types(df: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the dtype of text, which pandas does not infer of nulls alone."""
    import pandas as pd

    text = [name for name, dtype in df.dtypes.items() if dtype == object]
    return df.astype(dict.fromkeys(text, pd.Series([""]).dtype)) if text else df


def _places(table: tables.Table) -> dict[str, tuple[str, int]]:
    """Return the field of the rows that contains each column of numbers, and the position in it.

    The position of other columns is -1.
    """
    places: dict[str, tuple[str, int]] = {}
    for block in table.colnames[1:]:  # the first is the index
        is_category = getattr(table.attrs, f"{block}_meta", None) == "category"
        is_time = str(table.attrs[f"{block}_dtype"]).startswith(("datetime", "timedelta"))
        are_numbers = table.coldtypes[block].base.kind in NUMBERS and not (is_category or is_time)
        for position, name in enumerate(table.attrs[f"{block}_kind"]):
            places[name] = block, position if are_numbers else -1
    return places
