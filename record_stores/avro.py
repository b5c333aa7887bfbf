"""Avro through fastavro."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import (
    Codec,
    FieldKind,
    Given,
    ObjectKind,
    RecordStore,
    RecordType,
    Snippet,
    Trait,
)
from adapter_core.file_facts import FileFacts
from adapter_core.record_schema import avro_of
from adapter_core.records.documents import documents
from adapter_core.snippets import keywords

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader
    from pathlib import Path

# fastavro's names of the codecs of the family.
_NAMES = {"gzip": "deflate", "zstd": "zstandard"}

_SYMBOLS = {FieldKind.ENUM: attrgetter("name")}


class Adapter(RecordStore):
    """An Avro object container file with its schema; the codecs are the format's own, block by block.

    A program that reads gives its own schema, and the library resolves the two by Avro's rules: by
    names and aliases, with defaults for fields that the file lacks.
    """

    label = "Avro"
    suffix = ".avro"
    requires = ("fastavro", "backports.zstd")
    modules: ClassVar = {"backports.zstd": "backports.zstd"}
    kind = ObjectKind.DICT
    refuses: ClassVar = {}
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    codecs: ClassVar = (
        Codec("gzip", range(1, 10), 6),
        Codec("zstd", range(1, 23), 3, requires="backports.zstd"),
    )
    file_facts = FileFacts(version="1")
    snippet = Snippet(
        imports="import fastavro",
        write="""
            types = {int: "int", str: "string"}
            fields = [{"name": name, "type": types[type(each)]} for name, each in records[0].items()]
            schema = fastavro.parse_schema({"type": "record", "name": "Entity", "fields": fields})
            with open({path}, "wb") as file:
                fastavro.writer(file, schema, records, {options})
        """,
        read="""
            with open({path}, "rb") as file:
                records = list(fastavro.reader(file))
        """,
        given=Given.RECORDS,
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        options = {"codec": _NAMES[codec] if codec else None, "codec_compression_level": level}
        return {"options": keywords(**options)}

    def _save(
        self,
        objects: Sequence[Any],
        of: RecordType,
        path: Path,
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        import fastavro

        with path.open("wb") as file:
            fastavro.writer(
                file,
                schema_of(of),
                documents(objects, of, _SYMBOLS),
                codec=_NAMES[codec] if codec else "null",
                codec_compression_level=level,
            )

    def _read(self, path: Path, of: RecordType) -> list[Any]:
        with path.open("rb") as file:
            return list(_reader(file, of))

    def _iterate(self, path: Path, of: RecordType) -> Iterator[Any]:
        with path.open("rb") as file:
            yield from _reader(file, of)

    def _codec_used(self, path: Path) -> str | None:
        import fastavro

        names = {avro: name for name, avro in _NAMES.items()}
        with path.open("rb") as file:
            return names.get(fastavro.reader(file).codec)


def _reader(file: BufferedReader, of: RecordType) -> Iterator[Any]:
    import fastavro

    expected = schema_of(of)
    reader = fastavro.reader(file)
    # Resolving takes time for each record, also of equal schemas.
    if fastavro.parse_schema(reader.writer_schema) == expected:
        return iter(reader)
    file.seek(0)
    return iter(fastavro.reader(file, expected))


@cache
def schema_of(of: RecordType) -> Any:
    """Return the parsed schema of a record type."""
    import fastavro

    return fastavro.parse_schema(_floats_last(avro_of(of)))


def _floats_last(schema: Any) -> Any:
    """Return a schema whose unions name floats last.

    fastavro writes the first branch that takes a value, and floats take whole numbers.
    """
    if isinstance(schema, list):
        return sorted(map(_floats_last, schema), key=lambda each: each in ("float", "double"))
    if not isinstance(schema, dict):
        return schema
    inner = {key: _floats_last(schema[key]) for key in ("type", "items", "values") if key in schema}
    fields = {"fields": [*map(_floats_last, schema["fields"])]} if "fields" in schema else {}
    return {**schema, **inner, **fields}
