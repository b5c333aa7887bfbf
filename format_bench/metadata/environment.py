"""Environment of this process, as records name it."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import sys

from format_bench.results import environments


@functools.cache
def present(label: str, suite: str) -> str:
    """Return the environment of values of a format that are measured now.

    Parameters
    ----------
    label : str
        The format.
    suite : str
        The suite, as a record names it.
    """
    python = environments.python_of(platform.python_implementation(), sys.version)
    return environments.described(label, suite, python, _version)


@functools.cache
def _version(name: str) -> str | None:
    # Nothing is imported here: a library under test may crash.
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
