"""Fuzzing of users' records: JSON lines, and files with their type."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from data_generator.user.records import load_records
from data_generator.user.schema_files import read_schema
from tools.fuzz import text_damage
from tools.fuzz.damage import damage_bytes, damage_json
from tools.fuzz.reading import confined
from tools.fuzz.targets import Target

if TYPE_CHECKING:
    from tools.fuzz.canaries import Canaries

LINES = [
    {"id": 1, "name": "a", "score": 1.5, "tags": ["x"], "home": {"city": "c", "at": [[1.0, 2.0]]}},
    {"id": 2**62, "name": None, "score": 2, "active": True, "tags": []},
]

AVRO = {
    "type": "record",
    "name": "Person",
    "fields": [
        {"name": "id", "type": "long"},
        {
            "name": "price",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2},
        },
        {"name": "level", "type": ["null", {"type": "enum", "name": "Level", "symbols": ["A", "B"]}]},
        {"name": "links", "type": {"type": "map", "values": {"type": "array", "items": "Level"}}},
    ],
}
JSON_SCHEMA = {
    "properties": {
        "id": {"type": "integer"},
        "home": {"$ref": "#/$defs/Home"},
        "at": {"format": "date-time"},
    },
    "$defs": {"Home": {"properties": {"city": {"type": ["string", "null"]}}}},
}
JSON_SCHEMA["properties"]["at"]["type"] = "string"
PROTO = """syntax = "proto3";
package a.b;
message Person {
  int64 id = 1 [json_name = "id"];
  oneof x { string name = 2; Home home = 3; }
  map<string, double> links = 4;
  message Home { repeated string city = 1; }
}
"""
MODULE = """import os
from dataclasses import dataclass

@dataclass
class Home:
    city: list[str] | None

@dataclass
class Person:
    id: int = os.getpid()
    home: "Home | None" = None
"""
# Nested without end, or in ways that parsers do not expect.
_HARD = (
    "class A:\n    x: " + "(" * 5_000,
    "class A:\n    x: " + "-" * 50_000 + "1",
    "class A:\n    x: " + " | ".join(["int"] * 20_000),
    "class A:\n    x: " + "list[" * 90 + "int" + "]" * 90,
    "message A { " * 5_000,
    "message A { option x = " + "{" * 50_000,
    '{"properties":{"a":' * 3_000,
    json.dumps({"properties": {"a": {"$ref": "#/properties/a"}}}),
    json.dumps({"type": "record", "name": "A", "fields": [{"name": "a", "type": ["A", "null"]}]}),
    '{"type":' * 90_000,
)


def targets() -> Iterator[Target]:
    """Yield the readers of records and of their types."""
    yield Target(
        "records",
        {"t.jsonl": partial(_write, text="".join(f"{json.dumps(each)}\n" for each in LINES))},
        (damage_bytes, damage_json, text_damage.damage_json_text),
        _values,
        is_data=True,
        contained=partial(confined, as_records=True),
    )
    seeds = {
        "t.avsc": json.dumps(AVRO),
        "t.json": json.dumps(JSON_SCHEMA),
        "t.proto": PROTO,
        "t.py": MODULE,
    }
    yield Target(
        "record_types",
        {name: partial(_write, text=text) for name, text in seeds.items()},
        (damage_bytes, _damage_schema),
        _fields,
        is_data=True,
    )


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _damage_schema(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change values of JSON, or words of other texts, or replace all by something hard."""
    if draw.random() < 0.2:
        path.write_text(draw.choice(_HARD), encoding="utf-8")
    elif path.suffix in {".avsc", ".json"}:
        damage_json(path, draw, canaries)
    else:
        words = path.read_text(encoding="utf-8").split(" ")
        at, other = draw.randrange(len(words)), draw.randrange(len(words))
        words[at] = draw.choice((words[other], "", canaries.text(draw), f"{words[at]}[", "class", "A.b"))
        path.write_text(" ".join(words), encoding="utf-8")


def _values(path: Path) -> Any:
    records = load_records(path).records
    return records and list(map(records.of.plain, records.objects))


def _fields(path: Path) -> Any:
    return list(read_schema(path).of.features())
