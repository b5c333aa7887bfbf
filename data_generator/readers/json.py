"""Reader of JSON, an array of records or one record per line, through the standard library."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.location import bare_name
from data_generator.readers import _text
from data_generator.readers._reader import ReadRequest, TableReader
from data_generator.readers._values import typed

if TYPE_CHECKING:
    import pandas as pd

LINES = (".jsonl", ".ndjson")

# Characters of a line that are read to detect the layout: a whole array may be on one line.
LONGEST_LINE = 2**20

# A dictionary for each record.
RECORD_BYTES = 100


class JSONReader(TableReader):
    """Reader of records: objects whose names are the columns, with nulls for missing names."""

    kind = "JSON"
    endings = (".json", *LINES)
    is_text = True
    is_compressible = True

    def recognises(self, head: bytes) -> bool:
        """Return True if the text starts like an array of records or a record."""
        start = b"".join(head.removeprefix(b"\xef\xbb\xbf").split())
        return start.startswith((b"[{", b'{"'))

    def guard(self, request: ReadRequest) -> AbstractContextManager[None]:
        """Return the context manager for the parser."""
        return _text.guard(request, self.kind)

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the table; text is never converted to dates or numbers."""
        import pandas as pd

        with self.guard(request):
            start, is_by_line = _layout(request)
        if not start.startswith(("[{", "[]")) and not is_by_line:
            found = {"{": "one object", "[": "an array of other things"}.get(start[:1], "no records")
            advice = "wanted is an array of objects, or one object a line"
            raise InvalidDataError(request.path, f"contains {found}", advice)
        with self.guard(request):
            _text.check_unpacked(request, 2 + RECORD_BYTES, Memory().add)
        with self.guard(request):
            records = _records(request, is_by_line=is_by_line)
        if not all(isinstance(each, dict) for each in records):
            raise InvalidDataError(request.path, "contains values that are not records")
        with self.guard(request):
            return typed(pd.DataFrame(records, dtype=object))


def _records(request: ReadRequest, *, is_by_line: bool) -> list[Any]:
    # Not by pandas, whose floats are other ones in the last place.
    with _text.opened(request) as text:
        records: list[Any]
        records = (
            [json.loads(each) for each in text if not each.isspace()] if is_by_line else json.load(text)
        )
        return records


@dataclass
class Memory:
    """Estimate of the memory that pandas needs for a text, at least."""

    bytes_read: int = 0
    records: int = 0

    def add(self, text: bytes) -> int:
        """Return the memory for the text so far, in bytes."""
        self.bytes_read += len(text)
        self.records += text.count(b"{")
        return 2 * self.bytes_read + RECORD_BYTES * self.records


def _layout(request: ReadRequest) -> tuple[str, bool]:
    """Return the first two characters that are not blank, and True for one record per line."""
    with _text.opened(request) as text:
        lines = (line for line in iter(partial(text.readline, LONGEST_LINE), "") if line.strip())
        first, second = next(lines, "").strip(), next(lines, "").strip()
    start = "".join((first + second)[:1000].split())[:2]
    if not first.startswith("{"):
        return start, False
    is_named_so = bare_name(request.path).lower().endswith(LINES)
    return start, is_named_so or (second.startswith("{") and _is_record(first))


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
