"""Messages in a .proto file as Avro schemas.

https://protobuf.dev/reference/protobuf/proto3-spec/
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<token>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    r"""|[A-Za-z0-9_.+-]+|[{}\[\]()<>=;,:/])""",
    re.DOTALL,
)
_TIMESTAMP = {"type": "long", "logicalType": "timestamp-micros"}
_SCALARS = {
    "double": "double",
    "float": "float",
    **dict.fromkeys(("int32", "sint32", "sfixed32"), "int"),
    **dict.fromkeys(("int64", "sint64", "sfixed64", "uint32", "fixed32", "uint64", "fixed64"), "long"),
    "bool": "boolean",
    "string": "string",
    "bytes": "bytes",
}
# Of the package google.protobuf.
_WELL_KNOWN: dict[str, Any] = {
    "Timestamp": _TIMESTAMP,
    "DoubleValue": "double",
    "FloatValue": "float",
    "Int32Value": "int",
    **dict.fromkeys(("Int64Value", "UInt32Value", "UInt64Value"), "long"),
    "BoolValue": "boolean",
    "StringValue": "string",
    "BytesValue": "bytes",
}
_LABELS = {"optional", "repeated", "required"}
_OPENING, _CLOSING = {"{", "[", "(", "<"}, {"}", "]", ")", ">"}


@dataclass
class _Field:
    """Field of a message: its label, and the names of its type and of a map's keys."""

    name: str
    type: str
    label: str = ""
    key: str = ""


@dataclass
class _Scope:
    """Messages and enums of a file by their full names."""

    messages: dict[str, list[_Field]] = field(default_factory=dict)
    enums: dict[str, list[str]] = field(default_factory=dict)
    package: str = ""

    def resolved(self, name: str, within: str) -> str:
        """Return the full name of a type that a message refers to; empty if the file has none."""
        outer = "" if name.startswith(".") else within
        name = name.removeprefix(".").removeprefix(f"{self.package}." if self.package else "")
        while True:
            full = f"{outer}.{name}".removeprefix(".")
            if full in self.messages or full in self.enums:
                return full
            if not outer:
                return ""
            outer = outer.rpartition(".")[0]


def avro_of_proto(text: str, wanted: str | None = None) -> Any:
    """Return the Avro schema of a message of a .proto file.

    Fields of messages, those with `optional`, in a oneof or of a wrapper may be null.

    Parameters
    ----------
    text : str
        The file.
    wanted : str, optional
        Name of the message; by default the one that no other message uses.

    Raises
    ------
    ValueError
        If the text cannot be read, or the message has something that records here do not.
    """
    scope = _Parser(text).file()
    used = {
        scope.resolved(each.type, name) for name, fields in scope.messages.items() for each in fields
    }
    free = [name for name in scope.messages if name not in used]
    if wanted is not None:
        if wanted not in scope.messages:
            raise ValueError(f"it has no message {wanted}")
        free = [wanted]
    if len(free) != 1:
        several = f"several messages that no other uses: {', '.join(free[:5])}; name one by ::"
        raise ValueError(f"it has {several + free[0] if free else 'no message that no other uses'}")
    return _Writer(scope).message(free[0])


class _Parser:
    """Parser of the parts of a file that declare fields; all others are skipped."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = []
        position = 0
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                line = text.count("\n", 0, position) + 1
                raise ValueError(f"it is no .proto file: line {line:,} has {text[position]!a}")
            position = found.end()
            if found["token"] is not None:
                self._tokens.append(found["token"])
        self._tokens.reverse()
        self._scope = _Scope()

    def file(self) -> _Scope:
        while self._tokens:
            word = self._next()
            if word == "message":
                self._message("")
            elif word == "enum":
                self._enum("")
            elif word == "package":
                self._scope.package = self._next()
                self._next(";")
            elif word in {"syntax", "edition", "import", "option", "service", "extend"}:
                self._skip_statement()
            elif word != ";":
                raise ValueError(f"it is no .proto file: {word!a:.40} is out of place")
        return self._scope

    def _next(self, *expected: str) -> str:
        if not self._tokens:
            raise ValueError("it is no .proto file: it ends too early")
        found = self._tokens.pop()
        if expected and found not in expected:
            wanted = " or ".join(expected)
            raise ValueError(f"it is no .proto file: {wanted} is wanted in place of {found!a:.40}")
        return found

    def _skip_statement(self, depth: int = 0) -> None:
        """Skip to the end of a statement, a block of it included, from within so many brackets on."""
        while True:
            token = self._next()
            depth += (token in _OPENING) - (token in _CLOSING)
            if depth <= 0 and token in {";", "}"}:
                return

    def _message(self, within: str) -> None:
        name = f"{within}.{self._next()}".lstrip(".")
        fields = self._scope.messages.setdefault(name, [])
        self._next("{")
        self._body(name, fields, "")

    def _body(self, name: str, fields: list[_Field], label: str) -> None:
        """Read the fields of a message, or of a oneof, which may be absent."""
        while (word := self._next()) != "}":
            if word == "message" and not self._is_field():
                self._message(name)
            elif word == "enum" and not self._is_field():
                self._enum(name)
            elif word in {"reserved", "option", "extensions", "extend"}:
                self._skip_statement()
            elif word == "oneof":
                self._next()
                self._next("{")
                self._body(name, fields, "optional")
            elif word == "group":
                raise ValueError(f"{name}: groups are no fields here")
            elif word != ";":
                fields.append(self._field(word, label))

    def _is_field(self) -> bool:
        """Return whether the word before was a type: a name and a number follow."""
        return len(self._tokens) > 1 and self._tokens[-2] == "="

    def _field(self, word: str, label: str) -> _Field:
        key = ""
        if word in _LABELS:
            label, word = word, self._next()
        if word == "map":
            self._next("<")
            key = self._next()
            self._next(",")
            word = self._next()
            self._next(">")
        found = _Field(self._next(), word, label, key)
        self._next("=")
        self._next()
        if self._next("[", ";") == "[":
            self._skip_statement(1)
        return found

    def _enum(self, within: str) -> None:
        name = f"{within}.{self._next()}".lstrip(".")
        symbols = self._scope.enums.setdefault(name, [])
        self._next("{")
        while (word := self._next()) != "}":
            if word not in {"option", "reserved", ";"}:
                symbols.append(word)
            if word != ";":
                self._skip_statement()


class _Writer:
    """Writer of the schema of one message, which knows the types that have been met so far."""

    def __init__(self, scope: _Scope) -> None:
        self._scope = scope
        self._met: set[str] = set()

    def message(self, name: str) -> Any:
        if name in self._met:
            return name
        self._met.add(name)
        given = self._scope.messages[name]
        fields = [{"name": each.name, "type": self._field(each, name)} for each in given]
        return {"type": "record", "name": name, "fields": fields}

    def _field(self, of: _Field, within: str) -> Any:
        path = f"{within}.{of.name}"
        found, may_be_null = self._type(of.type, within, path)
        if of.key:
            if of.key != "string":
                raise ValueError(f"{path}: keys of a map here are strings, not {of.key:.40}")
            return {"type": "map", "values": found}
        if of.label == "repeated":
            return {"type": "array", "items": found}
        may_be_null = (may_be_null or of.label == "optional") and of.label != "required"
        return ["null", found] if may_be_null else found

    def _type(self, name: str, within: str, path: str) -> tuple[Any, bool]:
        """Return the type of Avro, and whether a field of it is null if it is absent."""
        if name in _SCALARS:
            return _SCALARS[name], False
        package, _, short = name.lstrip(".").rpartition(".")
        if package == "google.protobuf" and short in _WELL_KNOWN:
            return _WELL_KNOWN[short], True
        full = self._scope.resolved(name, within)
        if full in self._scope.messages:
            return self.message(full), True
        if full not in self._scope.enums:
            raise ValueError(f"{path}: this file has no type {name:.60}")
        if full in self._met:
            return full, False
        self._met.add(full)
        return {"type": "enum", "name": full, "symbols": self._scope.enums[full]}, False
