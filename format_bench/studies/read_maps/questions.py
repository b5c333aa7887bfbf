"""Questions to saved data, each asked by the adapter's own way to read a part."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from adapter_core import ImageReader, UnsupportedError
from adapter_core.array_reader import ArrayReader
from adapter_core.errors import InvalidSelectionError, UnknownNameError
from adapter_core.predicate import Comparison, Predicate, Value
from format_bench.families.arrays.access import touched
from format_bench.families.cases import Case
from format_bench.instruments.touch import touch
from format_bench.results.display.text import joined
from format_bench.runner.steps import operations_on

# Rows at the start of a table. Chosen, not measured.
FIRST_ROWS = 1_000

# Images of a batch. As in the metric `batch read time per image`.
BATCH = 32


class Question(StrEnum):
    """Names of the questions."""

    WHOLE = "whole"
    COLUMNS = "columns"
    FIRST = "first rows"
    FILTER = "filter"
    IMAGE = "image"
    BATCH = "batch"
    PLANE = "plane"
    SERIES = "series"


@dataclass(frozen=True)
class Asked:
    """A question to the data of a family."""

    family: str
    question: Question
    columns: tuple[str, ...] = ()
    """Columns of a table that are asked for; all if empty."""
    where: Predicate | None = None
    """Condition for the rows of a table."""

    @property
    def phrase(self) -> str:
        """The question as a phrase, e.g. "the columns H1_PX and H1_isMuon"."""
        noun = "column" if len(self.columns) == 1 else "columns"
        columns = f"the {noun} {joined(self.columns, most=None)}"
        if self.where:
            tests = " and ".join(
                f"{each.column} {each.operator} {each.value!r}" for each in self.where.comparisons
            )
            return f"{columns} of the rows with {tests}"
        return columns if self.columns else _PHRASES[self.question]


_PHRASES = {
    Question.WHOLE: "everything",
    Question.FIRST: f"the first {FIRST_ROWS:,} rows",
    Question.IMAGE: "the image in the middle",
    Question.BATCH: f"a batch of {BATCH} images, evenly spaced",
    Question.PLANE: "the plane in the middle of the first axis",
    Question.SERIES: "all along the first axis at one point in the middle of the others",
}

QUESTIONS = {
    "tables": (Question.COLUMNS, Question.WHOLE, Question.FIRST, Question.FILTER),
    "images": (Question.IMAGE, Question.BATCH, Question.WHOLE),
    "arrays": (Question.PLANE, Question.SERIES, Question.WHOLE),
}
"""Questions of each family; the first is drawn."""


def answer(case: Case, asked: Asked, data: Path, path: Path) -> None:
    """Read the answer to a question from a saved file, and touch every value.

    Parameters
    ----------
    case : Case
        Format and codec of the file, and the conditions.
    asked : Asked
        The question.
    data : Path
        The data that were saved, as the family's operations store them.
    path : Path
        The file.

    Raises
    ------
    UnsupportedError
        If the format, or its library, cannot read that part.
    """
    with operations_on(case, data) as found:
        if asked.question is Question.WHOLE:
            found.read(path)
        elif asked.family == "tables":
            rows = slice(FIRST_ROWS) if asked.question is Question.FIRST else asked.where
            touch(found.adapter.read(path, columns=asked.columns or None, rows=rows))
        else:
            with found.adapter.open(path) as reader:
                if asked.family == "images":
                    _read_images(reader, asked.question)
                else:
                    touched(reader, reader.read(_selection(reader, asked.question)))


def _read_images(reader: ImageReader, question: Question) -> None:
    count = len(reader)
    if question is Question.IMAGE:
        reader.get(count // 2)
    else:
        reader.get_many([place * count // BATCH for place in range(min(BATCH, count))])


def _selection(reader: ArrayReader, question: Question) -> tuple[slice, ...]:
    if not reader.shape:
        raise UnsupportedError("an array without axes has no parts")
    middle = [slice(edge // 2, edge // 2 + 1) for edge in reader.shape]
    return (middle[0],) if question is Question.PLANE else (slice(0, reader.shape[0]), *middle[1:])


SPARSE = ("H1_PX", "H1_isMuon")
"""Columns of ``kaons`` from which Blomer (ACAT 2017) plots, at its "sparse" question."""

CUT = Predicate([Comparison("H1_isMuon", "==", 0)])
"""Rows that it plots: those without the muon flag."""


def columns_of(names: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to ask for: those wanted, `SPARSE` where they exist, or two far apart.

    Parameters
    ----------
    names : sequence of str
        Columns of the table.
    wanted : sequence of str
        Columns that the user has named; may be empty.

    Raises
    ------
    UnknownNameError
        If the table lacks a column.
    """
    for name in wanted:
        if name not in names:
            raise UnknownNameError("column", name, names)
    if wanted:
        return tuple(wanted)
    if set(SPARSE) <= set(names):
        return SPARSE
    return tuple(dict.fromkeys(names[len(names) * part // 3] for part in (1, 2)))


def predicate_of(text: str) -> Predicate:
    """Return the predicate of a text, e.g. ``"price < 3.5 and kind == a"``.

    Constants are numbers, ``true``, ``false``, or else text, in quotes or without.

    Raises
    ------
    InvalidSelectionError
        If the text has another form.
    """
    return Predicate([_comparison(part) for part in text.split(" and ")])


def _comparison(text: str) -> Comparison:
    match = re.fullmatch(r"\s*(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+?)\s*", text)
    if not match:
        raise InvalidSelectionError(f"{text.strip()!r} is not of the form 'COLUMN < NUMBER'")
    column, operator, value = match.groups()
    return Comparison(column, operator, _constant(value))


def _constant(text: str) -> Value:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text[1:-1] if text[0] == text[-1] and text[0] in "'\"" else text
