"""What XML allows as names of elements and as text, for every engine that writes it.

Rows of a table as XML, made of Arrow's columns in bulk.

XML libraries write one element after the other. Here Arrow joins the text of all elements of many rows.

What the XML engines that go through rows one by one have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.data_format import DataFormat
from adapter_core.tables.arrow import frame_of
from adapter_core.tables.arrow_text import REFUSES, is_all_like, plain_of
from adapter_core.traits import Trait
from adapter_core.values import matches_text, text_columns

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


ELEMENT_NAME = re.compile(r"[^\W\d][\w.\-·]*")
"""Names without colons, https://www.w3.org/TR/xml-names/#NT-NCName, as far as \\w goes."""

NOT_A_CHARACTER = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{FFFE}\x{FFFF}]"
"""https://www.w3.org/TR/xml/#charsets"""


XSI = "http://www.w3.org/2001/XMLSchema-instance"
"""Namespace of the attribute by which an element is null: https://www.w3.org/TR/xmlschema-1/#xsi_nil"""

_HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<data xmlns:xsi="{XSI}">\n'
_TAIL = "</data>\n"

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
"""The ampersand first; parsers take a carriage return for a line feed unless it is written so."""

ROWS_AT_A_TIME = 10_000


def xml_of(table: pa.Table) -> Iterator[memoryview]:
    """Yield the bytes of a document, in UTF-8, that holds a table, shape (rows, columns).

    Each row is an element, of a name that no column has, and each value an element in it, of the name
    of its column.
    """
    row = _row_name(table.column_names)
    whole = [_is_whole_floats(column) for column in table.columns]
    yield memoryview(_HEAD.encode())
    for start in range(0, table.num_rows, ROWS_AT_A_TIME):
        yield _rows(row, table.slice(start, ROWS_AT_A_TIME).combine_chunks(), whole)
    yield memoryview(_TAIL.encode())


def _row_name(columns: list[str]) -> str:
    """Return "row", as pandas names it, with underscores if a column has that name."""
    name = "row"
    while name in columns:
        name += "_"
    return name


def _is_whole_floats(column: pa.ChunkedArray) -> bool:
    """Tell whether all values are floats without decimals, which Arrow writes like integers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return False
    return bool(pc.all(pc.equal(pc.trunc(column), column), min_count=0).as_py())


def _rows(row: str, table: pa.Table, whole: list[bool]) -> memoryview:
    parts = [_text(f"<{row}>")]
    for name, column, is_whole in zip(table.column_names, table.columns, whole, strict=True):
        parts.append(_elements(name, column, is_whole=is_whole))
    rows = _joined(*parts, _text(f"</{row}>\n"))
    offsets = memoryview(rows.buffers()[1]).cast("q")
    first, last = offsets[rows.offset], offsets[rows.offset + len(rows)]
    return memoryview(rows.buffers()[2])[first:last]


def _elements(name: str, column: pa.ChunkedArray, *, is_whole: bool) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.combine_chunks().cast(pa.large_string())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        for character, escape in _ESCAPES.items():
            text = pc.replace_substring(text, character, escape)
    if is_whole:
        # What has an exponent, or is infinite, shows that it is a float.
        text = pc.replace_substring_regex(text, r"^(-?\d+)$", r"\1.0")
    elements = _joined(_text(f"<{name}>"), text, _text(f"</{name}>"))
    return pc.fill_null(elements, _text(f'<{name} xsi:nil="true"/>'))


def _joined(*parts: pa.Array | pa.Scalar) -> pa.Array:
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*parts, _text(""))


def _text(value: str) -> pa.Scalar:
    import pyarrow as pa

    return pa.scalar(value, pa.large_string())


NIL = f"{{{XSI}}}nil"

_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?0[xX][0-9a-fA-F]+|[+-]?(?i:inf|infinity|nan)"

_xml_rows_text = attrgetter("text")


class XMLRows(DataFormat):
    """One element a row, one in it a value, and ``xsi:nil`` where it is null.

    XML has no types. A column whose text is all integers, floats or booleans comes back as such, of 64
    bits; dates and categories as text.
    """

    suffix = ".xml"
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.SINGLE_FILE})
    holds_zero_rows = False
    refuses: ClassVar = REFUSES

    def _check_values(self, df: pd.DataFrame) -> None:
        for name in df.columns:
            if not ELEMENT_NAME.fullmatch(name):
                raise self.refusal(f"{name!r} cannot be the name of an XML element")
        for name, text in text_columns(df):
            if matches_text(text, NOT_A_CHARACTER):
                raise self.refusal(f"column {name!r} contains control characters, which XML forbids")
            if is_all_like(text, _NUMBER) or is_all_like(text, "true|false"):
                raise self.refusal(f"the text of column {name!r} would be read as numbers or booleans")


def write_rows(df: pd.DataFrame, path: Path) -> None:
    """Write the document of a table, shape (rows, columns), to a file."""
    with path.open("wb") as file:
        file.writelines(xml_of(plain_of(df)))


def read_rows(rows: Iterator[Any]) -> pd.DataFrame:
    """Return the table, shape (rows, columns), of which `write_rows` wrote the document.

    Parameters
    ----------
    rows : iterator of elements
        The element of each row; what is in one may be gone when the next is asked for.
    """
    import pyarrow as pa

    first = next(rows)
    names = [cell.tag for cell in first]
    cells = chain.from_iterable(map(_cells, chain([first], rows)))
    chunks: list[list[pa.Array]] = [[] for _ in names]
    while block := list(islice(cells, ROWS_AT_A_TIME * len(names))):
        for position, arrays in enumerate(chunks):
            arrays.append(pa.array(block[position :: len(names)], pa.large_string()))
    return frame_of(pa.table([_typed(pa.chunked_array(each)) for each in chunks], names))


def _cells(row: Iterable[Any]) -> list[str | None]:
    """Return the text of the values in a row."""
    cells = list(map(_xml_rows_text, row))
    if None in cells:
        # Parsers give no text for an empty element, be it null or empty text.
        return [_text_or_null(cell) for cell in row]
    return cells


def _text_or_null(cell: Any) -> str | None:
    return cell.text if cell.text is not None or cell.get(NIL) is not None else ""


def _typed(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as the first type that all its text is of."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if text.null_count == len(text):
        return text
    for kind in (pa.int64(), pa.uint64(), pa.float64()):
        try:
            return text.cast(kind)
        except pa.ArrowInvalid:
            continue
    is_true = pc.equal(text, "true")
    return is_true if pc.all(pc.or_(is_true, pc.equal(text, "false"))).as_py() else text
