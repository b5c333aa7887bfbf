"""Compiler of questions to tables, which makes queries of their fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import time
from typing import TYPE_CHECKING, Any

from adapter_core import Comparison, UnsupportedError
from adapter_core.errors import InvalidSelectionError
from adapter_core.predicate import TEXT
from adapter_core.query import (
    COUNT,
    GREATEST,
    LEAST,
    MEAN,
    SUM,
    Aggregate,
    Box,
    Contains,
    Join,
    Nearest,
    OneOf,
    Order,
    Query,
)
from format_bench.families.questions import ARRAYS
from format_bench.families.tables.subject import WHOLE, Subject, moment

if TYPE_CHECKING:
    from adapter_core.query import Condition
    from format_bench.families.questions import Question, Questions

_AGGREGATE = re.compile(rf"({COUNT})|({COUNT}|{SUM}|{LEAST}|{GREATEST}|{MEAN})\((.+)\)", re.DOTALL)


def asked(subject: Subject, questions: Questions) -> dict[str, Query | str]:
    """Return the query of each question to a data set, or the reason why it is not asked, by name.

    Raises
    ------
    InvalidQuestionsError
        If a question does not fit the columns.
    """
    found: dict[str, Query | str] = {}
    for name, question in questions.by_name.items():
        try:
            found[name] = query_of(question, subject)
        except UnsupportedError as error:
            found[name] = str(error)
    return found


def query_of(question: Question, subject: Subject) -> Query:
    """Return the query of a question to a data set.

    Raises
    ------
    UnsupportedError
        If the data set lacks a part that the question names, or its values allow no single answer.
    InvalidQuestionsError
        If the question does not fit the columns; the message names the file and the entry.
    """
    if question.kind == ARRAYS:
        raise question.refused("it asks an array, and the data are a table")
    try:
        return _Compiler(subject, question.fields).query()
    except (InvalidSelectionError, ValueError) as error:
        raise question.refused(error) from error


class _Compiler:
    """The fields of a question, made a query to one subject.

    Methods raise `ValueError` if the fields do not fit the subject.
    """

    def __init__(self, subject: Subject, fields: Mapping[str, Any]) -> None:
        self._subject, self._fields = subject, fields

    def query(self) -> Query:
        fields, subject = self._fields, self._subject
        if "descending" in fields and "order" not in fields:
            raise ValueError("descending needs an order")
        if "sql" in fields:
            if others := fields.keys() - {"sql"}:
                raise ValueError(f"a statement of SQL stands alone, without {min(others)}")
            return Query(statement=subject.filled(fields["sql"].strip()))
        join = self._join()
        columns, aggregates = self._columns(), self._aggregates()
        where = [each for one in fields.get("where", ()) for each in self._conditions(one)]
        positions = fields.get("positions", ())
        order = self._one("order") if "order" in fields else ""
        found = Query(
            columns=columns,
            where=where,
            positions=subject.positions(positions) if isinstance(positions, int) else sorted(positions),
            groups=[self._one("group")] if "group" in fields else (),
            aggregates=aggregates,
            order=Order(order, fields.get("descending", False)) if order else None,
            limit=fields.get("limit"),
            join=join,
            nearest=self._nearest(),
            box=self._box(),
            shape=fields.get("shape", False),
        )
        subject.check(found)
        return replace(
            found,
            types=subject.types(found.computed),
            compares_singles=any(map(subject.compares_singles, where)),
        )

    def _columns(self) -> list[str]:
        wanted = self._fields.get("columns", ())
        if wanted == WHOLE:
            return self._subject.names
        names = [self._resolved(each) for each in ([wanted] if isinstance(wanted, str) else wanted)]
        flat = [each for one in names for each in ([one] if isinstance(one, str) else one)]
        return list(dict.fromkeys(map(self._subject.column_or_field, flat)))

    def _aggregates(self) -> list[Aggregate]:
        found: dict[Aggregate, None] = {}
        for text in self._fields.get("aggregates", ()):
            match = _AGGREGATE.fullmatch(text)
            if not match:
                known = "count, count(COLUMN), sum(COLUMN), min(COLUMN), max(COLUMN) and avg(COLUMN)"
                raise ValueError(f"{text!r} is not an aggregate; known: {known}")
            _, function, name = match.groups()
            if not function or (function, name) == (COUNT, WHOLE):
                found[Aggregate(COUNT)] = None
            elif name == WHOLE:
                found |= {Aggregate(function, each): None for each in self._subject.numbers}
            else:
                found[Aggregate(function, self._resolved(name))] = None
        return list(found)

    def _join(self) -> Join | None:
        declared = self._fields.get("join")
        if declared is None:
            return None
        facts = self._subject.part(declared[1:]) if isinstance(declared, str) else declared
        try:
            return Join(**facts)
        except TypeError as error:
            raise ValueError("a join has table, column, key and columns") from error

    def _nearest(self) -> Nearest | None:
        declared = self._fields.get("nearest")
        if declared is None:
            return None
        if declared.keys() - {"candidates"} != {"column", "count", "vectors"}:
            raise ValueError("neighbours have column, count and vectors, and perhaps candidates")
        column = self._resolved(declared["column"])
        vectors, count = declared["vectors"], declared["count"]
        if count >= self._subject.rows:
            raise UnsupportedError(f"{self._subject.name} has no more than {count:,} rows")
        if self._subject.has_geometries(column):
            self._subject.middles(column)
            points = self._subject.points(column, vectors) if isinstance(vectors, int) else vectors
            if wrong := [each for each in points if len(each) != len("xy")]:
                raise ValueError(f"a point has two numbers, not {len(wrong[0])}")
            return Nearest(column, points, count, of_geometries=True)
        length = self._subject.vector_length(column)
        wanted = self._subject.vectors(column, vectors) if isinstance(vectors, int) else vectors
        if wrong := [each for each in wanted if len(each) != length]:
            raise ValueError(f"a vector has {len(wrong[0])} numbers, and those of {column!r} {length}")
        return Nearest(column, wanted, count, declared.get("candidates", 1))

    def _box(self) -> Box | None:
        declared = self._fields.get("box")
        if declared is None:
            return None
        column = self._resolved(declared["column"])
        if not self._subject.has_geometries(column):
            raise ValueError(f"column {column!r} contains no geometries")
        if "bounds" in declared:
            x0, y0, x1, y1 = map(float, declared["bounds"])
            return Box(column, (x0, y0, x1, y1))
        return Box(column, self._subject.bounds(column, declared["share"]))

    def _conditions(self, declared: Mapping[str, Any]) -> Iterator[Condition]:
        """Yield the conditions of an entry of `where`."""
        fields = dict(declared)
        if "column" not in fields:
            raise ValueError(f"a condition needs a column: {dict(declared)}")
        name, operator = fields.pop("column"), fields.pop("operator", None)
        if len(fields) != 1 or (operator is None) == bool(fields.keys() & {"value", "at"}):
            advice = (
                "write an operator with value or at; or share, between, one_of, keys or contains alone"
            )
            raise ValueError(f"a condition on {name!r} is not understood; {advice}")
        ((kind, value),) = fields.items()
        subject = self._subject
        if kind == "keys":
            rows = subject.positions(value)
            column = self._resolved(name)
            yield OneOf(column, subject.values_at(column, rows))
            return
        column = self._resolved(name)
        if operator is not None:
            constant = subject.value(column, value) if kind == "at" else value
            yield subject.fitted(Comparison(column, operator, constant))
        elif kind == "share":
            yield from subject.between(column, value)
        elif kind == "between":
            yield subject.fitted(Comparison(column, ">=", value[0]))
            yield subject.fitted(Comparison(column, "<=", moment(value[1], time.max)))
        elif kind == "contains":
            if subject.contents(column) != TEXT:
                raise ValueError(f"column {column!r} contains no texts")
            yield Contains(column, self._resolved(value))
        else:
            values = [subject.value(column, each) for each in value] if kind == "one_of_at" else value
            fitted = [subject.fitted(Comparison(column, "==", each)) for each in values]
            # Of a value that the column cannot hold, the comparison is another one, which is never true.
            held = dict.fromkeys(each.value for each in fitted if each.operator == "==")
            yield OneOf(column, list(held)) if held else fitted[0]

    def _one(self, field: str) -> str:
        found: str = self._resolved(self._fields[field])
        return found

    def _resolved(self, name: str) -> Any:
        """Return a column, by its name or its part, as in "$random"."""
        return self._subject.part(name[1:]) if name.startswith("$") else name
