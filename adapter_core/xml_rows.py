"""What the XML engines that go through rows one by one have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.arrow_frames import frame_of
from adapter_core.data_format import DataFormat
from adapter_core.text_tables import REFUSES, is_all_like, plain_of
from adapter_core.traits import Trait
from adapter_core.values import matches_text, text_columns
from adapter_core.xml_names import ELEMENT_NAME, NOT_A_CHARACTER
from adapter_core.xml_writing import XSI, xml_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NIL = f"{{{XSI}}}nil"

ROWS_AT_A_TIME = 10_000

_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?0[xX][0-9a-fA-F]+|[+-]?(?i:inf|infinity|nan)"

_text = attrgetter("text")


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
                raise self.refusal(f"column {name!r} holds control characters, which XML forbids")
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
    cells = list(map(_text, row))
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
