"""Cap'n Proto through pycapnp."""

from __future__ import annotations

import tempfile
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import FieldKind, ObjectKind, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.stream import StreamStore, blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import BufferedReader

    from adapter_core import Field, RecordType

_BLOCK_ROWS = 500

# Any number with the highest bit set; types of different files never meet.
_FILE_ID = "@0x934efea7f017fff0"

# By default a reader refuses messages of more than 64 MiB, against amplification by hostile ones.
_NO_LIMIT = 2**61


class Adapter(StreamStore):
    """Messages of up to 500 records in a list, one after another, without packing."""

    label = "CapnProto"
    suffix = ".capnp"
    requires = ("pycapnp", "zstandard")
    modules: ClassVar = {"pycapnp": "capnp"}
    kind = ObjectKind.MESSAGE
    lazy = "a field is decoded when it is used, each time anew"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = "its schema is made from the record type at run time; a program's comes from a .capnp file"

    def plain(self, of: RecordType) -> Callable[[Any], tuple[Any, ...]]:
        return _plain(of)

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        block = _block_of(of)
        mapping = _mapping_of(of)
        file.writelines(
            block.new_message(records=list(map(mapping, rows))).to_bytes()
            for rows in blocks(objects, _BLOCK_ROWS)
        )

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        data = file.read()
        messages = _block_of(of).read_multiple_bytes(data, traversal_limit_in_words=_NO_LIMIT)
        return chain.from_iterable(message.records for message in messages)


def _block_of(of: RecordType) -> Any:
    """Return the struct with a list of records."""
    return _module_of(of)[1].Block


@cache
def _module_of(of: RecordType) -> tuple[Any, Any]:
    """Return a parser and the module of a type's schema, which is invalid without its parser."""
    import capnp

    # A parser of its own: the usual one knows files by path.
    parser = capnp.SchemaParser()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.capnp")
        path.write_text(schema_text(of), encoding="ascii")
        return parser, parser.load(str(path))


def schema_text(of: RecordType) -> str:
    """Return the schema of a record type in Cap'n Proto's language."""
    lines = [f"{_FILE_ID};"]
    for each in of.types():
        lines.append(f"struct {each.name} {{")
        ordinals = count()
        fields = sorted((*each.fields, *each.retired), key=lambda field: field.number)
        lines += [_field_text(field, ordinals) for field in fields]
        lines.append("}")
        for field in each.fields:
            if field.enum is not None:
                symbols = " ".join(f"{name.lower()} @{i};" for i, name in enumerate(field.symbols))
                lines.append(f"enum {field.enum.__name__} {{ {symbols} }}")
    lines.append(f"struct Block {{ records @0 :List({of.name}); }}")
    return "\n".join(lines)


def _field_text(of: Field, ordinals: Iterator[int]) -> str:
    kind = {FieldKind.INT32: "Int32", FieldKind.TEXT: "Text"}.get(of.kind, "")
    if of.record is not None:
        kind = of.record.name
    elif of.enum is not None:
        kind = of.enum.__name__
    if of.repeated:
        kind = f"List({kind})"
    if of.optional and of.kind is FieldKind.INT32:
        # Pointers can be null, numbers cannot.
        return f"{of.name} :union {{ none @{next(ordinals)} :Void; value @{next(ordinals)} :{kind}; }}"
    default = f" = {of.default}" if of.default is not None and of.kind is FieldKind.INT32 else ""
    return f"{of.name} @{next(ordinals)} :{kind}{default};"


def _mapping_of(of: RecordType) -> Callable[[Any], dict[str, Any]]:
    """Return the function from an object to the mapping that makes its message."""
    names = of.names
    if of.is_flat:
        plain = of.plain
        return lambda each: dict(zip(names, plain(each)))  # noqa: B905 (once a record)
    converters = {each.name: _message_value(each) for each in of.fields}

    def mapping(each: Any) -> dict[str, Any]:
        values = {name: getattr(each, name) for name in names}
        # A field that is absent is null.
        return {name: converters[name](value) for name, value in values.items() if value is not None}

    return mapping


def _message_value(of: Field) -> Callable[[Any], Any]:
    if of.record is not None:
        convert = _mapping_of(of.record)
        return (lambda values: [convert(each) for each in values]) if of.repeated else convert
    if of.enum is not None:
        return int
    if of.optional and of.kind is FieldKind.INT32:
        return lambda value: {"value": value}
    return lambda value: value


def _plain(of: RecordType) -> Callable[[Any], tuple[Any, ...]]:
    if of.is_flat:
        return of.plain
    getters = [_getter(each) for each in of.fields]
    return lambda message: tuple([get(message) for get in getters])


def _getter(of: Field) -> Callable[[Any], Any]:
    name = of.name
    if of.record is not None:
        nested = _plain(of.record)
        if of.repeated:
            return lambda message: [nested(each) for each in getattr(message, name)]
        return lambda message: nested(getattr(message, name)) if message._has(name) else None  # noqa: SLF001
    if of.repeated:
        return lambda message: list(getattr(message, name))
    if of.enum is not None:
        return lambda message: getattr(message, name).raw
    if of.optional and of.kind is FieldKind.INT32:

        def number(message: Any) -> int | None:
            union = getattr(message, name)
            return union.value if union.which() == "value" else None

        return number
    if of.optional:
        return lambda message: getattr(message, name) if message._has(name) else None  # noqa: SLF001
    return lambda message: getattr(message, name)
