"""Library sets that are installed here: virtual environments in a folder of the user's, by name."""

from __future__ import annotations

from pathlib import Path

from adapter_core.environments import VirtualEnvironment
from adapter_core.errors import UnavailableError
from adapter_core.files import user_cache

AXIS = "library set"
"""Name of the condition of records that were measured in a set."""


def folder() -> Path:
    """Return the folder of the sets, which may not exist."""
    return user_cache() / "library_sets"


def find(name: str) -> VirtualEnvironment:
    """Return the environment of a set, which may not exist."""
    return VirtualEnvironment(folder() / name)


def interpreter(name: str) -> str:
    """Return the path of the Python of a set.

    Raises
    ------
    UnavailableError
        If the set is not installed.
    """
    found = find(name)
    if not found.python.exists():
        hint = f"uv venv {found.place}, and install it as docs/conditions.md says"
        raise UnavailableError(f"the library set {name}", "it is not installed", hint)
    return str(found.python)
