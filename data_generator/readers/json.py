"""Reader of JSON, an array of records or one record per line, and its strict decoder."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.errors import DAMAGED
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
    """Reader of records: objects whose names are the columns, with nulls for missing names.

    NaN and Infinity are numbers, as Python writes them.
    """

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
    strict = decoder(finite)
    with _text.opened(request) as text:
        if not is_by_line:
            array: list[Any] = strict.decode(text.read())
            return array
        records = []
        for number, line in enumerate(text, 1):
            if not line.isspace():
                with errors_of_line(request.path, number, DAMAGED):
                    records.append(strict.decode(line))
    return records


def decoder(
    parse_float: Callable[[str], Any], parse_constant: Callable[[str], Any] | None = None
) -> json.JSONDecoder:
    """Return a decoder that raises `ValueError` for objects with a key twice."""
    return json.JSONDecoder(
        parse_float=parse_float, parse_constant=parse_constant, object_pairs_hook=_object
    )


@contextmanager
def errors_of_line(path: Path, number: int, advice: str) -> Iterator[None]:
    """Convert errors of a line to `InvalidDataError` with its number."""
    try:
        yield
    except (ValueError, RecursionError) as error:
        words = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        if isinstance(error, json.JSONDecodeError):
            words = f"{error.msg} (column {error.colno:,})"
        raise InvalidDataError(path, f"line {number:,} is no JSON: {words:.160}", advice) from error


def finite(text: str) -> float:
    """Return a number; raise `ValueError` if it is beyond all doubles."""
    found = float(text)
    if math.isinf(found):
        raise ValueError(f"{text:.40} is beyond the range of a double")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"an object has the key {twice!a:.60} twice")
    return found


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
