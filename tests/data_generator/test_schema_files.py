"""Types of records from files of four kinds: equal ones are equal, and a module is never run."""

from __future__ import annotations

import json

import pytest

from adapter_core.errors import InvalidDataError
from adapter_core.record_schema import attribute_name, avro_of, class_name, type_of
from data_generator.user.records import load_records
from data_generator.user.schema_files import read_schema

AVRO = {
    "type": "record",
    "name": "Person",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "size", "type": "long"},
        {"name": "score", "type": ["null", "double"]},
        {"name": "active", "type": "boolean"},
        {"name": "photo", "type": "bytes"},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["ON", "OFF"]}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "links", "type": {"type": "map", "values": "float"}},
        {
            "name": "home",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "Address",
                    "fields": [
                        {"name": "city", "type": "string"},
                        {"name": "zip", "type": ["null", "string"]},
                    ],
                },
            ],
        },
        {"name": "work", "type": ["null", "Address"]},
    ],
}

JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Person",
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 0, "maximum": 100},
        "size": {"type": "integer"},
        "score": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "active": {"type": "boolean"},
        "photo": {"type": "string", "contentEncoding": "base64"},
        "at": {"type": ["string", "null"], "format": "date-time"},
        "status": {"enum": ["ON", "OFF"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "links": {"type": "object", "additionalProperties": {"type": "number", "format": "float"}},
        "home": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/Address"}]},
        "work": {"$ref": "#/$defs/Address"},
    },
    "required": ["id", "size", "score", "active", "photo", "status", "tags", "links"],
    "$defs": {
        "Address": {
            "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
            "required": ["city"],
        }
    },
}

PROTO = """
syntax = "proto3";  // as protoc takes it
package people.v1;
import "google/protobuf/timestamp.proto";
option java_package = "org.people";
/* A person. */
message Person {
  option deprecated = false;
  reserved 20, 30 to 40;
  int32 id = 1;
  uint64 size = 2;
  oneof result { double score = 3; }
  bool active = 4 [json_name = "active"];
  bytes photo = 5;
  google.protobuf.Timestamp at = 6;
  enum Status { ON = 0; OFF = 1 [deprecated = true]; }
  Status status = 7;
  repeated string tags = 8 [packed = false, (x.y) = { a: 1 }];
  map<string, float> links = 9;
  Address home = 10;
  .people.v1.Person.Address work = 11;
  message Address {
    string city = 1;
    optional string zip = 2;
  }
}
service People { rpc Get (Person) returns (Person) { option x = 1; } }
"""

MODULE = '''
"""Raises an error if it is run."""
import datetime as dt
import enum
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Optional

import numpy as np

raise SystemExit("the module was run")

Text = str

class Status(enum.Enum):
    ON = "on!"
    OFF = "off!"

@dataclass
class Address:
    city: Text
    zip: "Text | None" = None

@dataclass
class Base:
    id: np.int32
    count: ClassVar[int] = 0

@dataclass
class Person(Base):
    size: Annotated[int, "bytes"] = 0
    score: Optional[float] = None
    active: bool = open("/tmp/format-bench-was-run", "w")
    photo: bytes = b""
    at: dt.datetime | None = None
    status: Status = Status.ON
    tags: list[str] = field(default_factory=list)
    links: dict[str, np.float32] = field(default_factory=dict)
    home: Address | None = None
    work: "Optional[Address]" = None

    def method(self) -> int: ...
'''

FILES = {
    "person.avsc": json.dumps(AVRO),
    "person.json": json.dumps(JSON_SCHEMA),
    "person.proto": PROTO,
    "person.py": MODULE,
}


def features(of):
    optional = [each.name for each in of.fields if each.optional]
    return list(of.features()), optional, [each.symbols for each in of.fields if each.symbols]


def schema(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("name", FILES)
def test_each_kind_of_file_describes_the_same_type(name, tmp_path):
    found = read_schema(schema(tmp_path, name, FILES[name])).of
    assert found.name == "Person"
    assert features(found) == features(type_of(AVRO))
    assert [each.name for each in found.types()] == ["Address", "Person"]
    assert type_of(json.loads(json.dumps(avro_of(found)))).names == found.names


def test_missing_fields_of_a_message_are_zero_and_long_numbers_may_be_texts(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"size": "123", "at": "2024-01-02T00:00:00Z"}\n{"home": {}}\n')
    found = load_records(tmp_path / "a.jsonl", schema=schema(tmp_path, "person.proto", PROTO)).records
    plain = [found.of.plain(each) for each in found.objects]
    assert plain[0] == (0, 123, None, False, b"", 1_704_153_600_000_000, 0, [], {}, None, None)
    assert plain[1] == (0, 0, None, False, b"", None, 0, [], {}, ("", None), None)


def test_one_of_several_is_named(tmp_path):
    proto = schema(tmp_path, "a.proto", "message A { int32 x = 1; } message B { string y = 1; }")
    module = schema(tmp_path, "a.py", "class A:\n    x: int\nclass B:\n    y: str\n")
    for path in (proto, module):
        assert read_schema(f"{path}::B").of.names == ("y",)
        with pytest.raises(InvalidDataError, match=r"that no other uses: A, B; name one by ::A"):
            read_schema(path)
        with pytest.raises(InvalidDataError, match=r"it has no (message|class) C"):
            read_schema(f"{path}::C")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.proto", "", "it has no message that no other uses"),
        ("a.proto", "message A {", "it is no .proto file: it ends too early"),
        ("a.proto", "massage A {}", "'massage' is out of place"),
        ("a.proto", "message A { int32 x 1; }", "= is wanted in place of '1'"),
        ("a.proto", "message A { int32 \x00 = 1; }", "line 1 has '\\x00'"),
        ("a.proto", "message A { Other x = 1; }", "A.x: this file has no type Other"),
        ("a.proto", "message A { map<int32, string> x = 1; }", "A.x: keys of a map here are strings"),
        ("a.proto", "message B { A a = 1; } message A { repeated A x = 1; }", "A contains itself"),
        ("a.proto", "message A { }", "the record A has no fields"),
        ("a.py", "class A(:", "it is no Python: invalid syntax (line 1)"),
        ("a.py", "x = 1", "it has no class with annotated fields"),
        ("a.py", "class A:\n    x: complex\n", "A.x: complex is no type of a field here"),
        ("a.py", "class A:\n    x: set[int]\n", "A.x: set[int] is no type of a field here"),
        ("a.py", "class A:\n    x: 'int |'\n", "'int |' is no type"),
        ("a.py", "class A:\n    x: int | list[str]\n", "x: it is a union of long and array"),
        (
            "a.py",
            "class A:\n    x: Decimal\n",
            "A.x: a class does not say how many digits a Decimal has",
        ),
        ("a.py", "class A:\n    x: 'A'\n", "x: A contains itself"),
        ("a.py", "class A(B):\n    x: int\nclass B(A):\n    y: int\n", "is nested too deeply"),
        ("a.py", "T = list[T]\nclass A:\n    x: T\n", "is nested too deeply"),
        ("a.json", '{"properties": {"a": {}}}', "a: None is no type of JSON Schema"),
        ("a.json", '{"properties": {"a": true}}', "a: a schema of any value is no type"),
        (
            "a.json",
            '{"properties": {"a": {"type": "array"}}}',
            "a: an array here has items of one schema",
        ),
        ("a.json", '{"properties": {"a": {"type": "object"}}}', "a: an object here has properties"),
        (
            "a.json",
            '{"properties": {"a": {"$ref": "b.json"}}}',
            "a: 'b.json' is in no part of this file",
        ),
        ("a.json", '{"properties": {"a": {"$ref": "#/x"}}}', "a: there is no '#/x' in this file"),
        (
            "a.json",
            '{"properties": {"a": {"type": ["string", "array"], "items": {"type": "string"}}}}',
            "a union of string and array",
        ),
        ("a.json", '{"properties": {"a": {"$ref": "#/properties/a"}}}', "a: there is no type"),
    ],
)
def test_what_records_do_not_have_is_refused_in_one_line(name, text, words, tmp_path):
    path = schema(tmp_path, name, text)
    with pytest.raises(InvalidDataError) as caught:
        read_schema(path)
    line = str(caught.value)
    assert line.startswith(f"{path}: ")
    assert words in line
    assert line.isprintable()
    assert len(line) - len(str(path)) < 300


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InvalidDataError, match="is a folder; give a file"):
        read_schema(tmp_path)
    with pytest.raises(InvalidDataError, match="is a schema of more than 1,048,576 bytes"):
        read_schema(schema(tmp_path, "a.py", "#" * 2**20 + "\n"))
    (tmp_path / "b.avsc").write_bytes(b"\xff")
    with pytest.raises(InvalidDataError, match="cannot be read as a schema: 'utf-8' codec"):
        read_schema(tmp_path / "b.avsc")


def test_names_suit_classes_and_differ():
    names: list[str] = []
    for key in ("a", "A", "a b", "a-b", "1", "", "class", "_id", "\u00e9t\u00e9", "\u4e2d", "__init__"):
        names.append(attribute_name(key, names))
    assert names == [
        *("a", "A_2", "a_b", "a_b_2", "field_1", "field", "class_", "id", "ete", "field_2", "init"),
    ]
    assert len(attribute_name("x" * 10_000, ())) == 60
    classes: list[str] = []
    for text in ("person", "com.x.Person", "home_address", "1", "None", ""):
        classes.append(class_name(text, classes))
    assert classes == ["Person", "Person2", "HomeAddress", "Record1", "RecordNone", "Record"]
