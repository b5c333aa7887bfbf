"""Conversion of libraries' errors about users' files to `InvalidDataError`, one line each."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from adapter_core import FormatBenchError
from adapter_core.errors import (
    InvalidDataError,
    InvalidSpecError,
    TooFewRowsError,
    deprecated_names,
)

DAMAGED = "it may be damaged or incomplete"
"""Advice for a file that its library cannot read."""

# Longest excerpt of a library's message.
QUOTED_CHARACTERS = 160

STDERR = 2
"""File descriptor that libraries in C and C++ print to."""

# Libraries in Rust raise a class of this name. Each has its own, and it does not derive from Exception.
_PANIC = "PanicException"


@contextmanager
def library_errors(place: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Convert all errors of a library about a file to `InvalidDataError`, and ignore its warnings.

    Only calls into the library belong inside, to keep other errors as they are.

    Parameters
    ----------
    place : path-like
        The file.
    kind : str
        Kind of file that the library expects, e.g. "Parquet".

    Raises
    ------
    InvalidDataError
        If the library fails; the message has the first line of the library's message.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except FormatBenchError:
        raise
    except MemoryError as error:
        raise InvalidDataError(place, f"does not fit in memory when it is read as {kind}") from error
    except Exception as error:
        raise _invalid_data(place, kind, error) from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise _invalid_data(place, kind, error) from error


@contextmanager
def silenced() -> Iterator[None]:
    """Discard all output to standard error, also by libraries in C and C++."""
    # Redirecting sys.stderr would not affect the file descriptor, to which these write.
    sys.stderr.flush()
    kept = os.dup(STDERR)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STDERR)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, STDERR)
        os.close(kept)
        os.close(nowhere)


def _invalid_data(place: str | os.PathLike[str], kind: str, error: BaseException) -> InvalidDataError:
    words = " ".join(str(error).split("\n", 1)[0].split()).rstrip(".") or type(error).__name__
    if len(words) > QUOTED_CHARACTERS:
        words = f"{words[:QUOTED_CHARACTERS]}..."
    is_locked = re.search(r"\block", words)
    advice = "end the program that has it open" if is_locked else DAMAGED
    return InvalidDataError(place, f"cannot be read as {kind}: {words}", advice)


__getattr__ = deprecated_names(
    __name__,
    {
        "BadData": InvalidDataError,
        "BadSpec": InvalidSpecError,
        "TooFewRows": TooFewRowsError,
    },
)
