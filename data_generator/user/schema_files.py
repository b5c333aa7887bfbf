"""Files with the type of a user's records."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapter_core import RecordType
from adapter_core.errors import InvalidDataError
from adapter_core.record_schema import type_of
from data_generator import location
from data_generator.errors import library_errors
from data_generator.user.json_schema import avro_of_json_schema, is_json_schema
from data_generator.user.proto_file import avro_of_proto
from data_generator.user.python_types import avro_of_module

# A person writes a schema, or a program that a person wrote.
MOST_BYTES = 2**20


@dataclass(frozen=True)
class Schema:
    """Type of records, and how JSON has values of it."""

    of: RecordType
    is_proto: bool = False
    """Missing fields are zero, and whole numbers of 64 bits may be texts, as in the JSON of Protobuf."""


def read_schema(path: str | os.PathLike[str]) -> Schema:
    """Return the type of records that a file describes; nothing in the file is run.

    Parameters
    ----------
    path : path-like
        An Avro schema or a JSON Schema (.avsc, .json), messages (.proto), or classes with annotations,
        such as dataclasses (.py); ``types.py::Person`` names one of several classes or messages.

    Raises
    ------
    InvalidDataError
        If it is none of these, or has types that records here do not have.
    """
    found = location.find(path)
    place, ending = found.path, found.path.suffix.lower()
    if found.is_folder:
        raise InvalidDataError(place, "is a folder", "give a file, e.g. person.avsc")
    if place.stat().st_size > MOST_BYTES:
        raise InvalidDataError(place, f"is a schema of more than {MOST_BYTES:,} bytes")
    with library_errors(place, "a schema"):
        text = place.read_text(encoding="utf-8-sig")
    try:
        if ending == ".proto":
            return Schema(type_of(avro_of_proto(text, found.table)), is_proto=True)
        if ending == ".py":
            return Schema(type_of(avro_of_module(text, found.table)))
        return Schema(type_of(_json(place, text)))
    except RecursionError as error:
        raise InvalidDataError(place, "is nested too deeply") from error
    except ValueError as error:
        raise InvalidDataError(place, f"cannot be used: {error}") from error


def _json(path: Path, text: str) -> Any:
    """Return the Avro schema of a file of JSON."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        advice = "known are schemas of Avro and JSON (.avsc, .json), .proto and .py"
        problem = f"is no schema: {error.msg} (line {error.lineno:,})"
        raise InvalidDataError(path, problem, advice) from error
    return avro_of_json_schema(found) if is_json_schema(found) else found
