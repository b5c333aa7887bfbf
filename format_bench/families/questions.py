"""Questions to data: entries of TOML files, the project's own and a user's, checked as they are read.

An entry asks a table (columns, conditions, groups, aggregates, order, join, SQL) or an array (bounds of
coordinates, extents along dimensions). docs/questions.md has the fields.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

from adapter_core.errors import InvalidQuestionsError, InvalidRequestError
from format_bench.results.suites import FAMILIES, Family

FOLDER = "questions"
"""Folder of a family's own files of questions, within its package."""

TABLES, ARRAYS = "tables", "arrays"
"""Kinds of data that can be asked."""

MEANS = ("arithmetic", "geometric")
"""Means of the times of a mix."""

# Times shall decide: with these, a file of twice the size counts like 1.4 % more time, and a save of
# twice the time like 0.7 % (docs/planning.md).
WEIGHED = {"save": 0.01, "size": 0.02}
"""Powers of a table's save time and size that a mix multiplies its times by."""


@dataclass(frozen=True)
class Question:
    """A question that can be asked to several data sets."""

    name: str
    """Name in results, e.g. "point"."""
    words: str
    """The question in words."""
    fields: Mapping[str, Any]
    """The question as declared, with the bounds of named areas."""
    heading: str = ""
    """Words that neighbouring questions share in tables; empty if it is alone."""
    file: str = ""
    """The file that declares it, for messages."""
    weight: float = 1.0
    """How often it is asked in a mix."""

    def __str__(self) -> str:
        """Return the question in words."""
        return self.words

    @property
    def kind(self) -> str:
        """`TABLES` or `ARRAYS`, the data that it asks."""
        return ARRAYS if self.fields.keys() & _ARRAY_FIELDS.keys() else TABLES

    @property
    def fingerprint(self) -> str:
        """Digest of the question, whatever its words."""
        return digest(self.fields)

    def refused(self, problem: object) -> InvalidQuestionsError:
        """Return an error that names the file and the entry."""
        return InvalidQuestionsError(f"{self.file}: question {self.name!r}: {problem}")


@dataclass(frozen=True)
class Questions:
    """The questions of some files."""

    sources: tuple[tuple[str, str], ...]
    """Names and texts of the files."""
    names: tuple[str, ...] = ()
    """Names of the questions that count; all if empty."""

    @property
    def file(self) -> str:
        """The files in words."""
        return ", ".join(name for name, _ in self.sources)

    def to(self, dataset: str = "") -> Questions:
        """Return the questions to a data set: of the files that name it, else of those that name none.

        Parameters
        ----------
        dataset : str
            Its name; empty for one that no file names.
        """
        named = [each for each in self.sources if dataset in _read(*each).datasets]
        return replace(self, sources=tuple(named or self._general()))

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets that files name."""
        return sorted(name for each in self.sources for name in _read(*each).datasets)

    def _general(self) -> list[tuple[str, str]]:
        return [each for each in self.sources if not _read(*each).datasets]

    @property
    def by_name(self) -> Mapping[str, Question]:
        """The questions by name, in order.

        Raises
        ------
        InvalidQuestionsError
            If a file is wrong, or two questions have one name.
        """
        found = _read_all(self.sources)[0]
        return {name: found[name] for name in self.names} if self.names else found

    @property
    def tuned(self) -> Mapping[str, Mapping[str, list[str]]]:
        """Sort keys and lookup columns of tables in tuned files, as `sort_by` and `lookups`."""
        return _read_all(self.sources)[1]

    @property
    def constants(self) -> Mapping[str, str]:
        """Statements of SQL by the placeholders whose values they compute, as ``{many}`` in others."""
        return _read_all(self.sources)[2]

    @property
    def keep_open(self) -> bool:
        """True if a file is opened once for many cold answers: their times are without opening."""
        return any(_read(*each).keep_open for each in self.sources)

    @property
    def times_opening(self) -> bool:
        """True if the times and the memory of warm answers include opening the file."""
        return any(_read(*each).times_opening for each in self.sources)

    def fact(self, name: str, default: Any) -> Any:
        """Return a file's own entry, e.g. `mean` of a mix."""
        found = [facts[name] for each in self.sources if name in (facts := _toml(*each))]
        return found[0] if found else default

    def only(self, *names: str) -> Questions:
        """Return some of the questions."""
        return replace(self, names=names)

    @classmethod
    def of(cls, path: Path) -> Questions:
        """Return the questions of a user's file.

        Raises
        ------
        InvalidQuestionsError
            If it cannot be read, or is wrong; the message names the file, the entry, and what to do.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidQuestionsError(f"{path}: {error.strerror or error}") from error
        except ValueError as error:
            raise InvalidQuestionsError(f"{path}: is not UTF-8 text") from error
        found = cls(((str(path), text),))
        if not found.by_name:
            raise InvalidQuestionsError(
                f"{path}: contains no question; write each below a line [[question]]"
            )
        return found


@cache
def declared(family: str) -> Questions:
    """Return the questions that a family declares in its folder `questions`, file by file."""
    files = Path(__file__).parent.joinpath(family, FOLDER).glob("*.toml")
    texts = [(path.name, path.read_text(encoding="utf-8")) for path in sorted(files)]
    return Questions(tuple(texts))


def asking(kind: str) -> Family:
    """Return the family that asks questions to users' data of a family.

    Raises
    ------
    InvalidRequestError
        If there is none.
    """
    for each in FAMILIES.values():
        if each.asks == kind:
            return each
    raise InvalidRequestError(f"--queries: nothing asks {FAMILIES[kind].user_data} questions")


def asks_table(entry: object) -> bool:
    """Return whether an entry has fields of questions to tables."""
    return isinstance(entry, dict) and bool(entry.keys() & _TABLE_FIELDS.keys())


def digest(value: object) -> str:
    """Return a digest of values of TOML."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class _File:
    """A file of questions, read."""

    questions: tuple[Question, ...]
    tuned: Mapping[str, Mapping[str, list[str]]]
    constants: Mapping[str, str]
    datasets: frozenset[str]
    keep_open: bool
    times_opening: bool


@cache
def _read(file: str, text: str) -> _File:
    facts = _toml(file, text)
    return _File(
        tuple(read_entries(file, facts)),
        facts.get("tuned", {}),
        facts.get("constants", {}),
        frozenset(facts.get("datasets", ())),
        facts.get("keep_open", False),
        facts.get("times_opening", False),
    )


_Found = tuple[Mapping[str, Question], Mapping[str, Mapping[str, list[str]]], Mapping[str, str]]


@cache
def _read_all(sources: tuple[tuple[str, str], ...]) -> _Found:
    questions: dict[str, Question] = {}
    tuned: dict[str, Mapping[str, list[str]]] = {}
    constants: dict[str, str] = {}
    for found in (_read(*each) for each in sources):
        for each in found.questions:
            if each.name in questions:
                raise each.refused("another one has this name; rename one of them")
            questions[each.name] = each
        tuned |= found.tuned
        constants |= found.constants
    return questions, tuned, constants


def _toml(file: str, text: str) -> dict[str, Any]:
    try:
        facts = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidQuestionsError(f"{file}: is not TOML: {error}") from error
    _check_fields(facts, _FILE_FIELDS, lambda problem: InvalidQuestionsError(f"{file}: {problem}"))
    for table, keys in facts.get("tuned", {}).items():
        if not _is_table(keys) or keys.keys() != {"sort_by", "lookups"}:
            advice = 'write sort_by = ["COLUMN"] and lookups = ["COLUMN"]'
            raise InvalidQuestionsError(f"{file}: [tuned.{table}]: {advice}")
        _check_fields(
            keys, _TUNED_FIELDS, lambda each: InvalidQuestionsError(f"{file}: [tuned]: {each}")
        )
    return facts


def read_entries(file: str, facts: Mapping[str, Any], first: int = 1) -> Iterator[Question]:
    """Yield the questions of a file from its values of TOML, whose entries are counted from `first` on.

    Raises
    ------
    InvalidQuestionsError
        If an entry is wrong.
    """
    areas = facts.get("areas", {})
    for number, entry in enumerate(facts.get("question", []), start=first):
        name = entry.get("name")
        if not isinstance(name, str) or not name.isprintable() or not name.strip():
            raise InvalidQuestionsError(
                f'{file}: question {number}: it needs a name, as in name = "all"'
            )
        fields = {each: value for each, value in entry.items() if each not in _WORDS}
        found = Question(name, str(entry.get("words", "")), fields, str(entry.get("heading", "")), file)
        _check_fields(entry, _WORDS | _TABLE_FIELDS | _ARRAY_FIELDS, found.refused)
        found = replace(found, weight=float(entry.get("weight", 1)))
        if not fields:
            raise found.refused("it asks nothing; write columns, aggregates, sql or an area")
        both = fields.keys() & _ARRAY_FIELDS.keys(), fields.keys() & _TABLE_FIELDS.keys()
        if all(both):
            one, other = (min(each) for each in both)
            raise found.refused(f"{one!r} asks an array and {other!r} a table; make two questions")
        for condition in fields.get("where", []):
            _check_fields(condition, _CONDITION_FIELDS, found.refused)
        yield _with_areas(found, areas)


def _with_areas(found: Question, areas: Mapping[str, Any]) -> Question:
    """Return a question with the bounds of its areas, which it may name, and with words."""
    fields = dict(found.fields)
    if "area" in fields:
        bounds: dict[str, Any] = {}
        for each in fields["area"] if isinstance(fields["area"], list) else [fields["area"]]:
            if isinstance(each, str) and each not in areas:
                raise found.refused(f"there is no area {each!r}; declare it below [areas]")
            bounds |= areas[each] if isinstance(each, str) else each
        for dim, pair in bounds.items():
            if not _is_pair(pair) and not _are_moments(pair):
                advice = (
                    "write two numbers, as in [47, 55], or two dates, as in [2020-01-01, 2020-03-31]"
                )
                raise found.refused(f"bounds of {dim} are {pair!r}; {advice}")
        fields["area"] = bounds
    words = found.words or _described(found.fields)
    return replace(found, words=words, fields=fields)


def _described(fields: Mapping[str, Any]) -> str:
    """Return the fields of a question without words, on one line."""
    text = "; ".join(f"{name} {json.dumps(value, default=str)}" for name, value in fields.items())
    return " ".join(text.replace('"', "").split())[:_DESCRIBED]


# Most characters of a question without words: a line of a terminal.
_DESCRIBED = 80

# A test of a value, and the text in its place.
_Check = tuple[Callable[[Any], bool], str]


def _check_fields(
    entry: Mapping[str, Any], known: Mapping[str, _Check], refused: Callable[[str], Exception]
) -> None:
    """Raise an error if an entry has an unknown field, or one of another form."""
    for name, value in entry.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            advice = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise refused(f"unknown field {name!r}; {advice}")
        is_right, advice = known[name]
        if not is_right(value):
            raise refused(f"{name} is {value!r}; write {advice}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    # Neither NaN, nor an integer that no float can be.
    return _is_number(value) and abs(value) <= sys.float_info.max


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == len(("least", "largest"))
        and all(map(_is_number, value))
    )


def _are_moments(value: Any) -> bool:
    return isinstance(value, list) and list(map(type, value)) in (_DATES, _TIMES)


def _is_nearest(value: Any) -> bool:
    vectors = value.get("vectors") if _is_table(value) else None
    return (
        (_is_count(vectors) or _list_of(_list_of(_is_finite))(vectors))
        and _is_text(value.get("column"))
        and all(_is_count(value.get(name, 1)) for name in ("count", "candidates"))
    )


def _is_box(value: Any) -> bool:
    if not _is_table(value) or value.keys() not in ({"column", "share"}, {"column", "bounds"}):
        return False
    return (
        _is_text(value["column"])
        and _is_share(value.get("share", 1))
        and _are_bounds(value.get("bounds", [0, 0, 0, 0]))
    )


def _are_bounds(value: Any) -> bool:
    if not _list_of(_is_finite)(value) or len(value) != len(("least x", "y", "greatest x", "y")):
        return False
    return bool(value[0] <= value[2] and value[1] <= value[3])


_DATES, _TIMES = [date, date], [datetime, datetime]
"""Types of the two bounds of coordinates in time."""


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 < value <= 1


def _is_place(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_constant(value: Any) -> bool:
    return isinstance(value, str | int | float | bool | date)


def _list_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(map(is_right, value))


def _either(*tests: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: any(test(value) for test in tests)


_NAMES: _Check = (_either(_is_text, _list_of(_is_text)), '["one", "two"], or "*" for all')
_COLUMN: _Check = (_is_text, "the name of a column")
_CONSTANT: _Check = (_is_constant, "a number, a text, true, false, a date or a time")

_WORDS: dict[str, _Check] = {
    "name": (_is_text, "a text"),
    "words": (_is_text, "a text"),
    "heading": (_is_text, "a text"),
    "weight": (lambda value: _is_number(value) and 0 < value < math.inf, "a number above 0"),
}
_TABLE_FIELDS: dict[str, _Check] = {
    "columns": _NAMES,
    "where": (_list_of(_is_table), '[{ column = "price", operator = "<", value = 3 }]'),
    "positions": (
        _either(_is_count, _list_of(lambda value: _is_count(value) or value == 0)),
        "numbers of rows as in [0, 7], or a number of random rows",
    ),
    "group": _COLUMN,
    "aggregates": (_list_of(_is_text), '"count" and functions as in ["count", "sum(price)"]'),
    "order": _COLUMN,
    "descending": (_is_bool, "true or false"),
    "limit": (_is_count, "a number of rows"),
    "join": (
        _either(_is_text, _is_table),
        '{ table = "shops", column = "shop", key = "number", columns = ["town"] }',
    ),
    "nearest": (_is_nearest, '{ column = "embedding", count = 10, vectors = 20 }'),
    "box": (
        _is_box,
        '{ column = "geometry", share = 0.001 }, or bounds = [0, 0, 3, 2], least first, for a share',
    ),
    "shape": (lambda value: value is True, "true, or leave it out"),
    "sql": (_is_text, "a statement on the table data"),
}
_CONDITION_FIELDS: dict[str, _Check] = {
    "column": _COLUMN,
    "operator": (_is_text, "one of == != < <= > >="),
    "value": _CONSTANT,
    "at": (_is_place, "a place among the rows, from 0 to 1"),
    "one_of": (_list_of(_is_constant), "a list of values"),
    "one_of_at": (_list_of(_is_place), "a list of places among the rows, from 0 to 1"),
    "keys": (_is_count, "a number of random rows"),
    "contains": (_is_text, "a text of letters and digits"),
    "share": (_is_share, "a share of the rows, above 0 and at most 1"),
    "between": (
        _either(_is_pair, _are_moments),
        "two numbers, or two dates or times, the least and the largest",
    ),
}
_ARRAY_FIELDS: dict[str, _Check] = {
    "variable": (_is_text, "the name of a variable"),
    "area": (
        _either(_is_text, _is_table, _list_of(_either(_is_text, _is_table))),
        "bounds of coordinates as in { latitude = [47, 55] }, or the name of an area",
    ),
    "first": (
        lambda value: _is_table(value) and bool(value) and all(map(_is_count, value.values())),
        "a number of indexes as in { time = 24 }",
    ),
    # The array decides whether a value fits.
    "extent": (_is_table, 'a number of indexes, a share or "all", as in { time = 24, place = 0.1 }'),
    "start": (
        lambda value: _is_table(value) and all(_is_count(each) or each == 0 for each in value.values()),
        "first indexes of extents, as in { time = 0 }",
    ),
}
_TUNED_FIELDS: dict[str, _Check] = {
    name: (lambda value: isinstance(value, list) and all(map(_is_text, value)), "a list of columns")
    for name in ("sort_by", "lookups")
}
_FILE_FIELDS: dict[str, _Check] = {
    "datasets": (_list_of(_is_text), "the names of the data sets that are asked nothing else"),
    "constants": (
        lambda value: _is_table(value) and all(map(_is_text, value.values())),
        'statements by placeholder, as in many = "SELECT count(*) FROM data"',
    ),
    "keep_open": (_is_bool, "true or false"),
    "mean": (lambda value: value in MEANS, " or ".join(f'"{each}"' for each in MEANS)),
    "weigh": (
        lambda value: (
            _is_table(value)
            and value.keys() <= WEIGHED.keys()
            and all(_is_number(each) and 0 <= each <= 1 for each in value.values())
        ),
        "shares from 0 to 1 as in { save = 0.01, size = 0.02 }",
    ),
    "times_opening": (_is_bool, "true or false"),
    "tuned": (_is_table, '[tuned.data] with sort_by = ["COLUMN"] and lookups = ["COLUMN"]'),
    "areas": (
        lambda value: _is_table(value) and all(map(_is_table, value.values())),
        "bounds by name, as in Germany = { latitude = [47.25, 55.0] }",
    ),
    "question": (
        lambda value: isinstance(value, list) and all(map(_is_table, value)),
        "each question below a line [[question]]",
    ),
}
