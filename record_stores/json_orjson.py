"""JSON lines through orjson."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import Given, ObjectKind, Snippet, SpecialFloat, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.stream import StreamStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader

    from adapter_core import RecordType


class Adapter(StreamStore):
    """A line of JSON for each record, by `orjson.dumps`, which takes dataclasses, and `orjson.loads`."""

    label = "JSON[orjson]"
    suffix = ".jsonl"
    requires = ("orjson", "zstandard")
    kind = ObjectKind.DICT
    refuses: ClassVar = {}
    changes_floats: ClassVar = {SpecialFloat.NAN: "null", SpecialFloat.INFINITE: "null"}
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    file_facts = FileFacts(silent="text names no settings of its writer")
    snippet = Snippet(
        imports="import orjson\n{module}",
        write="""
            with {writer} as file:
                option = orjson.OPT_APPEND_NEWLINE
                for record in records:
                    file.write(orjson.dumps(record, None, option))
        """,
        read="""
            with {reader} as file:
                records = [orjson.loads(line) for line in file.read().splitlines()]
        """,
        given=Given.RECORDS,
    )

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        import orjson

        dumps, option = orjson.dumps, orjson.OPT_APPEND_NEWLINE
        file.writelines(dumps(each, _text, option) for each in objects)

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        import orjson

        return map(orjson.loads, file)


def _text(value: Any) -> str:
    """Return a value that orjson does not know as text: base64 of bytes, all digits of a decimal."""
    return b64encode(value).decode() if isinstance(value, bytes) else format(value, "f")
