"""Apache Fory's language-independent encoding through pyfory."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import cache
from itertools import chain
from types import GenericAlias
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Optional

from adapter_core import FieldKind, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.stream import StreamStore, blocks, read_frames, write_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader

    from adapter_core import Field, RecordType

# The names of fields are written with each list. Chosen, not measured.
_BLOCK_ROWS = 10_000

# Names for which pyfory chooses an encoding that its descriptions of types lack (1.7.7).
_CAPITALIZED = re.compile("[A-Z][a-z_]*")

# By default, objects of more than 128 MiB are written but not read.
_NO_LIMIT = 2**62


class Adapter(StreamStore):
    """Lists of up to 10,000 registered dataclasses, each after its size, in the compatible mode.

    Registration is required, so a file can name no other class: reading runs no code from it. The
    compatible mode writes the names of fields with each list and resolves added and removed ones.
    """

    label = "Fory"
    suffix = ".fory"
    refuses: ClassVar = dict.fromkeys(
        (FieldKind.TIMESTAMP, FieldKind.DECIMAL, FieldKind.UNION), "the store has no code for it"
    )
    requires = ("pyfory>=1.7", "zstandard")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = (
        "it registers the classes of a record type with pyfory's own types for numbers, field by field"
    )

    def refusal(self, of: RecordType) -> str:
        """Return why the store cannot keep records of a type; empty if it may."""
        names = (each.name for record in of.types() for each in record.fields)
        name = next(filter(_CAPITALIZED.fullmatch, names), "")
        problem = f"pyfory encodes no name like {name!r}, whose first letter alone is a capital"
        refused = f"{self.label} cannot store these records: {problem}" if name else ""
        return super().refusal(of) or refused

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        serialize = _fory(of).serialize
        for block in blocks(objects, _BLOCK_ROWS):
            write_frame(serialize(block), file)

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        return chain.from_iterable(map(_fory(of).deserialize, read_frames(file)))


@cache
def _fory(of: RecordType) -> Any:
    """Return the serializer of a record type, with its classes registered."""
    import pyfory

    found = pyfory.Fory(
        xlang=True, ref=False, strict=True, compatible=True, max_graph_memory_bytes=_NO_LIMIT
    )
    for enum in of.enums():
        found.register_type(enum, name=f"records.{enum.__name__}")
    for each in of.types():
        with _annotated(each):
            found.register_type(each.object_class, name=f"records.{each.name}")
            # The annotations are used when the first object is written.
            found.serialize(each.example)
    return found


@contextmanager
def _annotated(of: RecordType) -> Iterator[None]:
    """Annotate a class with pyfory's types; by its own, each number would take up to 9 bytes."""
    annotations = of.object_class.__annotations__
    usual = dict(annotations)
    annotations.update({each.name: _hint(each) for each in of.fields})
    try:
        yield
    finally:
        annotations.update(usual)


def _hint(of: Field) -> Any:
    import pyfory

    hint: Any = {
        FieldKind.BOOL: bool,
        FieldKind.INT64: pyfory.FixedInt64,
        FieldKind.FLOAT: pyfory.Float32,
        FieldKind.DOUBLE: pyfory.Float64,
        FieldKind.TEXT: str,
        FieldKind.BYTES: bytes,
    }.get(of.kind, pyfory.FixedInt32)
    if of.record is not None:
        hint = of.record.object_class
    elif of.enum is not None:
        hint = of.enum
    elif of.element is not None:
        element = _hint(of.element)
        # As values: to type checkers, variables are no types.
        is_map = of.kind is FieldKind.MAP
        hint = GenericAlias(dict, (str, element)) if is_map else GenericAlias(list, (element,))
    # pyfory does not know the unions of PEP 604.
    return Optional[hint] if of.optional else hint  # noqa: UP045
