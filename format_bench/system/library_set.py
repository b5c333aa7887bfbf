"""Library sets that are installed here: virtual environments in a folder of the user's, by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from adapter_core.errors import UnavailableError
from adapter_core.files import user_cache

AXIS = "library set"
"""Name of the condition of records that were measured in a set."""

_SOURCES = Path(__file__).resolve().parents[2]


def folder() -> Path:
    """Return the folder of the sets, which may not exist."""
    return user_cache() / "library_sets"


def interpreter(name: str) -> str:
    """Return the path of the Python of a set.

    Raises
    ------
    UnavailableError
        If the set is not installed, or this project is: its sources lie among this environment's
        libraries then, which would hide the set's.
    """
    if not (_SOURCES / "pyproject.toml").exists():
        reason = "sets are measured from a checkout alone"
        raise UnavailableError(f"the library set {name}", reason, "git clone the project")
    python = folder() / name / "bin" / "python"
    if not python.exists():
        hint = f"uv venv {folder() / name}, and install it as docs/conditions.md says"
        raise UnavailableError(f"the library set {name}", "it is not installed", hint)
    return str(python)


def packages(name: str) -> list[str]:
    """Return the folders of the packages of a set; none if it is not installed."""
    return [str(each) for each in (folder() / name).glob("lib/python*/site-packages")]


def python_version(name: str) -> str:
    """Return the version of the Python of a set; "?" if it is not known."""
    facts = dict(_facts(folder() / name / "pyvenv.cfg"))
    return facts.get("version") or facts.get("version_info") or "?"


def _facts(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        name, _, value = line.partition("=")
        yield name.strip(), value.strip()
