"""CSV of dataclasses whose fields are numbers, text and truth values."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from adapter_core.errors import InvalidResultsError
from adapter_core.files import content_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)

_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": lambda text: text == "1",
}


def to_csv(of_class: type[Row], rows: Iterable[Row]) -> str:
    """Return rows as CSV, with a header; truth values are 0 and 1."""
    text = StringIO()
    writer = csv.DictWriter(text, [each.name for each in fields(of_class)], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        values = asdict(row)
        writer.writerow({name: int(v) if isinstance(v, bool) else v for name, v in values.items()})
    return text.getvalue()


def from_csv(of_class: type[Row], text: str) -> list[Row]:
    """Return the rows of a CSV text."""
    parsers = {each.name: _PARSERS[str(each.type)] for each in fields(of_class)}
    return [
        of_class(**{name: parsers[name](value) for name, value in row.items()})
        for row in csv.DictReader(StringIO(text))
    ]


def read(of_class: type[Row], path: str | os.PathLike[str]) -> list[Row]:
    """Return the rows of a CSV file.

    Raises
    ------
    InvalidResultsError
        If the file contains something else.
    """
    with content_of(path, InvalidResultsError, f"contains no rows of {of_class.__name__}"):
        return from_csv(of_class, Path(path).read_text(encoding="utf-8"))
