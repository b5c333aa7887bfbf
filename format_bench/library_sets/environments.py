"""Environments of adapters: their requirements, their locks, and their builds by uv."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import date
from importlib import import_module
from pathlib import Path

from adapter_core.environments import LOCKS, OwnEnvironment, names
from adapter_core.errors import ResolutionError, UnavailableError, UnknownNameError
from adapter_core.files import write_atomically
from adapter_core.listing import Declaration, declarations
from format_bench.library_sets.resolution import (
    resolve_near,
    run_uv,
    running_python,
)
from format_bench.library_sets.sets import VersionChange, parse, version_changes
from format_bench.results.suites import FAMILIES

# What the conformance kit needs, which the interpreter of an environment runs for its adapters.
KIT = ("hypothesis", "pytest", "pytest-timeout")

# The first build downloads everything; some packages have gigabytes.
BUILD_SECONDS = 3600

_HEAD = """\
# The environment of its own of adapters that declare `environment = "{name}"`; made with
# python -m format_bench.library_sets lock-environment {name}
"""


def requirements(name: str, base: Iterable[str]) -> list[str]:
    """Return the requirements of an environment: an engine also needs the formats that it reads.

    Parameters
    ----------
    name : str
        The environment.
    base : iterable of str
        Requirements of the project itself.

    Raises
    ------
    UnknownNameError
        If no adapter declares it.
    """
    adapters = [each for family in FAMILIES.values() for each in _declared(family.adapters)]
    own = [each for each in adapters if each.environment == name]
    if not own:
        known = sorted({each.environment for each in adapters if each.environment})
        raise UnknownNameError("environment of an adapter", name, known)
    read_by_own = {label for each in own for label in each.reads}
    own += [each for each in _declared("data_formats") if each.label in read_by_own]
    return sorted({*base, *KIT, *(text for each in own for text in each.requires)})


def _declared(package: str) -> list[Declaration]:
    return declarations(Path(import_module(package).__path__[0]))


def lock(
    name: str, base: Iterable[str], constraints: Path, exclude_newer: date | None = None
) -> list[VersionChange]:
    """Resolve an environment, write its lock if a version has changed, and return the changes.

    It takes the versions of the library set where they fit, so that it differs only where it must.

    Parameters
    ----------
    name : str
        The environment.
    base : iterable of str
        Requirements of the project itself.
    constraints : Path
        The file of the library set; locks are in the folder `environments` beside it.
    exclude_newer : date, optional
        Use only files uploaded by noon of that day.

    Raises
    ------
    UnknownNameError
        If no adapter declares it.
    ResolutionError
        If its requirements cannot be met; the lock stays as it was.
    """
    wanted = requirements(name, base)
    options = ["--python-version", running_python(), "--universal", "--generate-hashes"]
    text = resolve_near(wanted, constraints.read_text(encoding="utf-8"), options, exclude_newer)
    path = constraints.parent / LOCKS.name / f"{name}.txt"
    changes = version_changes(_pins_of(path), parse(_without_hashes(text)))
    if changes or not path.exists():
        path.parent.mkdir(exist_ok=True)
        with write_atomically(path) as temporary:
            temporary.write_text(_HEAD.format(name=name) + text, encoding="utf-8")
    return [VersionChange(f"{each.name} of {name}", each.old, each.new) for each in changes]


def renew(
    base: Sequence[str], constraints: Path, exclude_newer: date | None = None
) -> list[VersionChange]:
    """Resolve each environment that has a lock anew; one that cannot be resolved stays as it was."""
    changes = []
    for name in sorted(each.stem for each in (constraints.parent / LOCKS.name).glob("*.txt")):
        try:
            changes += lock(name, base, constraints, exclude_newer)
        except ResolutionError as error:
            sys.stderr.write(f"library_sets: the environment {name} stays as it is: {error}\n")
    return changes


def _pins_of(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    return parse(_without_hashes(path.read_text(encoding="utf-8")))


def _without_hashes(text: str) -> str:
    return "\n".join(line.removesuffix("\\").rstrip() for line in text.splitlines())


def build(name: str) -> Path:
    """Make an environment of its lock unless that is done, and return its folder.

    Raises
    ------
    UnknownNameError
        If there is no lock of that name.
    UnavailableError
        If uv fails; the message has its reason.
    """
    own = OwnEnvironment(name)
    if not own.lock.exists():
        raise UnknownNameError("environment with a lock", name, names())
    if own.python.exists():
        return own.place
    own.place.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(own.place) as temporary:
        python = str(temporary / "bin" / "python")
        lock_options = ["--require-hashes", "--requirement", str(own.lock)]
        for command in (
            # Relocatable, since it gets its name at the end.
            ["venv", "--relocatable", "--python", sys.executable, str(temporary)],
            ["pip", "install", "--python", python, *lock_options],
        ):
            try:
                run_uv(*command, timeout_seconds=BUILD_SECONDS)
            except ResolutionError as error:
                reason = f"uv failed: {error}"
                raise UnavailableError(f"the environment {name}", reason, own.build_hint) from error
    return own.place
