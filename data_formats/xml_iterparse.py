"""XML, read row by row through lxml."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.tables.xml import XMLRows
from adapter_core.values import longest_bytes

if TYPE_CHECKING:
    import pyarrow as pa

# XML_MAX_TEXT_LENGTH of libxml2, a guard against files that are made to fill the memory.
MAX_TEXT_BYTES = 10_000_000


class Adapter(XMLRows):
    """One element a row through `lxml.etree.iterparse`, without keeping rows that were read.

    Entities are not resolved, and the network is not used.
    """

    label = "XML[iterparse]"
    requires = ("pandas", "lxml", "pyarrow>=15")
    suite = "engines"

    def _check_text(self, name: str, text: pa.Array) -> None:
        super()._check_text(name, text)
        if longest_bytes(text) > MAX_TEXT_BYTES:
            self._refuse_column(name, f"text beyond {MAX_TEXT_BYTES:,} bytes")

    def _parsed_rows(self, path: Path) -> Iterator[Any]:
        from lxml import etree

        options = {"resolve_entities": False, "no_network": True, "load_dtd": False}
        with path.open("rb") as file:
            _, (_, first_row) = islice(etree.iterparse(file, ("start",), **options), 2)
            file.seek(0)
            for _, row in etree.iterparse(file, tag=first_row.tag, **options):
                yield row
                # A cleared row stays in the tree as an empty element.
                row.clear()
                row.getparent().remove(row)
