"""JSON through pandas: an array of records, or one record a line."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator.location import bare_name
from data_generator.readers import _text
from data_generator.readers._reader import Request, TableReader

if TYPE_CHECKING:
    import pandas as pd

LINES = (".jsonl", ".ndjson")

LONGEST_LINE = 2**20
"""In characters, of those that are looked at to tell the layout; an array may be all in one line."""


class Reader(TableReader):
    """Records are objects whose names are the columns; a name that a record lacks is null in it."""

    what = "JSON"
    endings = (".json", *LINES)
    is_text = True
    is_compressible = True

    def recognises(self, head: bytes) -> bool:
        """Tell whether text begins as an array or a line of records does."""
        start = b"".join(head.removeprefix(b"\xef\xbb\xbf").split())
        return start.startswith((b"[{", b'{"'))

    def guard(self, request: Request) -> AbstractContextManager[None]:
        """Return what stands around calls of pandas."""
        return _text.guard(request, self.what)

    def read(self, request: Request) -> pd.DataFrame:
        """Return the table; nothing but numbers, booleans and null is taken for anything but text."""
        import pandas as pd

        with self.guard(request):
            start, is_by_line = _layout(request)
        if not start.startswith(("[{", "[]")) and not is_by_line:
            found = {"{": "one object", "[": "an array of other things"}.get(start[:1], "no records")
            advice = "wanted is an array of objects, or one object a line"
            raise InvalidDataError(request.path, f"holds {found}", advice)
        with self.guard(request):
            return pd.read_json(
                request.path,
                orient="records",
                lines=is_by_line,
                dtype=False,
                compression=request.codec,
            )


def _layout(request: Request) -> tuple[str, bool]:
    """Return the first two characters that are not blank, and whether there is one record a line."""
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
