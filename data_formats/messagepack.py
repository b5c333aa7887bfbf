"""MessagePack through msgpack."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat
from adapter_core.tables import row_format
from adapter_core.tables.rows import row_blocks
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import pandas as pd

READ_BYTES = 2**20
"""What is read of the file at a time."""

NO_LIMIT = 0
"""msgpack refuses to read a row of more than 100 MiB unless told so, though it writes it."""


class Adapter(DataFormat):
    """A stream of MessagePack objects through msgpack's `Packer` and `Unpacker`.

    The first object is a map that names the columns, their dtypes and the number of rows; each of the
    others is a row, an array of its values. Datetimes and timedeltas are integers in the unit of the
    dtype, since msgpack makes its timestamps one by one in Python.
    """

    label = "MessagePack"
    suffix = ".msgpack"
    requires = ("pandas", "pyarrow>=15", "msgpack")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses: ClassVar = row_format.REFUSED

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import msgpack

        packer = msgpack.Packer(autoreset=False)
        packer.pack(row_format.note_of(df))
        with path.open("wb") as file:
            for rows in row_blocks(df):
                deque(map(packer.pack, rows), maxlen=0)
                file.write(packer.getbuffer())
                packer.reset()
            file.write(packer.getbuffer())

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import msgpack

        with path.open("rb") as file:
            rows = msgpack.Unpacker(file, use_list=False, read_size=READ_BYTES, max_buffer_size=NO_LIMIT)
            try:
                return row_format.table_of(rows.unpack(), rows)
            except msgpack.UnpackException as error:
                # Most of msgpack's errors have no text.
                raise ValueError(f"{path.name} contains invalid MessagePack: {error!r}") from error
