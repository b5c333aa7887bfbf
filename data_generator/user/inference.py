"""Types of records by all their values of JSON."""

from __future__ import annotations

from typing import Any

from adapter_core import Field, FieldKind, RecordType
from adapter_core.record_schema import MOST_DEPTH, MOST_FIELDS, class_name, keyed
from adapter_core.text import listed

_NAMES_SHOWN = 5

_SCALARS = {bool: FieldKind.BOOL, int: FieldKind.INT64, float: FieldKind.DOUBLE, str: FieldKind.TEXT}
_WORDS = {bool: "booleans", int: "numbers", float: "numbers", str: "texts"}
_WORDS |= {dict: "objects", list: "arrays"}


class Observed:
    """Properties of the values at one place in all records.

    Parameters
    ----------
    path : str
        The place, e.g. `address.city` or `tags[]`.
    depth : int
        Number of places that it is within.
    """

    def __init__(self, path: str, depth: int = 0) -> None:
        self.path, self.depth = path, depth
        self.types: set[type] = set()
        self.count = 0
        """Number of values, nulls included."""
        self.has_null = False
        self.objects = 0
        self.fields: dict[str, Observed] = {}
        self.element: Observed | None = None

    def add(self, value: Any) -> None:
        """Take note of a value.

        Raises
        ------
        ValueError
            If the records have too many fields, or too many levels.
        """
        self.count += 1
        if value is None:
            self.has_null = True
            return
        kind = type(value)
        self.types.add(kind)
        if kind is dict:
            self.objects += 1
            for key, each in value.items():
                if key not in self.fields:
                    self.fields[key] = self._within(f"{self.path}.{key:.60}".removeprefix("."))
                    self._check_number(key)
                self.fields[key].add(each)
        elif kind is list:
            if self.element is None:
                self.element = self._within(f"{self.path}[]")
            for each in value:
                self.element.add(each)

    def _within(self, path: str) -> Observed:
        if self.depth >= MOST_DEPTH:
            raise ValueError(f"has more than {MOST_DEPTH} levels of objects and arrays")
        return Observed(path, self.depth + 1)

    def _check_number(self, key: str) -> None:
        if len(self.fields) > MOST_FIELDS:
            place = f" in the field {self.path}" if self.path else ""
            problem = f"has objects of more than {MOST_FIELDS:,} keys{place}, e.g. {key!a:.40}"
            raise ValueError(f"{problem}; keys that are data make a map")

    def record_type(self) -> tuple[RecordType, list[str]]:
        """Return the type of the records, and remarks on its changes and omissions.

        Raises
        ------
        ValueError
            If the values of a place have several types, or no field is left.
        """
        typed = _Typed()
        found = typed.record(self, "Record")
        if found is None:
            raise ValueError("contains objects without any value")
        return found, typed.remarks()


class _Typed:
    """The types of one set of records, and the remarks on them."""

    def __init__(self) -> None:
        self._classes = {"Block"}
        self._fields = 0
        self._missing: list[str] = []
        self._null: list[str] = []
        self._empty: list[str] = []
        self._left_out: list[str] = []
        self._mixed: list[str] = []
        self._union: list[str] = []
        self._renamed: list[str] = []

    def record(self, seen: Observed, name: str) -> RecordType | None:
        """Return the type of the objects at a place; None if they have no fields."""
        made = class_name(name, self._classes)
        self._classes.add(made)
        fields: list[Field] = []
        for key, each in seen.fields.items():
            found = self.field(each, is_missing=each.count < seen.objects)
            if found is None:
                self._left_out.append(each.path)
                continue
            self._fields += 1
            if self._fields > MOST_FIELDS:
                raise ValueError(f"has more than {MOST_FIELDS:,} fields")
            fields.append(keyed(found, key, len(fields) + 1, fields))
            if fields[-1].key:
                self._renamed.append(f"{key!a:.40} is {fields[-1].name}")
        return RecordType(made, tuple(fields)) if fields else None

    def field(self, seen: Observed, *, is_missing: bool = False) -> Field | None:
        """Return the field of a place, without its name; None if its objects have no fields."""
        if is_missing:
            self._missing.append(seen.path)
        optional = seen.has_null or is_missing
        words = sorted({_WORDS[each] for each in seen.types})
        if len(words) > 1 and seen.types <= _SCALARS.keys():
            self._union.append(seen.path)
            kinds = [_SCALARS[each] for each in _SCALARS if each in seen.types]
            branches = tuple(Field(str(each), each) for each in kinds)
            return Field("", FieldKind.UNION, optional=optional, branches=branches)
        if len(words) > 1:
            problem = f"has {' and '.join(words)} in the field {seen.path}"
            raise ValueError(f"{problem}; its values are of one type, or scalars")
        if dict in seen.types:
            record = self.record(seen, seen.path.rpartition(".")[2].removesuffix("[]") or "Record")
            if record is None:
                return None
            return Field("", FieldKind.RECORD, optional=optional, record=record)
        if list in seen.types:
            element = self.element(seen)
            return element and Field("", FieldKind.LIST, optional=optional, element=element)
        if not seen.types:
            self._null.append(seen.path)
            return Field("", FieldKind.TEXT, optional=True)
        if seen.types == {int, float}:
            self._mixed.append(seen.path)
        kind = FieldKind.DOUBLE if float in seen.types else _SCALARS[next(iter(seen.types))]
        return Field("", kind, optional=optional)

    def element(self, seen: Observed) -> Field | None:
        """Return the element of the lists at a place."""
        if seen.element is None or not seen.element.count:
            self._empty.append(seen.path)
            return Field("item", FieldKind.TEXT)
        found = self.field(seen.element)
        return found and keyed(found, "item", 1, ())

    def remarks(self) -> list[str]:
        """Return the remarks, as clauses."""
        clauses = {
            "missing fields count as null": self._missing,
            "fields that are always null count as text": self._null,
            "lists that are always empty count as lists of text": self._empty,
            "objects without a field are left out": self._left_out,
            "whole numbers become doubles where others have a fraction": self._mixed,
            "values of several types make a union": self._union,
            "names that classes cannot have are changed": self._renamed,
        }
        return [f"{clause}: {listed(paths, _NAMES_SHOWN)}" for clause, paths in clauses.items() if paths]
