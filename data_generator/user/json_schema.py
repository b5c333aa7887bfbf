"""JSON Schemas of records as Avro schemas.

https://json-schema.org/draft/2020-12
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# The path of the record itself, in messages.
_ROOT = "the record"

_INT32 = range(-(2**31), 2**31)
_TIMESTAMP = {"type": "long", "logicalType": "timestamp-micros"}
_SYMBOL = re.compile("[A-Za-z][A-Za-z0-9_]*")


def is_json_schema(schema: Any) -> bool:
    """Return whether a value of JSON is a JSON Schema of objects, and no Avro schema."""
    return isinstance(schema, Mapping) and not schema.keys().isdisjoint(
        {"$schema", "properties", "$ref"}
    )


def avro_of_json_schema(schema: Mapping[str, Any]) -> Any:
    """Return the Avro schema of the objects that a JSON Schema describes.

    Properties that are not required may be null. Strings of the format `date-time` are times, those of
    the content encoding `base64` are bytes. Whole numbers have 64 bits unless their limits, or the
    format `int32`, show that 32 suffice.

    Raises
    ------
    ValueError
        If the schema has something that records here do not; the message names the property.
    """
    return _Reader(schema).type(_ROOT, schema, str(schema.get("title") or "Record"))


class _Reader:
    """Reader of one schema, which knows the definitions that have been met so far."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._met: set[str] = set()

    def type(self, path: str, schema: Any, name: str) -> Any:
        """Return the type of Avro for the values at a place."""
        if not isinstance(schema, Mapping):
            raise ValueError(f"{path}: a schema of any value is no type")  # noqa: TRY004 (of a file)
        if "$ref" in schema:
            return self.referred(path, schema["$ref"])
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return self.either(path, schema[key], name)
        if "enum" in schema or "const" in schema:
            return self.enum(path, schema.get("enum", [schema.get("const")]), name)
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return self.either(path, [{**schema, "type": each} for each in kinds], name)
        return self.single(path, kinds, schema, name)

    def single(self, path: str, kind: Any, schema: Mapping[str, Any], name: str) -> Any:
        """Return the type of Avro for values of one type."""
        if kind == "object" or (kind is None and "properties" in schema):
            return self.object(path, schema, name)
        if kind == "array":
            if "prefixItems" in schema or not isinstance(schema.get("items"), Mapping):
                raise ValueError(f"{path}: an array here has items of one schema")
            return {"type": "array", "items": self.type(f"{path}[]", schema["items"], name)}
        if kind == "string" and schema.get("format") == "date-time":
            return _TIMESTAMP
        if kind == "string":
            return "bytes" if schema.get("contentEncoding") == "base64" else "string"
        if kind == "integer":
            return "int" if _is_small(schema) else "long"
        found = {"number": "float" if schema.get("format") == "float" else "double"}
        found |= {"boolean": "boolean", "null": "null"}
        if kind not in found:
            raise ValueError(f"{path}: {kind!r:.60} is no type of JSON Schema")
        return found[kind]

    def object(self, path: str, schema: Mapping[str, Any], name: str) -> Any:
        """Return a record of properties, or a map if there are none."""
        properties, further = schema.get("properties"), schema.get("additionalProperties")
        if isinstance(properties, Mapping) and properties:
            required = schema.get("required", ())
            fields = []
            for key, each in properties.items():
                found = self.type(key if path == _ROOT else f"{path}.{key}", each, key)
                fields.append({"name": key, "type": found if key in required else _nullable(found)})
            return {"type": "record", "name": name, "fields": fields}
        if isinstance(further, Mapping):
            return {"type": "map", "values": self.type(f"{path}[]", further, name)}
        raise ValueError(f"{path}: an object here has properties, or a schema of additionalProperties")

    def either(self, path: str, branches: Any, name: str) -> Any:
        """Return the one type that is not null, which may be null if null is a branch."""
        if not isinstance(branches, list):
            raise ValueError(f"{path}: a list of schemas is missing")  # noqa: TRY004 (of a file)
        found = [self.type(path, each, name) for each in branches]
        others = [each for each in found if each != "null"]
        if len(others) == 1:
            return others[0] if len(found) == 1 else _nullable(others[0])
        return found  # a union, which is refused

    def enum(self, path: str, values: Any, name: str) -> Any:
        """Return an enum of names, or else the type of the values."""
        given = values if isinstance(values, list) else []
        others = [each for each in given if each is not None]
        if others and all(isinstance(each, str) for each in others):
            symbols = {"type": "enum", "name": name, "symbols": others}
            found: Any = symbols if all(map(_SYMBOL.fullmatch, others)) else "string"
        elif others and all(type(each) is int for each in others):
            found = "long"
        else:
            raise ValueError(f"{path}: values of an enum here are texts, or whole numbers")
        return found if len(others) == len(given) else _nullable(found)

    def referred(self, path: str, reference: Any) -> Any:
        """Return the type of a definition in the same file, or its name if it was met before."""
        if not isinstance(reference, str) or not reference.startswith("#/"):
            raise ValueError(f"{path}: {reference!r:.60} is in no part of this file")
        found, key = self._root, ""
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or key not in found:
                raise ValueError(f"{path}: there is no {reference!r:.60} in this file")
            found = found[key]
        # With a namespace of its own: names of properties may equal it.
        name = f"{re.sub('[^A-Za-z0-9]+', '_', reference)}.{key}"
        if name in self._met:
            return name
        self._met.add(name)
        made = self.type(path, found, name)
        if not isinstance(made, dict) or made.get("name") != name:
            # Only records and enums have names.
            self._met.discard(name)
        return made


def _nullable(found: Any) -> Any:
    if isinstance(found, list):
        return found if "null" in found else ["null", *found]
    return ["null", found]


def _is_small(schema: Mapping[str, Any]) -> bool:
    limits = schema.get("minimum"), schema.get("maximum")
    return schema.get("format") == "int32" or all(
        type(each) is int and each in _INT32 for each in limits
    )
