"""HDF5 through pandas, fixed layout."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import IN_PLACE, Kind, RowReads, Snippet, Trait
from adapter_core.column_batches import NUMBERS
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import keywords
from adapter_core.tables.hdf5 import ARRAY_BATCH_ROWS, HDF5

if TYPE_CHECKING:
    import pandas as pd
    import tables

    from adapter_core import Batch

KEY = "table"
"""Name of the HDF5 group that pandas writes to."""

_NO_TYPE = "pandas has no HDF5 type for them"
_PICKLED = "pandas would put them in as pickled objects"


class Adapter(HDF5, RowReads):
    """HDF5 through `DataFrame.to_hdf` with ``format="fixed"`` and `pandas.read_hdf`.

    No codec makes text smaller: it is pickled beside the chunks that HDF5 compresses. Blosc2 is not
    among the codecs, since PyTables cannot write such text with it.

    Reading may unpickle objects: open files from trusted sources only.
    """

    label = "HDF5.fixed"
    suffix = ".h5"
    requires = ("pandas", "tables")
    local_only = IN_PLACE
    holds_nul_in_names = False
    traits: ClassVar = frozenset({Trait.SINGLE_FILE})
    refuses: ClassVar = {
        Kind.BINARY: _PICKLED,
        Kind.DATE: _PICKLED,
        Kind.TIME: _PICKLED,
        Kind.DECIMAL: _PICKLED,
        Kind.WIDE_DECIMAL: _PICKLED,
        Kind.MIXED: _PICKLED,
        Kind.NULLABLE_BOOLEAN: _NO_TYPE,
        Kind.NULLABLE_INTEGER: _NO_TYPE,
        Kind.NULLABLE_UNSIGNED: _NO_TYPE,
        Kind.NULLABLE_FLOAT: _NO_TYPE,
        Kind.CATEGORY: "only HDF5.table has categories",
        Kind.CATEGORY_NOT_TEXT: "only HDF5.table has categories",
        Kind.PERIOD: _NO_TYPE,
        Kind.INTERVAL: _NO_TYPE,
        Kind.SPARSE: _NO_TYPE,
        Kind.ARROW: _NO_TYPE,
        Kind.NESTED: _NO_TYPE,
    }
    file_facts = FileFacts(version="superblock 0", threads="one")
    snippet = Snippet(
        imports="import pandas as pd",
        write=r'df.to_hdf({path}, key="table", mode="w", format="fixed", {compression})',
        read='df = pd.read_hdf({path}, key="table", mode="r")',
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"compression": keywords(complib=codec, complevel=level)}

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import pandas as pd

        with warnings.catch_warnings():
            # Text in object columns is pickled, and before pandas 3 all text is.
            warnings.simplefilter("ignore", pd.errors.PerformanceWarning)
            df.to_hdf(path, key=KEY, mode="w", format="fixed", complib=codec, complevel=level)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        df = pd.read_hdf(path, key=KEY, mode="r")
        # pandas reads the default index as an index of stored numbers.
        df.index = pd.RangeIndex(len(df))
        return df

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import tables

        # pandas would read all columns, and copy them.
        with tables.open_file(path) as file:
            group = file.get_node(f"/{KEY}")
            places = _places(group, columns)
            blocks = {number: group[f"block{number}_values"] for number, _ in places.values()}
            if set(places) == set(columns) and all(map(_has_numbers, blocks.values())):
                for start in range(0, group.axis1.nrows, ARRAY_BATCH_ROWS):
                    rows = slice(start, start + ARRAY_BATCH_ROWS)
                    # Contiguous, since values of a block lie row by row.
                    parts = {number: block[rows].T.copy() for number, block in blocks.items()}
                    yield {name: parts[number][i] for name, (number, i) in places.items()}
                return
        yield from super()._array_batches(path, columns)

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        import pandas as pd

        with pd.HDFStore(path, mode="r") as store:
            rows = int(store.get_node(KEY).axis1.nrows)
            if start < (rows if stop is None else min(stop, rows)):
                # Text is one pickle, which is read whole.
                return store.select(KEY, start=start, stop=stop).reset_index(drop=True)
        # Of no rows, pandas makes objects of text, and fails at booleans.
        return self._read(path, columns).iloc[:0]


def _places(group: tables.Group, columns: list[str]) -> dict[str, tuple[int, int]]:
    """Return the number of the block that contains each column, and the column's position in it."""
    places: dict[str, tuple[int, int]] = {}
    for number in range(group._v_attrs.nblocks):  # noqa: SLF001 (PyTables' name)
        items = group[f"block{number}_items"][:]
        for position, name in enumerate(items):
            places[name.decode() if isinstance(name, bytes) else str(name)] = number, position
    return {name: places[name] for name in columns if name in places}


def _has_numbers(block: tables.Leaf) -> bool:
    """Return True for a block of numbers in rows; False for times, text, and blocks without values."""
    import tables

    attributes = block._v_attrs  # noqa: SLF001 (PyTables' name)
    is_plain = "value_type" not in attributes and "shape" not in attributes
    is_array = isinstance(block, tables.Array) and "transposed" in attributes
    return is_array and is_plain and block.dtype.kind in NUMBERS
