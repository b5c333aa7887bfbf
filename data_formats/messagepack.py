"""MessagePack through msgpack."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import DataFormat, Trait
from adapter_core.tables import row_format
from adapter_core.tables.rows import row_blocks

if TYPE_CHECKING:
    import pandas as pd

_READ_BYTES = 2**20

# By default, rows of more than 100 MiB are written but not read.
_NO_LIMIT = 0


class Adapter(DataFormat):
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
    refuses: ClassVar = row_format.REFUSES

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

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import msgpack

        with path.open("rb") as file:
            rows = msgpack.Unpacker(
                file, use_list=False, read_size=_READ_BYTES, max_buffer_size=_NO_LIMIT
            )
            try:
                return row_format.table_of(rows.unpack(), rows)
            except msgpack.UnpackException as error:
                # Most of msgpack's errors have no text.
                raise ValueError(f"{path.name} contains invalid MessagePack: {error!r}") from error
