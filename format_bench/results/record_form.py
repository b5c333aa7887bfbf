"""Form of records: the rules of their fields, and a fast reader of lines that follows the same rules.

record_schema.json and the registered metrics are the rules, as JSON Schema for other programs too. The
reader's type is derived from them, so that the two cannot disagree. A line that the reader refuses is
checked against the schema once more, for a message that names the field. The order of an interval's ends
and the sum of the sizes of rounds are checked here, since JSON Schema cannot.
"""

from __future__ import annotations

import functools
import json
import re
import reprlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from adapter_core.errors import InvalidRecordError, NewerRecordError
from format_bench.results.metrics import METRICS
from format_bench.results.status import CellStatus

if TYPE_CHECKING:
    import jsonschema


SCHEMA = 4
"""Number of the form that is written. Every new or changed field raises it; 1 had no such field."""

# Axes that had fields of their own until form 2; they are among the conditions since.
_OWN_FIELDS = ("cache", "threads", "track", "medium")

# Fields with a number for each of the repeats, or none.
_BESIDE_REPEATS = ("cpu_repeats", "loop_repeats")

_FIXED_RULES = Path(__file__).with_name("record_schema.json")

_SURROGATE = re.compile("[\ud800-\udfff]")

_TYPES: dict[str, Any] = {"string": str, "integer": int, "number": int | float}


def decode(line: bytes) -> tuple[Any, ...]:
    """Return the fields of a line, in their order, with defaults for those that are missing.

    Raises
    ------
    InvalidRecordError
        If the line is not a record; the message is about the first thing that is wrong.
    NewerRecordError
        If it is a record of a newer form.
    """
    import msgspec

    try:
        if b'"conditions": ' in line:
            found = _decoder().decode(line)
        else:
            found = msgspec.convert(renewed(msgspec.json.decode(line)), _decoder().type)
    except (ValueError, RecursionError) as error:
        raise _reason(line) or InvalidRecordError(str(error)) from error
    fields: tuple[Any, ...] = msgspec.structs.astuple(found)
    if not _agrees(found):
        raise _reason(line) or InvalidRecordError("its fields contradict each other")
    return fields


def renewed(facts: Any) -> Any:
    """Return the facts of a record of form 1 or 2 in the present form; anything else as it is."""
    if not isinstance(facts, dict) or "conditions" in facts or facts.get("schema", 1) not in {1, 2}:
        return facts
    own = {name: facts[name] for name in _OWN_FIELDS if facts.get(name) not in {None, ""}}
    kept = {name: value for name, value in facts.items() if name not in _OWN_FIELDS}
    return {**kept, "conditions": own, "schema": SCHEMA} if len(kept) < len(facts) else facts


def validate(facts: Any) -> None:
    """Check facts against the schema of records.

    Parameters
    ----------
    facts : Any
        A line of results as `json.loads` returns it, or a record as `dataclasses.asdict` does.

    Raises
    ------
    InvalidRecordError
        If anything is wrong; the message is about the first thing.
    NewerRecordError
        If they are a record of a newer form.
    """
    facts = renewed(facts)
    form = facts.get("schema") if isinstance(facts, dict) else None
    if isinstance(form, int) and form > SCHEMA:
        raise NewerRecordError(
            f"its form of records is {form}, and this FormatBench reads forms up to {SCHEMA}; "
            "upgrade it: pip install --upgrade formatbench"
        )
    error = next(_validator().iter_errors(facts), None)
    if error is not None:
        raise InvalidRecordError(sentence_of(error))
    sizes = facts.get("round_sizes")
    if sizes and sum(sizes) != len(facts["repeats"]):
        raise InvalidRecordError(
            f"round_sizes is {sizes}, but must add up to the {len(facts['repeats'])} repeats"
        )
    for name in _BESIDE_REPEATS:
        if (found := len(facts.get(name, []))) not in {0, len(facts["repeats"])}:
            raise InvalidRecordError(
                f"{name} has {found} numbers, but must have one for each of the "
                f"{len(facts['repeats'])} repeats, or none"
            )
    interval = facts["interval"]
    if interval is not None and interval[0] > interval[1]:
        raise InvalidRecordError(f"interval is {interval}, but must have its lower end first")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of records, draft 2020-12: record_schema.json and the registered metrics.

    The descriptions of its rules end the sentence "it must be ...".
    """
    found: dict[str, Any] = json.loads(_FIXED_RULES.read_text(encoding="utf-8"))
    by_unit: dict[str, list[str]] = {}
    for metric in METRICS.values():
        by_unit.setdefault(metric.unit, []).append(metric.name)
    found["properties"]["unit"] |= {"enum": list(by_unit)}
    of_units = [
        {
            "if": {"properties": {"unit": {"const": unit}}},
            "then": {
                "properties": {"metric": {"enum": names, "description": f"a metric in {unit}, one of"}}
            },
        }
        for unit, names in by_unit.items()
    ]
    found["allOf"] = of_units + found["allOf"]
    return found


def _reason(line: bytes) -> InvalidRecordError | None:
    """Return why a line is not a record; None if the schema takes it."""
    try:
        validate(json.loads(line.decode()))
    except InvalidRecordError as error:
        return error
    except (ValueError, RecursionError) as error:
        return InvalidRecordError(str(error))
    return None


@functools.cache
def _decoder() -> Any:
    """Return the reader of lines, whose type has the rules of the schema on single fields."""
    import msgspec

    rules = schema()
    fields: list[Any] = []
    for name, rule in rules["properties"].items():
        of = CellStatus if name == "status" else _type_of(rule, rules["$defs"])
        if name in rules["required"]:
            fields.append((name, of))
        else:
            fields.append((name, of, msgspec.field(default_factory=functools.partial(_default, rule))))
    struct = msgspec.defstruct("RecordLine", fields, forbid_unknown_fields=True)
    return msgspec.json.Decoder(struct)


def _default(rule: dict[str, Any]) -> Any:
    if rule.get("type") == "array":
        return []
    return rule.get("default", "")


def _type_of(rule: dict[str, Any], shared: dict[str, Any]) -> Any:
    """Return the type of the values that a rule of the schema allows."""
    import msgspec

    if "$ref" in rule:
        rule = shared[rule["$ref"].rpartition("/")[2]]
    if "enum" in rule:
        return Literal[tuple(rule["enum"])]
    if "const" in rule:
        return Literal[rule["const"]]
    names = [rule["type"]] if isinstance(rule["type"], str) else rule["type"]
    bounds = {
        ours: rule[theirs]
        for theirs, ours in (
            ("minimum", "ge"), ("minLength", "min_length"),
            ("minItems", "min_length"), ("maxItems", "max_length"),
        )
        if theirs in rule
    }  # fmt: skip
    found: Any = None
    for name in names:
        if name == "null":
            continue
        if name == "array":
            of: Any = list[_type_of(rule["items"], shared)]  # type: ignore[misc]
        elif name == "object":
            of = dict[str, _type_of(rule["additionalProperties"], shared)]  # type: ignore[misc]
        else:
            of = _TYPES[name]
        if bounds and name == "number":
            found = Annotated[int, msgspec.Meta(**bounds)] | Annotated[float, msgspec.Meta(**bounds)]
        else:
            found = Annotated[of, msgspec.Meta(**bounds)] if bounds else of
    return found | None if "null" in names else found


def _agrees(found: Any) -> bool:
    """Return whether the fields agree with each other; each rule here is one of `validate`."""
    metric = METRICS.get(found.metric)
    sizes, interval, value, repeats = found.round_sizes, found.interval, found.value, found.repeats
    beside = found.cpu_repeats, found.loop_repeats
    numbers = [*repeats, *beside[0], *beside[1], *(interval or ()), 0 if value is None else value]
    return (
        metric is not None
        and metric.unit == found.unit
        and (value is not None) is (found.status is CellStatus.VALUE)
        and (value is not None or bool(found.sentence.strip()))
        and _are_allowed(*found.conditions.items())
        and (not sizes or sum(sizes) == len(repeats))
        and all(not each or len(each) == len(repeats) for each in beside)
        and (interval is None or -sys.float_info.max <= interval[0] <= interval[1])
        # JSON has integers that are greater than any float.
        and max(numbers) <= sys.float_info.max
    )


# Thousands of records share a few conditions; of hostile ones so many are kept.
@functools.lru_cache(maxsize=1_000)
def _are_allowed(*conditions: tuple[str, str]) -> bool:
    """Return whether the schema allows the values of axes, by name."""
    values = dict(conditions)
    return all(values.get(name, allowed[0]) in allowed for name, allowed in _named().items())


@functools.cache
def _named() -> dict[str, list[str]]:
    """Return the values that the schema allows, by name of an axis."""
    rules = schema()["properties"]["conditions"]["properties"]
    return {name: rule["enum"] for name, rule in rules.items()}


@functools.cache
def _validator() -> jsonschema.Draft202012Validator:
    return strict_validator(schema())


def strict_validator(rules: dict[str, Any]) -> jsonschema.Draft202012Validator:
    """Return a validator of JSON values, whose numbers are finite and whose texts are UTF-8."""
    import jsonschema

    checker = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"number": _is_number, "integer": _is_integer, "string": _is_text}
    )
    strict = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=checker)
    return strict(rules)


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


def sentence_of(error: jsonschema.ValidationError) -> str:
    """Return an error as a sentence; the schema's descriptions end it."""
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"the field {missing[0]} is missing"
    if error.validator == "additionalProperties":
        unknown = [name for name in error.instance if name not in error.schema["properties"]]
        where = error.json_path.removeprefix("$").removeprefix(".") or "a record"
        return f"{unknown[0]!r} is not a field of {where}"
    field = error.json_path.removeprefix("$").removeprefix(".") or "the record"
    allowed = ""
    if error.validator == "enum":
        allowed = f" {', '.join(json.dumps(choice) for choice in error.validator_value)}"
    return (
        f"{field} is {reprlib.repr(error.instance)}, but must be {error.schema['description']}{allowed}"
    )
