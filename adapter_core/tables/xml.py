"""XML documents of one element a row, and one in it for each value.

Libraries write XML element by element. `xml_of` joins the text of all elements of many rows in Arrow
instead, and `read_rows` turns parsed elements into columns in bulk.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import AS_A_WHOLE, BatchedReads, DataFormat, FilteredReads, RowReads, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.tables.arrow import frame_of
from adapter_core.tables.arrow_text import REFUSES, all_match, as_type, common_types, plain_of
from adapter_core.values import (
    NOT_XML,
    UNLIKE_ISO_8601,
    any_matches,
    datetimes_unlike_iso_8601,
    text_columns,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


ELEMENT_NAME = re.compile(r"[^\W\d][\w.\-·]*")
"""Names without colons, https://www.w3.org/TR/xml-names/#NT-NCName, as far as \\w covers them."""

XSI = "http://www.w3.org/2001/XMLSchema-instance"
"""Namespace of the attribute `nil` of null elements: https://www.w3.org/TR/xmlschema-1/#xsi_nil"""

_NIL = f"{{{XSI}}}nil"
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?0[xX][0-9a-fA-F]+|[+-]?(?i:inf|infinity|nan)"

_HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<data xmlns:xsi="{XSI}">\n'
_TAIL = "</data>\n"

# The ampersand comes first, since the others bring new ones. Parsers turn a bare carriage return into
# a line feed.
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}

# Rows that are text or elements at a time, which take several times the memory of their values.
_BLOCK_ROWS = 10_000


class XMLFormat(DataFormat):
    """One element a row, of a document whose columns are names of elements."""

    local_only = AS_A_WHOLE
    suffix = ".xml"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.SINGLE_FILE})
    holds_zero_rows = False

    def _check_values(self, df: pd.DataFrame) -> None:
        for name in df.columns:
            if not ELEMENT_NAME.fullmatch(name):
                raise self.refusal(f"{name!r} cannot be the name of an XML element")
        for name, text in text_columns(df):
            if any_matches(text, NOT_XML):
                raise self.refusal(f"column {name!r} contains control characters, which XML forbids")
            self._check_text(name, text)

    @abstractmethod
    def _check_text(self, name: str, text: pa.Array) -> None:
        """Raise `refusal` for a column of text that would be read as other values."""


class XMLRows(XMLFormat, RowReads, FilteredReads, BatchedReads):
    """XML through a parser that yields row by row; a null value has the attribute ``xsi:nil``.

    XML has no types. A column whose text is all integers, floats or booleans comes back as such, of 64
    bits; dates and categories as text.
    """

    suite = "engines"
    refuses: ClassVar = REFUSES
    file_facts = FileFacts(silent="text names no settings of its writer", threads="one")
    snippet = (
        "it assembles the document in Arrow, and infers types from the text of all rows; XML has "
        "the code of pandas"
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        self._refuse_column(datetimes_unlike_iso_8601(df), UNLIKE_ISO_8601)

    def _check_text(self, name: str, text: pa.Array) -> None:
        if all_match(text, _NUMBER) or all_match(text, "true|false"):
            raise self.refusal(f"the text of column {name!r} would be read as numbers or booleans")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        with path.open("wb") as file:
            file.writelines(xml_of(plain_of(df)))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return read_rows(self._parsed_rows(path))

    def _column_names(self, path: Path) -> list[str]:
        return next((table.column_names for table in _text_tables(self._parsed_rows(path), 1)), [])

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        import pyarrow as pa

        block_rows = min(batch_rows, _BLOCK_ROWS)
        # The types of the columns depend on all rows, hence the file is parsed twice.
        types = common_types(
            _text_tables(self._parsed_rows(path), _BLOCK_ROWS), _types(), pa.large_string()
        )
        nullable = [name for name, (_, has_nulls) in types.items() if has_nulls]
        for text in _text_tables(self._parsed_rows(path), block_rows):
            columns = [as_type(text.column(name), kind) for name, (kind, _) in types.items()]
            yield frame_of(pa.table(columns, list(types)), nullable=nullable)

    @abstractmethod
    def _parsed_rows(self, path: Path) -> Iterator[Any]:
        """Yield the element of each row; its contents may be gone when the next one is requested."""


def xml_of(table: pa.Table) -> Iterator[memoryview]:
    """Yield the bytes of a document, in UTF-8, for a table of shape (rows, columns).

    The elements of rows have a name that no column has, values have the names of their columns.
    """
    row = _row_name(table.column_names)
    whole = [_is_whole_floats(column) for column in table.columns]
    yield memoryview(_HEAD.encode())
    for start in range(0, table.num_rows, _BLOCK_ROWS):
        yield _rows(row, table.slice(start, _BLOCK_ROWS).combine_chunks(), whole)
    yield memoryview(_TAIL.encode())


def _row_name(columns: list[str]) -> str:
    """Return "row", pandas' name, with underscores if a column has that name."""
    name = "row"
    while name in columns:
        name += "_"
    return name


def _is_whole_floats(column: pa.ChunkedArray) -> bool:
    """Return True if all values are floats without decimals, which Arrow writes like integers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return False
    return bool(pc.all(pc.equal(pc.trunc(column), column), min_count=0).as_py())


def _rows(row: str, table: pa.Table, whole: list[bool]) -> memoryview:
    parts = [_scalar(f"<{row}>")]
    for name, column, is_whole in zip(table.column_names, table.columns, whole, strict=True):
        parts.append(_elements(name, column, is_whole=is_whole))
    rows = _joined(*parts, _scalar(f"</{row}>\n"))
    # The values of an Arrow column of text lie end to end, which is the document.
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
        # Values with an exponent, and infinite ones, show that they are floats.
        text = pc.replace_substring_regex(text, r"^(-?\d+)$", r"\1.0")
    elements = _joined(_scalar(f"<{name}>"), text, _scalar(f"</{name}>"))
    return pc.fill_null(elements, _scalar(f'<{name} xsi:nil="true"/>'))


def _joined(*parts: pa.Array | pa.Scalar) -> pa.Array:
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*parts, _scalar(""))


def _scalar(value: str) -> pa.Scalar:
    import pyarrow as pa

    return pa.scalar(value, pa.large_string())


def read_rows(rows: Iterator[Any]) -> pd.DataFrame:
    """Return the table, shape (rows, columns), of a document that `xml_of` made.

    Parameters
    ----------
    rows : iterator of elements
        The element of each row; its contents may be gone when the next one is requested.
    """
    import pyarrow as pa

    text = pa.concat_tables(_text_tables(rows, _BLOCK_ROWS))
    return frame_of(pa.table(list(map(_typed, text.columns)), text.column_names))


def _text_tables(rows: Iterator[Any], block_rows: int) -> Iterator[pa.Table]:
    """Yield the text of rows in blocks of that many."""
    import pyarrow as pa

    first = next(rows)
    names = [cell.tag for cell in first]
    cells = chain.from_iterable(map(_cells, chain([first], rows)))
    while block := list(islice(cells, block_rows * len(names))):
        arrays = [pa.array(block[i :: len(names)], pa.large_string()) for i in range(len(names))]
        yield pa.table(arrays, names)


_text_of = attrgetter("text")


def _cells(row: Iterable[Any]) -> list[str | None]:
    """Return the text of the values in a row."""
    cells = list(map(_text_of, row))
    if None in cells:
        # Parsers give None for an empty element, be it null or empty text.
        return [_text_or_null(cell) for cell in row]
    return cells


def _text_or_null(cell: Any) -> str | None:
    return cell.text if cell.text is not None or cell.get(_NIL) is not None else ""


def _typed(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in the first type that fits all its text."""
    import pyarrow as pa

    if text.null_count == len(text):
        return text
    for kind in _types():
        try:
            return as_type(text, kind)
        except pa.ArrowInvalid:
            continue
    return text


def _types() -> list[pa.DataType]:
    import pyarrow as pa

    return [pa.int64(), pa.uint64(), pa.float64(), pa.bool_()]
