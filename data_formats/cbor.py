"""CBOR through cbor2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Kind, Snippet, Trait
from adapter_core.tables import row_format
from adapter_core.tables.rows import row_blocks

if TYPE_CHECKING:
    import pandas as pd


class Adapter(row_format.RowFile):
    """A CBOR sequence (RFC 8742) through cbor2's `dumps` and `CBORDecoder`.

    The first item is a map with the names of the columns, their dtypes and the number of rows. The
    others are arrays of up to 500 rows, each an array of values, since cbor2 reads its file anew for
    each item. Datetimes and timedeltas are integers in the unit of the dtype.
    """

    label = "CBOR"
    suffix = ".cbor"
    requires = ("pandas", "pyarrow>=15", "cbor2")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses: ClassVar = {
        kind: why
        for kind, why in row_format.REFUSES.items()
        if kind not in (Kind.DATE, Kind.DECIMAL, Kind.WIDE_DECIMAL)
    }
    snippet = Snippet(
        imports="import cbor2\nimport pandas as pd",
        write="""
            rows = df.astype(object).where(df.notna(), None)
            with open({path}, "wb") as file:
                file.write(cbor2.dumps(list(df.columns)))
                file.write(cbor2.dumps(rows.to_numpy().tolist()))
        """,
        read="""
            with open({path}, "rb") as file:
                decoder = cbor2.CBORDecoder(file)
                names, rows = decoder.decode(), decoder.decode()
            df = pd.DataFrame(rows, columns=names)
        """,
        changes={"int8": "int64", "float32": "float64", "category": "str", "Int64": "float64"},
        lacks=("datetime64[us]",),
        differs="FormatBench's own files start with a description of the dtypes",
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import cbor2

        with path.open("wb") as file:
            file.write(cbor2.dumps(row_format.describe(df)))
            for rows in row_blocks(df):
                file.write(cbor2.dumps(list(rows)))

    @contextmanager
    def _opened(self, path: Path) -> Iterator[tuple[Any, Iterator[Any]]]:
        import cbor2

        with path.open("rb") as file:
            decoder = cbor2.CBORDecoder(file)
            yield decoder.decode(), chain.from_iterable(_items(decoder))


def _items(decoder: Any) -> Iterator[Any]:
    import cbor2

    try:
        while True:
            yield decoder.decode()
    except cbor2.CBORDecodeEOF:
        # An end in the middle of an item shows in the number of rows.
        return
