"""XML through the standard library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from adapter_core.tables.xml import XMLRows, read_rows, write_rows

if TYPE_CHECKING:
    import pandas as pd


class Adapter(XMLRows):
    """One element a row through `xml.etree.ElementTree.iterparse`, over expat.

    That is faster than the tree of the whole document, and keeps no row after it is read. The document
    is written by joining text in Arrow, since the library writes one element after the other. expat
    resolves no external entities, and stops at internal ones that grow too much.
    """

    label = "XML[etree]"
    requires = ("pandas", "pyarrow>=15")
    suite = "engines"

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        write_rows(df, path)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return read_rows(_rows(path))


def _rows(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        events = ElementTree.iterparse(file, ("start", "end"))  # noqa: S314 (expat guards itself)
        _, root = next(events)
        _, first_row = next(events)
        for event, element in events:
            if event == "end" and element.tag == first_row.tag:
                yield element
                root.clear()
