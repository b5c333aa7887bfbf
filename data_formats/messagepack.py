"""MessagePack through msgpack."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Snippet, Trait
from adapter_core.tables import row_format
from adapter_core.tables.rows import BLOCK_ROWS, row_blocks

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import Batch

# msgpack's default, 16 KiB, has 64 times as many calls of Python's `read`. Chosen, not measured.
_READ_BYTES = 2**20

# By default, rows of more than 100 MiB are written but not read.
_NO_LIMIT = 0


class Adapter(row_format.RowFile):
    """A stream of MessagePack objects through msgpack's `Packer` and `Unpacker`.

    The first object is a map with the names of the columns, their dtypes and the number of rows; each of
    the others is a row, an array of values. Datetimes and timedeltas are integers in the unit of the
    dtype, since msgpack makes its timestamps one by one in Python.
    """

    label = "MessagePack"
    suffix = ".msgpack"
    requires = ("pandas", "pyarrow>=15", "msgpack")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    snippet = Snippet(
        imports="import msgpack\nimport pandas as pd",
        write="""
            rows = df.astype(object).where(df.notna(), None)
            packer = msgpack.Packer()
            with open({path}, "wb") as file:
                file.write(packer.pack(list(df.columns)))
                for row in rows.itertuples(index=False, name=None):
                    file.write(packer.pack(row))
        """,
        read="""
            with open({path}, "rb") as file:
                names, *rows = msgpack.Unpacker(file, use_list=False, max_buffer_size=0)
            df = pd.DataFrame(rows, columns=names)
        """,
        changes={"int8": "int64", "float32": "float64", "category": "str", "Int64": "float64"},
        lacks=("datetime64[us]",),
        differs="FormatBench's own files start with a description of the dtypes",
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import msgpack

        packer = msgpack.Packer(autoreset=False)
        packer.pack(row_format.describe(df))
        with path.open("wb") as file:
            for rows in row_blocks(df):
                deque(map(packer.pack, rows), maxlen=0)
                file.write(packer.getbuffer())
                packer.reset()
            file.write(packer.getbuffer())

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import numpy as np

        with self._opened(path) as (description, rows):
            dtypes = row_format.dtypes_of_numbers(description, columns)
            names = row_format.names_of(description)
            getters = {name: itemgetter(names.index(name)) for name in columns}
            found = 0
            while block := list(islice(rows, BLOCK_ROWS)):
                found += len(block)
                yield {
                    name: np.fromiter(map(get, block), dtypes[name], len(block))
                    for name, get in getters.items()
                }
        row_format.check_rows(description, found)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[tuple[Any, Any]]:
        import msgpack

        options = {"use_list": False, "read_size": _READ_BYTES, "max_buffer_size": _NO_LIMIT}
        with path.open("rb") as file:
            try:
                rows = msgpack.Unpacker(file, **options)
                yield rows.unpack(), rows
            except msgpack.UnpackException as error:
                # Most of msgpack's errors have no text.
                raise ValueError(f"{path.name} contains invalid MessagePack: {error!r}") from error
