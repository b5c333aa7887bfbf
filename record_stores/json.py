"""JSON lines through Python's json."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import Given, ObjectKind, Snippet, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.documents import documents
from adapter_core.records.stream import StreamStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader

    from adapter_core import RecordType


class Adapter(StreamStore):
    """A line of JSON for each record, by `json.JSONEncoder` and `json.loads`; enums are numbers.

    Text is written as it is, not as escapes in ASCII, which the encoder does at the same speed.
    """

    label = "JSON"
    suffix = ".jsonl"
    requires = ("zstandard",)
    kind = ObjectKind.DICT
    refuses: ClassVar = {}
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    file_facts = FileFacts(silent="text names no settings of its writer")
    snippet = Snippet(
        imports="import json\n{module}",
        write="""
            with {writer} as file:
                encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
                for record in records:
                    file.write(f"{encode(record)}\\n".encode())
        """,
        read="""
            with {reader} as file:
                records = list(map(json.loads, file.read().splitlines()))
        """,
        given=Given.RECORDS,
    )

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_text).encode
        file.writelines((encode(each) + "\n").encode() for each in documents(objects, of))

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        return map(json.loads, file)


def _text(value: Any) -> str:
    """Return a value without a kind of JSON's own as text: base64 of bytes, a time in ISO 8601."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else format(value, "f")
