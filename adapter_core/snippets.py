"""Code to paste: the calls of a format's library that write and read a file, without this project.

An adapter declares a `Snippet`, with the calls and options of its own `_save` and `_read`, or a sentence
why it has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from inspect import cleandoc
from typing import Any, ClassVar


class Given(StrEnum):
    """Data that a snippet writes, and reads into variables of the same names."""

    FRAME = "df: a pandas.DataFrame"
    POLARS = "df: a polars.DataFrame"
    TABLE = "table: a pyarrow.Table"
    ARRAY = "array: a numpy.ndarray; chunks: the shape of a chunk"
    WHOLE_ARRAY = "array: a numpy.ndarray"
    LABELLED = "array: an xarray.DataArray with a name; chunks: the shape of a chunk"
    IMAGES = (
        "images: a list of numpy.ndarray, uint8, height x width x channels; labels: their int64 array"
    )
    RECORDS = "records: a list of dictionaries"
    NAMED_RECORDS = "records: a list of dictionaries; names: the names of the fields"

    @property
    def names(self) -> list[str]:
        """Names of the variables."""
        return re.findall(r"(\w+): ", self)

    @property
    def read_back(self) -> list[str]:
        """Names of the variables that a snippet reads, which are the others' data."""
        return [name for name in self.names if name not in ("chunks", "names")]


@dataclass(frozen=True)
class Snippet:
    """Templates of the code of an adapter.

    ``{path}`` stands for the literal of a path, other words in braces for the entries of
    `Pasteable.placeholders`. An empty one disappears together with a comma before it, or with its line.
    """

    imports: str
    write: str
    read: str
    given: Given = Given.FRAME
    changes: Mapping[str, str] = field(default_factory=dict)
    """Dtypes of columns that come back as others, each with the other."""
    lacks: tuple[str, ...] = ()
    """Dtypes of columns to convert before, since the calls refuse them or change values."""
    differs: str = ""
    """Difference of its file from the adapter's, as a sentence; empty if each reads the other's."""
    notes: tuple[str, ...] = ()
    """Further sentences, e.g. on changes for other data."""


@dataclass(frozen=True)
class Code:
    """Code of one configuration."""

    imports: str
    write: str
    read: str
    given: Given
    notes: tuple[str, ...]
    differs: str = ""
    """Difference of its file from the adapter's, one of the notes; empty if there is none."""

    @property
    def text(self) -> str:
        """All of it, for a page or a terminal; each part runs after the imports."""
        notes = [f"# {note}" for note in (self.given, *self.notes)]
        return "\n".join([*notes, self.imports, "", self.write, "", self.read])


class Pasteable:
    """An adapter that shows its calls as code."""

    snippet: ClassVar[Snippet | str] = ""
    """Its code, or the reason why there is none, as a sentence; empty if it is unknown."""
    label: ClassVar[str]
    suffix: ClassVar[str]

    def code(self, codec: str | None = None, level: int | None = None, path: str = "") -> Code | None:
        """Return the code to write and read a file; None if the adapter has no snippet.

        Parameters
        ----------
        codec, level
            As for `save`.
        path : str, optional
            The file; by default one in the working directory.

        Raises
        ------
        UnknownNameError, UnknownLevelError, UnsupportedError
            As for `save`.
        """
        of = self.snippet
        if isinstance(of, str):
            return None
        place = literal(path or f"data{self.suffix}")
        found = self.placeholders(codec, level)
        fields = {"path": place, **{word: text.replace("{path}", place) for word, text in found.items()}}
        changes = [f"{before} comes back as {after}" for before, after in of.changes.items()]
        lacks = f"convert columns of {', '.join(of.lacks)} before" if of.lacks else ""
        return Code(
            filled(of.imports, fields),
            filled(of.write, fields),
            filled(of.read, fields),
            of.given,
            tuple(filter(None, ["; ".join(changes), lacks, *of.notes, of.differs])),
            of.differs,
        )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the texts of placeholders, by their words; by default literals of codec and level."""
        return {"codec": literal(codec), "level": literal(level)}


# A word in braces, with what goes with it if it is empty.
_PLACE = re.compile(r"(?P<alone>^[ \t]*\{\w+\}\n)|(?P<comma>, )?\{(?P<word>\w+)\}", re.MULTILINE)


def filled(template: str, fields: Mapping[str, str]) -> str:
    """Return a template with the texts of its placeholders; other braces are code."""

    def text(match: re.Match[str]) -> str:
        if match["alone"]:
            before, _, word = match["alone"].rstrip("}\n").partition("{")
            found = fields.get(word)
            if found is None:
                return match[0]
            return "".join(f"{before}{line}\n" for line in found.splitlines())
        found = fields.get(match["word"])
        if found is None:
            return match[0]
        return f"{match['comma'] or ''}{found}" if found else ""

    return _PLACE.sub(text, cleandoc(template) + "\n").rstrip("\n")


def literal(value: Any) -> str:
    """Return a value of plain types as Python code, with double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(key)}: {literal(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)


def keywords(**options: Any) -> str:
    """Return options as keyword arguments, without those that are None."""
    return ", ".join(f"{name}={literal(each)}" for name, each in options.items() if each is not None)
