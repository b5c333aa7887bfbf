"""XML, read row by row through lxml."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.tables.xml import XMLRows, read_rows, write_rows
from adapter_core.values import text_columns

if TYPE_CHECKING:
    import pandas as pd

MAX_TEXT_BYTES = 10_000_000
"""XML_MAX_TEXT_LENGTH of libxml2, which guards against files made to fill the memory."""


class Adapter(XMLRows):
    """One element a row through `lxml.etree.iterparse`, which keeps no row after it is read.

    The document is written by joining text in Arrow, since lxml writes one element after the other.
    Entities are not resolved, and nothing is fetched.
    """

    label = "XML[iterparse]"
    requires = ("pandas", "lxml", "pyarrow>=15")
    suite = "engines"

    def _check_values(self, df: pd.DataFrame) -> None:
        import pyarrow.compute as pc

        super()._check_values(df)
        for name, text in text_columns(df):
            if (pc.max(pc.binary_length(text)).as_py() or 0) > MAX_TEXT_BYTES:
                raise self.refusal(f"column {name!r} contains text beyond {MAX_TEXT_BYTES:,} bytes")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        write_rows(df, path)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return read_rows(_rows(path))


def _rows(path: Path) -> Iterator[Any]:
    from lxml import etree

    options = {"resolve_entities": False, "no_network": True, "load_dtd": False}
    with path.open("rb") as file:
        _, (_, first_row) = islice(etree.iterparse(file, ("start",), **options), 2)
        file.seek(0)
        for _, row in etree.iterparse(file, tag=first_row.tag, **options):
            yield row
            row.clear()
            row.getparent().remove(row)
