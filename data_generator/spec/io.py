"""Reading and writing of a `TableSpec` as JSON or TOML, without properties that have their defaults."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from adapter_core.errors import InvalidSpecError
from adapter_core.files import write_atomically
from data_generator.spec.spec import Alphabet, ColumnSpec, TableSpec
from data_generator.spec.validation import mistakes

ENDINGS = (".json", ".toml")


def read_spec(path: str | os.PathLike[str]) -> TableSpec:
    """Return the specification in a file whose name ends in ``.json`` or ``.toml``.

    Raises
    ------
    InvalidSpecError
        If the content is neither, or does not describe a table; one line for each mistake.
    FileNotFoundError
        If nothing is at `path`.
    """
    path = Path(path)
    is_toml = check_ending(path) == ".toml"
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text) if is_toml else json.loads(text)
    # Of text that is not UTF-8, of numbers of too many digits, and of too many brackets.
    except (ValueError, RecursionError) as error:
        raise InvalidSpecError(
            str(path), (f"is not {check_ending(path)[1:].upper()}: {error}",)
        ) from error
    if not isinstance(raw, dict):
        raise InvalidSpecError(str(path), ("is not a table of properties",))
    return from_dict(raw, str(path))


def write_spec(spec: TableSpec, path: str | os.PathLike[str]) -> None:
    """Write a specification to a JSON or TOML file, replacing an existing one atomically.

    Raises
    ------
    InvalidSpecError
        If the name of the file ends in neither ``.json`` nor ``.toml``.
    """
    path = Path(path)
    text = as_text(spec, check_ending(path))
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def as_text(spec: TableSpec, ending: str) -> str:
    """Return a specification as the text of a file whose name ends in ``.json`` or ``.toml``."""
    raw = to_dict(spec)
    if ending == ".json":
        return json.dumps(raw, indent=2) + "\n"
    import tomli_w

    return tomli_w.dumps(raw)


def from_dict(raw: Mapping[str, Any], place: str = "the specification") -> TableSpec:
    """Return the specification that a dictionary of plain values represents; see `read_spec`."""
    found = tuple(mistakes(raw))
    if found:
        raise InvalidSpecError(place, found)
    return TableSpec(**{**raw, "columns": tuple(map(_column, raw["columns"]))})


def to_dict(spec: Any) -> dict[str, Any]:
    """Return the properties of a specification, or a part of one, that differ from their defaults."""
    found = {}
    for field in fields(spec):
        value = getattr(spec, field.name)
        if field.default is MISSING or value != field.default:
            found[field.name] = _plain(value)
    return found


def checked(spec: TableSpec) -> TableSpec:
    """Return the specification itself.

    Raises
    ------
    InvalidSpecError
        If it does not describe a table; one line for each mistake.
    """
    found = tuple(mistakes(to_dict(spec)))
    if found:
        raise InvalidSpecError("the specification", found)
    return spec


def check_ending(path: Path) -> str:
    """Return the ending of a specification's file, ``.json`` or ``.toml``.

    Raises
    ------
    InvalidSpecError
        If the file has another ending.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InvalidSpecError(str(path), (f"a specification is a file *{' or *'.join(ENDINGS)}",))
    return ending


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return to_dict(value) if isinstance(value, ColumnSpec | Alphabet) else value


def _column(raw: Mapping[str, Any]) -> ColumnSpec:
    """Return the specification of a column whose properties have been validated."""
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()
    }
    if "alphabet" in raw:
        values["alphabet"] = Alphabet(**raw["alphabet"])
    if "items" in raw:
        values["items"] = _column({"name": "item", **raw["items"]})
    if "fields" in raw:
        values["fields"] = tuple(map(_column, raw["fields"]))
    return ColumnSpec(**values)
