"""XML through Python's standard library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from adapter_core.tables.xml import XMLRows

if TYPE_CHECKING:
    import pandas as pd


class Adapter(XMLRows):
    """One element a row through `xml.etree.ElementTree.iterparse`, over expat.

    That is faster than the tree of the whole document, and does not keep rows that were read. expat does
    not resolve external entities, and stops at internal ones that grow too much.
    """

    label = "XML[etree]"
    requires = ("pandas", "pyarrow>=15")
    suite = "engines"

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        for name in df.columns:
            try:
                ElementTree.fromstring(f"<{name}/>")  # noqa: S314 (an empty element)
            except ElementTree.ParseError:
                # expat knows the letters of XML's fourth edition, fewer than the fifth's.
                raise self.refusal(f"{name!r} is not a name for expat") from None

    def _parsed_rows(self, path: Path) -> Iterator[Any]:
        with path.open("rb") as file:
            events = ElementTree.iterparse(file, ("start", "end"))  # noqa: S314 (expat guards itself)
            _, root = next(events)
            _, first_row = next(events)
            for event, element in events:
                if event == "end" and element.tag == first_row.tag:
                    yield element
                    root.clear()
