"""Data that a user brings and that cannot be measured, told in one line."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from adapter_core.errors import FormatBenchError

QUOTED_CHARACTERS = 160
"""Of what a library says, so that the line stays one that can be read."""

_PANIC = "PanicException"
"""What Rust libraries raise, a class that each of them has for itself and that is no `Exception`."""


class BadData(FormatBenchError):
    """A file or folder that cannot be measured as it is.

    Parameters
    ----------
    place : path-like
        The file or folder.
    problem : str
        What is the matter with it, as the rest of a sentence that begins with the place.
    advice : str, optional
        What to do, as a clause.
    """

    def __init__(self, place: str | os.PathLike[str], problem: str, advice: str = "") -> None:
        self.place, self.problem, self.advice = place, problem, advice
        super().__init__(printable(f"{os.fspath(place)}: {problem}{'; ' if advice else ''}{advice}"))


@contextmanager
def library_errors(place: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn whatever a library raises about a file into `BadData`; its warnings are not of interest.

    To be put around calls of the library alone, so that errors of our own stay what they are.

    Parameters
    ----------
    place : path-like
        The file.
    what : str
        What the library takes it for, as in "Parquet".
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except FormatBenchError:
        raise
    except MemoryError as error:
        raise BadData(place, f"does not fit in memory when it is read as {what}") from error
    except Exception as error:
        raise _told(place, what, error) from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise _told(place, what, error) from error


def printable(text: str) -> str:
    """Return text in one line, without characters that a terminal would obey."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))


def _told(place: str | os.PathLike[str], what: str, error: BaseException) -> BadData:
    words = " ".join(str(error).split("\n", 1)[0].split()).rstrip(".") or type(error).__name__
    if len(words) > QUOTED_CHARACTERS:
        words = f"{words[:QUOTED_CHARACTERS]}..."
    is_locked = re.search(r"\block", words)
    advice = "end the program that has it open" if is_locked else "it may be damaged or incomplete"
    return BadData(place, f"cannot be read as {what}: {words}", advice)
