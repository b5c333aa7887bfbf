"""Whether facts are a record: record_schema.json says what each field must be, this says what is wrong.

The schema holds for any reader of the file. Only the order of an interval is beyond it.
"""

from __future__ import annotations

import functools
import json
import re
import reprlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import FormatBenchError

if TYPE_CHECKING:
    import jsonschema

SCHEMA = Path(__file__).with_name("record_schema.json")
"""A JSON Schema, draft 2020-12; the descriptions of its rules end the sentence "it must be ..."."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class BadRecord(FormatBenchError, ValueError):
    """Facts that are not a record; the message names the field."""


def validate(facts: Any) -> None:
    """Check facts against the schema of records.

    Parameters
    ----------
    facts : Any
        What `json.loads` gives for a line of results, or `dataclasses.asdict` for a record.

    Raises
    ------
    BadRecord
        If anything is wrong; the message is about the first thing.
    """
    error = next(_validator().iter_errors(facts), None)
    if error is not None:
        raise BadRecord(_sentence(error))
    interval = facts["interval"]
    if interval is not None and interval[0] > interval[1]:
        raise BadRecord(f"interval is {interval}, but must have its lower end first")


@functools.cache
def _validator() -> jsonschema.Draft202012Validator:
    import jsonschema

    checker = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"number": _is_number, "integer": _is_integer, "string": _is_text}
    )
    strict = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=checker)
    return strict(json.loads(SCHEMA.read_text(encoding="utf-8")))


# jsonschema takes NaN and infinities for numbers, which JSON does not have.
def _is_number(_: Any, value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and -sys.float_info.max <= value <= sys.float_info.max


# jsonschema takes 1.0 for an integer, which would come back as a float.
def _is_integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# A lone surrogate, as in an undecodable file name, is in no UTF-8 file.
def _is_text(_: Any, value: Any) -> bool:
    return isinstance(value, str) and not _SURROGATE.search(value)


def _sentence(error: jsonschema.ValidationError) -> str:
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"the field {missing[0]} is missing"
    if error.validator == "additionalProperties":
        unknown = [name for name in error.instance if name not in error.schema["properties"]]
        return f"{unknown[0]!r} is not a field of a record"
    field = error.json_path.removeprefix("$").removeprefix(".") or "the record"
    allowed = ""
    if error.validator == "enum":
        allowed = f" {', '.join(json.dumps(choice) for choice in error.validator_value)}"
    return (
        f"{field} is {reprlib.repr(error.instance)}, but must be {error.schema['description']}{allowed}"
    )
