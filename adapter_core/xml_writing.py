"""Rows of a table as XML, made of Arrow's columns in bulk.

XML libraries write one element after the other. Here Arrow joins the text of all elements of many rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

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
