"""Environment of this process, as records name it."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import sys

from format_bench.results import environments
from format_bench.system import library_set as sets


@functools.cache
def present(label: str, suite: str, library_set: str = "") -> str:
    """Return the environment of values of a format that are measured now.

    Parameters
    ----------
    label : str
        The format.
    suite : str
        The suite, as a record names it.
    library_set : str
        The set in whose interpreter they are measured; by default this one.
    """
    version = sets.python_version(library_set) if library_set else sys.version
    python = environments.python_of(platform.python_implementation(), version)
    path = sets.packages(library_set) if library_set else sys.path
    return environments.described(label, suite, python, functools.partial(_version, path=tuple(path)))


@functools.cache
def _version(name: str, path: tuple[str, ...]) -> str | None:
    # Nothing is imported here: a library under test may crash.
    found = importlib.metadata.distributions(name=name, path=list(path))
    return next((each.version for each in found), None)
