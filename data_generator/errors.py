"""Data that a user brings and that cannot be measured, told in one line."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from adapter_core.errors import (
    FormatBenchError,
    InvalidDataError,
    InvalidSpecError,
    TooFewRowsError,
    deprecated_names,
)

QUOTED_CHARACTERS = 160
"""Of what a library says, so that the line stays one that can be read."""

_PANIC = "PanicException"
"""What Rust libraries raise, a class that each of them has for itself and that is no `Exception`."""


@contextmanager
def library_errors(place: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn whatever a library raises about a file into `InvalidDataError`, and ignore its warnings.

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
        raise InvalidDataError(place, f"does not fit in memory when it is read as {what}") from error
    except Exception as error:
        raise _told(place, what, error) from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise _told(place, what, error) from error


def _told(place: str | os.PathLike[str], what: str, error: BaseException) -> InvalidDataError:
    words = " ".join(str(error).split("\n", 1)[0].split()).rstrip(".") or type(error).__name__
    if len(words) > QUOTED_CHARACTERS:
        words = f"{words[:QUOTED_CHARACTERS]}..."
    is_locked = re.search(r"\block", words)
    advice = "end the program that has it open" if is_locked else "it may be damaged or incomplete"
    return InvalidDataError(place, f"cannot be read as {what}: {words}", advice)


__getattr__ = deprecated_names(
    __name__,
    {
        "BadData": InvalidDataError,
        "BadSpec": InvalidSpecError,
        "TooFewRows": TooFewRowsError,
    },
)
