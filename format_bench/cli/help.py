"""Help of commands: options in sections, and lines that break between words alone."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.types import OptionHelpExtra

# Characters left for a description beside its term; with fewer it starts on a line of its own.
_LEAST_TEXT = 24

# Most characters of a term beside its description; fewer on narrow pages.
_TERMS = 26

# Characters of a list of choices beyond which it is part of the description.
_LONG_CHOICE = 30

# End of a line of a command that the next line continues.
_GOES_ON = " \\"

# Blank at which no line ends.
_JOINT = "\0"

# click's placeholders for numbers.
_NUMBER = re.compile(r"\b(INTEGER|FLOAT)( RANGE)?$")

# The first column of a line of two, and the mark of a comment.
_COLUMNS = re.compile(r"(\s*\S.*?\s{2,})(# )?(?=\S)")


class Section(StrEnum):
    """Sections of a command's options, in their order on the page."""

    DATA = "Data"
    WHAT = "What to measure"
    CHOICE = "What counts"
    HOW = "How to measure"
    WHERE = "Where"
    OUTPUT = "Output"

    def option(self, *names: str, **settings: Any) -> Callable[[Any], Any]:
        """Return `click.option` of these settings, for an option that is listed in this section."""
        return click.option(*names, cls=Option, section=self, **settings)


class Option(click.Option):
    """Option with a section; a long list of choices is in its description.

    Parameters
    ----------
    *settings
        Passed on to `click.Option`, as keywords are.
    section : Section
        Where help lists it.
    """

    def __init__(self, *settings: Any, section: Section, **keywords: Any) -> None:
        super().__init__(*settings, **keywords)
        self.section = section
        if isinstance(self.type, click.Choice) and len("|".join(self.type.choices)) > _LONG_CHOICE:
            self.metavar = self.metavar or (self.name or "").upper().rstrip("S")
            self.help = f"{self.help} One of: {', '.join(self.type.choices)}."

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        """Return remarks on the value; a number that must be positive is none."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class SectionedCommand(click.Command):
    """Command whose help lists the options section by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        listed: dict[str, list[tuple[str, str]]] = {each: [] for each in (*Section, "Help")}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                listed[getattr(parameter, "section", "Help")].append(record)
        for name, records in listed.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


class Page(click.HelpFormatter):
    """Page of help. click's own breaks words at hyphens, and never wraps examples."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the usage; further lines are below its arguments."""
        start = f"{prefix or 'Usage: '}{prog} "
        rest = " " * (len(start) if len(start) + _LEAST_TEXT < self.width else 4)
        self._write(wrapped(args, self.width, start, rest))

    def write_text(self, text: str) -> None:
        """Write paragraphs; the lines of one that starts with a backspace stay lines."""
        margin = " " * self.current_indent
        paragraphs = [lines.split("\n") for lines in re.split(r"\n{2,}", text.strip("\n"))]
        for number, lines in enumerate(paragraphs):
            if number:
                self.write("\n")
            if lines[0].strip() == "\b":
                for line in lines[1:]:
                    self._write(self._kept(margin + line))
            else:
                indent = margin + " " * (len(lines[0]) - len(lines[0].lstrip()))
                self._write(wrapped(" ".join(lines), self.width, indent, indent))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = _TERMS, col_spacing: int = 2
    ) -> None:
        """Write terms with their descriptions."""
        pairs = [(_NUMBER.sub("N", term), text) for term, text in rows]
        margin = " " * self.current_indent
        longest = max((len(term) for term, _ in pairs), default=0)
        column = min(longest, col_max, self.width // 3) + col_spacing
        indent = margin + " " * column
        for term, text in pairs:
            first = f"{margin}{term:{column}}"
            if len(term) + col_spacing > column:
                self._write(wrapped(term, self.width, margin, margin + "  "))
                first = indent
            self._write(wrapped(text, self.width, first, indent))

    def _kept(self, line: str) -> Iterable[str]:
        """Return a line as it is, or wrapped: a command goes on after a backslash."""
        if len(line) <= self.width:
            return [line]
        indent = " " * (len(line) - len(line.lstrip()))
        if line.lstrip().startswith(("format-bench ", "eval ")):
            # An option and its value are one word.
            joined = re.sub(r"(--\S+) (?!-)", rf"\1{_JOINT}", line)
            lines = list(wrapped(joined, self.width - len(_GOES_ON), indent, indent + "    "))
            last = len(lines) - 1
            return [
                each.replace(_JOINT, " ") + (_GOES_ON if number < last else "")
                for number, each in enumerate(lines)
            ]
        columns = _COLUMNS.match(line)
        if not columns:
            return wrapped(line, self.width, indent, indent)
        term, mark = columns[1], columns[2] or ""
        rest = line[columns.end() :]
        if self.width - len(term) < _LEAST_TEXT:
            below = f"{indent}    {mark}"
            return [term.rstrip(), *wrapped(rest, self.width, below, below)]
        return wrapped(rest, self.width, term + mark, " " * len(term) + mark)

    def _write(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(f"{line.rstrip()}\n")


def wrapped(text: str, width: int, first: str, rest: str) -> Iterator[str]:
    """Yield lines of a text: broken between words, and in longer words after commas and bars.

    Parameters
    ----------
    text : str
        The text; each white space in it counts as one blank.
    width : int
        Most characters of a line; a longer piece of a word has a line of its own.
    first, rest : str
        Beginnings of the first line, and of all others.
    """
    line, is_empty = first, True
    for word in text.split():
        pieces = re.findall(r"[^,|]+[,|]*|[,|]+", word) if len(rest) + len(word) > width else [word]
        for number, piece in enumerate(pieces):
            gap = "" if number or is_empty else " "
            if not is_empty and len(line) + len(gap) + len(piece) > width:
                yield line
                line, gap = rest, ""
            line, is_empty = f"{line}{gap}{piece}", False
    yield line


class PageContext(click.Context):
    """Context of a command whose help is a `Page`."""

    formatter_class = Page


class Choice(click.Choice[Any]):
    """Choice whose error names near values, as the errors of options and commands do."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the near values, or all if none is near."""
        known = [str(each) for each in self.choices]
        near = difflib.get_close_matches(str(value).lower(), known, n=3, cutoff=0.5)
        if not near:
            return super().get_invalid_choice_message(value, ctx)
        return f"{value!r} is none of its values; did you mean {' or '.join(near)}?"


def with_page(command: click.Command) -> click.Command:
    """Make the help of a command, and of all below it, a `Page`, and name near values in its errors."""
    command.context_class = PageContext
    for parameter in command.params:
        if type(parameter.type) is click.Choice:
            parameter.type = Choice(parameter.type.choices, parameter.type.case_sensitive)
    for each in getattr(command, "commands", {}).values():
        with_page(each)
    return command
