"""The schema of recommendations, with no field beyond those that it describes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import jsonschema

from tests.helpers import ROOT

SCHEMA = json.loads(
    (ROOT / "format_bench" / "recommendation" / "answer_schema.json").read_text(encoding="utf-8")
)


def _strict(rules: Any) -> Any:
    """Return a schema whose objects have no other fields than it names."""
    if isinstance(rules, list):
        return [_strict(each) for each in rules]
    if not isinstance(rules, dict):
        return rules
    found = {name: _strict(each) for name, each in rules.items()}
    is_object = isinstance(found.get("properties"), dict) and "additionalProperties" not in found
    return found | ({"unevaluatedProperties": False} if is_object else {})


def undocumented(answer: Any) -> Iterable[jsonschema.ValidationError]:
    """Return the errors of an answer, fields that the schema does not describe among them."""
    rules = _strict(SCHEMA)
    # It is a part of others, which add fields.
    rules["$defs"]["candidate"].pop("unevaluatedProperties")
    return jsonschema.Draft202012Validator(rules).iter_errors(answer)
