"""Study of changed types: records of an older type, read by programs with a newer one.

On the JVM, classes of the types are compiled. Each is `formatbench.Item` in its own folder on the class
path, like releases of a program. Beside it are the class of Avro and the descriptor of Protobuf that
their generators would make.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

from adapter_core import RecordSet, RecordStore, RecordType
from adapter_core.record_type import Field, FieldKind
from record_stores import JvmRequest, JvmStore, jvm

# Not 0, so that a store that ignores the default of an added field is told from one that uses it.
ADDED_VALUE = 5


@dataclass(slots=True)
class Item:
    """A record of the older type."""

    amount: int
    gone: str
    word: str


_AMOUNT = Field("amount", FieldKind.INT32, 1)
_GONE = Field("gone", FieldKind.TEXT, 2)
_WORD = Field("word", FieldKind.TEXT, 3)
_ADDED = Field("added", FieldKind.INT32, 4, default=ADDED_VALUE)
_RENAMED = replace(_WORD, name="title", earlier_name="word")

OLDER = RecordType("Item", (_AMOUNT, _GONE, _WORD), Item)

EXAMPLES = [Item(7, "g", "word of the first"), Item(-8, "", "word of the second")]

CHANGES: dict[str, tuple[RecordType, tuple[Any, ...]]] = {
    "field added at the end": (
        RecordType("Item", (_AMOUNT, _GONE, _WORD, _ADDED)),
        ("amount", "gone", "word", ADDED_VALUE),
    ),
    "field added between": (
        RecordType("Item", (_AMOUNT, _ADDED, _GONE, _WORD)),
        ("amount", ADDED_VALUE, "gone", "word"),
    ),
    "field removed": (
        RecordType("Item", (_AMOUNT, _WORD), retired=(_GONE,)),
        ("amount", "word"),
    ),
    "field renamed": (
        RecordType("Item", (_AMOUNT, _GONE, _RENAMED)),
        ("amount", "gone", "word"),
    ),
}
"""Newer types, and for each of their fields the older one that it has its value from, or its default."""


class Evolution(StrEnum):
    """Outcome for a program with the newer type that reads a file of the older one."""

    RIGHT = "right"
    """All values; a new field has its default."""
    ZERO = "zero"
    """All values; a new field is 0 instead of its default."""
    ABSENT = "absent"
    """Objects without the new or renamed field, or with null in its place."""
    ERROR = "error"
    """An error."""
    WRONG = "**wrong**"
    """Values of other fields, without an error."""


def outcome(store: RecordStore, change: str) -> Evolution:
    """Save records of the older type, read them with a newer one, and return the outcome.

    Parameters
    ----------
    store : RecordStore
        A store that is available.
    change : str
        One of `CHANGES`.
    """
    newer, sources = CHANGES[change]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"older{store.suffix}")
        store.save(RecordSet.of_objects(OLDER, EXAMPLES), path)
        try:
            found = store.read(path, newer)
        except Exception:
            return Evolution.ERROR
        try:
            values = [_of_type(store.plain(newer)(each), newer) for each in found]
        except (KeyError, AttributeError, IndexError):
            return Evolution.ABSENT
    return judged(values, sources)


def judged(values: list[tuple[Any, ...]], sources: Sequence[Any]) -> Evolution:
    """Return the outcome of a read without an error, by the values of the records in order.

    Parameters
    ----------
    values : list of tuple
        Values of the newer type's fields, for each of `EXAMPLES`.
    sources : sequence
        For each field of the newer type the older one that it has its value from, or its default.
    """
    expected = [tuple(_value(each, source) for source in sources) for each in EXAMPLES]
    if values == expected:
        return Evolution.RIGHT
    if values == [tuple(0 if value == ADDED_VALUE else value for value in each) for each in expected]:
        return Evolution.ZERO
    pairs = list(zip(chain.from_iterable(values), chain.from_iterable(expected), strict=False))
    only_nulls = len(values) == len(expected) and all(value in {None, right} for value, right in pairs)
    return Evolution.ABSENT if only_nulls else Evolution.WRONG


def _of_type(values: tuple[Any, ...], of: RecordType) -> tuple[Any, ...]:
    """Return as many values as the type has fields, which a program takes by their places."""
    if len(values) < len(of.fields):
        raise IndexError(f"{len(values)} values for {len(of.fields)} fields")
    return values[: len(of.fields)]


def _value(item: Item, source: Any) -> Any:
    return getattr(item, source) if isinstance(source, str) else source


DATASET = "items"
# Of a JVM that tries all stores on two records: far more than they need, for a busy machine.
LIMIT_SECONDS = 300.0
HEAP_GIB = 1
# Nothing is timed, and code runs once.
_FLAGS = ("-XX:TieredStopAtLevel=1",)

_RECORD = """\
package formatbench;

public class %(name)s implements java.io.Serializable {
    private static final long serialVersionUID = 1;
%(fields)s
    public static java.util.List<%(name)s> examples() {
        java.util.List<%(name)s> found = new java.util.ArrayList<>();
        %(name)s each;
%(examples)s        return found;
    }
}
"""

_AVRO = """\
package formatbench.avro;

import org.apache.avro.Schema;

public class %(name)sRecord extends org.apache.avro.specific.SpecificRecordBase {
    public static final Schema SCHEMA$ = new Schema.Parser().parse(%(schema)s);
    private final Object[] values = new Object[%(fields)d];

    @Override
    public Schema getSchema() {
        return SCHEMA$;
    }

    @Override
    public Object get(int field) {
        return values[field];
    }

    @Override
    public void put(int field, Object value) {
        values[field] = value;
    }
}
"""


def outcomes(stores: Sequence[JvmStore]) -> dict[tuple[str, str], Evolution | None]:
    """Return the outcome for each label and each of `CHANGES`; None for a store without other types.

    Raises
    ------
    UnavailableError
        If the JDK is missing, or if the Java part of records has not been built.
    """
    usable = [each for each in stores if each.availability()]
    found: dict[tuple[str, str], Evolution | None] = {}
    if not usable:
        return found
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        classes = _compiled(OLDER, folder / "older")
        written = _served(usable, "write", folder, classes)
        for change, (newer, _) in CHANGES.items():
            place = folder / change
            classes = _compiled(newer, place / "classes")
            for store in usable:
                _copy(folder / _file(store), place / _file(store))
            read = _served(usable, "values", place, classes)
            for store in usable:
                label = store.label
                found[label, change] = _outcome(written[label], read[label], newer, change)
    return found


def _served(
    stores: Sequence[JvmStore], operation: str, folder: Path, classes: Path
) -> dict[str, list[dict[str, Any]]]:
    """Return the answers to an operation by label; a JVM that ends early has a successor."""
    found: dict[str, list[dict[str, Any]]] = {}
    while left := [each for each in stores if each.label not in found]:
        requests = [
            JvmRequest(operation, DATASET, path=folder / _file(each), format_name=each.format_name)
            for each in left
        ]
        answers = left[0].run_all(requests, LIMIT_SECONDS, HEAP_GIB, [classes], _FLAGS)
        found |= {store.label: each for store, each in zip(left, answers, strict=False)}
    return found


def _outcome(
    written: list[dict[str, Any]], read: list[dict[str, Any]], newer: RecordType, change: str
) -> Evolution | None:
    events = {each["event"]: each for each in read}
    if "unsupported" in events:
        return None
    if "values" not in events or any(each["event"] == "error" for each in written):
        return Evolution.ERROR
    records = events["values"]["records"]
    values = [tuple(each[name] for name in newer.names) for each in records]
    return judged(values, CHANGES[change][1])


def _file(store: JvmStore) -> str:
    return f"{store.format_name}{store.suffix}"


def _copy(file: Path, to: Path) -> None:
    # Some stores note the newer type beside the records.
    if file.is_dir():
        shutil.copytree(file, to)
    elif file.exists():
        shutil.copy(file, to)


def _compiled(of: RecordType, folder: Path) -> Path:
    """Compile the classes of a type; return their folder, for the class path."""
    package = folder / "formatbench"
    package.mkdir(parents=True)
    record, avro = package / f"{of.name}.java", package / f"{of.name}Record.java"
    record.write_text(_record_source(of), encoding="utf-8")
    avro.write_text(_avro_source(of), encoding="utf-8")
    (package / f"{of.name}.desc").write_bytes(_protobuf_descriptor(of))
    jvm.compile([record, avro], folder)
    return folder


def _record_source(of: RecordType) -> str:
    fields = "".join(
        f"    public {_java_type(each)} {each.name}{_default(each)};\n" for each in of.fields
    )
    examples = ""
    for example in EXAMPLES if of is OLDER else ():
        values = zip(of.names, of.plain(example), strict=True)
        examples += f"        each = new {of.name}();\n"
        examples += "".join(f"        each.{name} = {json.dumps(value)};\n" for name, value in values)
        examples += "        found.add(each);\n"
    return _RECORD % {"name": of.name, "fields": fields, "examples": examples}


def _java_type(of: Field) -> str:
    return {FieldKind.INT32: "int", FieldKind.TEXT: "String"}[of.kind]


def _default(of: Field) -> str:
    return "" if of.default is None else f" = {json.dumps(of.default)}"


def _avro_source(of: RecordType) -> str:
    schema = {
        "type": "record",
        "name": f"{of.name}Record",
        "namespace": "formatbench.avro",
        "fields": [_avro_field(each) for each in of.fields],
    }
    text = json.dumps(json.dumps(schema))
    return _AVRO % {"name": of.name, "schema": text, "fields": len(of.fields)}


def _protobuf_descriptor(of: RecordType) -> bytes:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto(name="items.proto", syntax="proto3")
    message = file.message_type.add(name=of.name)
    for each in of.fields:
        kind = "TYPE_INT32" if each.kind is FieldKind.INT32 else "TYPE_STRING"
        message.field.add(name=each.name, number=each.number, type=kind, label="LABEL_OPTIONAL")
    return file.SerializeToString()


def _avro_field(of: Field) -> dict[str, Any]:
    text = {"type": "string", "avro.java.string": "String"}
    found: dict[str, Any] = {"name": of.name, "type": "int" if of.kind is FieldKind.INT32 else text}
    if of.default is not None:
        found["default"] = of.default
    if of.earlier_name:
        found["aliases"] = [of.earlier_name]
    return found
