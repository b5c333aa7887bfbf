"""Loading of a user's own records from JSON lines, typed by their values or by a schema."""

from __future__ import annotations

import math
import os
import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation, localcontext
from pathlib import Path
from typing import Any

from adapter_core import FieldKind, RecordSet, RecordType
from adapter_core.errors import InvalidDataError
from adapter_core.record_type import Field
from data_generator import location
from data_generator.catalog import record_names
from data_generator.dataset import UserData
from data_generator.readers import _text
from data_generator.readers._reader import ReadRequest
from data_generator.readers.json import RECORD_BYTES, Memory, decoder, errors_of_line, finite
from data_generator.spec.spec import DEFAULT_SEED
from data_generator.user import file_kind
from data_generator.user.inference import Observed
from data_generator.user.schema_files import Schema, read_schema

_KIND = "JSON lines"

_WANTED = "records are read from a file with one JSON object a line"

# Python's datetimes have no more digits of a second, and drop further ones.
_FINER = re.compile(r"[.,]\d{7}")


def load_records(
    path: str | os.PathLike[str],
    *,
    sample: int | None = None,
    seed: int = DEFAULT_SEED,
    schema: str | os.PathLike[str] | None = None,
) -> UserData:
    """Return the records in a file of JSON lines, one object a line.

    Parameters
    ----------
    path : path-like
        The file, UTF-8, possibly compressed by gzip, zstd or xz.
    sample : int, optional
        Number of records in a random sample without replacement, kept in their order; all if there are
        fewer.
    seed : int
        Seed of the sample.
    schema : path-like, optional
        File with the type of the records, see `data_generator.user.schema_files.read_schema`. Without
        one it follows from the values: whole numbers have 64 bits, fields that are null or missing
        somewhere are optional, and text stays text.

    Raises
    ------
    InvalidDataError
        If a line is not a JSON object, a value is not of the type of its field, the values of a field
        are of several types, or the schema cannot be used.
    ValueError
        If `sample` is not positive.
    """
    if sample is not None and sample < 1:
        raise ValueError(f"a sample cannot have {sample} records")
    found = location.find(path)
    if found.is_folder:
        raise InvalidDataError(found.path, "is a folder", _WANTED)
    if found.table:
        problem = "is read as JSON lines, which are one set of records"
        raise InvalidDataError(found.path, problem, f"leave out ::{found.table}")
    codec = file_kind.codec_of(found)
    request = ReadRequest(found.path, codec, None, sample, seed, trust_pickle=False)
    given = None if schema is None else read_schema(schema)
    with _text.guard(request, _KIND):
        # Twice: values of JSON, and objects.
        _text.check_unpacked(request, 2 * (2 + RECORD_BYTES), Memory().add)
        lines = _lines(request)
        values = _values(request.path, lines, finite if given is None else Decimal)
    remarks: list[str] = []
    if given is None:
        of, remarks = _inferred(request.path, values)
        objects = _objects(request.path, values, Schema(of), advice="declare the type by --schema")
    else:
        of = given.of
        _check_keys(request.path, values, of)
        objects = _objects(request.path, values, given, advice="")
    name = location.safe_name(Path(location.bare_name(found.path)).stem, record_names())
    return UserData(name, records=RecordSet.of_objects(of, objects), remarks=tuple(remarks))


def _lines(request: ReadRequest) -> dict[int, str]:
    """Return the lines with records, or a sample of them, by their numbers from 1 on."""
    with _text.opened(request) as text:
        filled = [number for number, line in enumerate(text, 1) if not line.isspace()]
    chosen = request.sampled_rows(len(filled))
    wanted = set(filled if chosen is None else [filled[place] for place in chosen.tolist()])
    with _text.opened(request) as text:
        return {number: line for number, line in enumerate(text, 1) if number in wanted}


def _values(
    path: Path, lines: dict[int, str], parse_float: Callable[[str], Any]
) -> dict[int, dict[str, Any]]:
    strict = decoder(parse_float, _no_constant)
    found = {}
    for number, line in lines.items():
        with errors_of_line(path, number, _WANTED):
            value = strict.decode(line)
        if not isinstance(value, dict):
            problem = f"line {number:,} is {_word(value)}, and no object"
            raise InvalidDataError(path, problem, _WANTED)
        found[number] = value
    if not found:
        raise InvalidDataError(path, "contains no records, so there is nothing to measure")
    return found


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is none of its numbers")


def _word(value: Any) -> str:
    names = {list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _inferred(path: Path, values: Mapping[int, dict[str, Any]]) -> tuple[RecordType, list[str]]:
    """Return the type of records that follows from all their values, and remarks on it."""
    seen = Observed("")
    try:
        for value in values.values():
            seen.add(value)
        return seen.record_type()
    except RecursionError as error:
        raise InvalidDataError(path, "is nested too deeply") from error
    except ValueError as error:
        raise InvalidDataError(path, str(error), "declare the type by --schema") from error


def _objects(
    path: Path, values: Mapping[int, dict[str, Any]], schema: Schema, *, advice: str
) -> list[Any]:
    """Return the objects of values.

    Raises
    ------
    InvalidDataError
        If a value is not of the type of its field.
    """
    read, found = _Reader(is_proto=schema.is_proto).record(schema.of), []
    for number, value in values.items():
        made = read(value)
        if problem := schema.of.problem(made):
            raise InvalidDataError(path, f"line {number:,}: {problem}", advice)
        found.append(made)
    return found


def _check_keys(path: Path, values: Mapping[int, dict[str, Any]], of: RecordType) -> None:
    """Raise `InvalidDataError` if an object has a key that the type lacks."""
    for number, value in values.items():
        if (key := _unknown_key(value, of)) is not None:
            raise InvalidDataError(path, f"line {number:,}: the schema has no field {key}")


def _unknown_key(value: Any, of: RecordType) -> str | None:
    """Return the path of a key that a schema lacks; None if it has all."""
    if not isinstance(value, dict):
        return None
    fields = {each.key or each.name: each for each in of.fields}
    for key, each in value.items():
        if key not in fields:
            return f"{key!a:.60}"
        for record, inner in _records_in(each, fields[key]):
            if (further := _unknown_key(inner, record)) is not None:
                return f"{further} in {key:.60}"
    return None


def _records_in(value: Any, of: Field) -> Iterator[tuple[RecordType, Any]]:
    """Yield the values of nested records with their types."""
    if of.record is not None:
        yield of.record, value
    elif of.element is not None and of.inner.record is not None:
        elements = value.values() if isinstance(value, dict) else value
        for each in elements if isinstance(value, (dict, list)) else ():
            yield from _records_in(each, of.element)


class _Reader:
    """Reader of values of JSON to values of objects; other values stay as they are."""

    def __init__(self, *, is_proto: bool) -> None:
        self._is_proto = is_proto

    def record(self, of: RecordType) -> Callable[[Any], Any]:
        """Return the function from a value of JSON to an object of a type."""
        made = of.object_class
        fields = [(each.key or each.name, self._absent(each), self.value(each)) for each in of.fields]

        def read(value: Any) -> Any:
            if type(value) is not dict:
                return value
            get = value.get
            return made(
                *[
                    get(key, absent) if convert is None else convert(get(key, absent))
                    for key, absent, convert in fields
                ]
            )

        return read

    def _absent(self, of: Field) -> Any:
        """Return the value of JSON that a missing key has."""
        if not self._is_proto or of.optional:
            return None
        return of.symbols[0] if of.symbols else "" if of.kind is FieldKind.BYTES else of.example

    def value(self, of: Field) -> Callable[[Any], Any] | None:
        """Return the function to the value of a field; None if all stay as they are."""
        if of.record is not None:
            return self.record(of.record)
        if of.enum is not None:
            symbols = of.enum.__members__
            return lambda value: symbols.get(value, value) if isinstance(value, str) else value
        if of.kind is FieldKind.DECIMAL:
            return _decimal_reader(of)
        if of.kind is FieldKind.INT64 and self._is_proto:
            return _whole
        if of.branches:
            return _union_reader(of)
        if of.element is None:
            return _READERS.get(of.kind)
        element = self.value(of.element)
        if element is None:
            return None
        if of.kind is FieldKind.MAP:
            return lambda value: (
                {key: element(each) for key, each in value.items()} if isinstance(value, dict) else value
            )
        return lambda value: [element(each) for each in value] if isinstance(value, list) else value


def _whole(value: Any) -> Any:
    """Return the whole number of its text, as Protobuf's JSON writes numbers of 64 bits."""
    is_text = isinstance(value, str) and re.fullmatch("-?[0-9]{1,20}", value) is not None
    return int(value) if is_text else value


def _double(value: Any) -> Any:
    """Return a number as a float, unless it has none of its value."""
    if isinstance(value, Decimal):
        found = float(value)
        return value if math.isinf(found) else found
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            found = float(value)
        except OverflowError:
            return value
        return found if int(found) == value else value
    return value


def _union_reader(of: Field) -> Callable[[Any], Any]:
    """Return the function that makes a float of a number that is no other branch of a union."""
    kinds = {each.kind for each in of.branches}
    numbers: tuple[type, ...] = (Decimal,) if kinds & _WHOLE else (Decimal, int)
    return lambda value: _double(value) if isinstance(value, numbers) and kinds & _FLOATS else value


_WHOLE, _FLOATS = {FieldKind.INT32, FieldKind.INT64}, {FieldKind.FLOAT, FieldKind.DOUBLE}


def _octets(value: Any) -> Any:
    """Return the bytes of base64."""
    try:
        return b64decode(value, validate=True) if isinstance(value, str) else value
    except ValueError:
        return value


def _timestamp(value: Any) -> Any:
    """Return the moment of a text in ISO 8601 with an offset from UTC, in UTC."""
    if not isinstance(value, str) or _FINER.search(value):
        return value
    try:
        found = datetime.fromisoformat(value)
        return found if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return value


def _decimal_reader(of: Field) -> Callable[[Any], Any]:
    """Return the function that gives a number, or its text, as many digits as the field has."""
    unit = Decimal(1).scaleb(-of.scale)

    def read(value: Any) -> Any:
        if not isinstance(value, (str, int, Decimal)) or isinstance(value, bool):
            return value
        try:
            given = Decimal(value)
            with localcontext() as context:
                context.prec = of.precision + 1
                found = given.quantize(unit)
        except (InvalidOperation, ValueError):
            return value
        if found != given:
            return given
        # No format here has a negative zero of a fixed number of digits.
        return found or abs(found)

    return read


_READERS: dict[FieldKind, Callable[[Any], Any]] = {
    FieldKind.FLOAT: _double,
    FieldKind.DOUBLE: _double,
    FieldKind.BYTES: _octets,
    FieldKind.TIMESTAMP: _timestamp,
}
