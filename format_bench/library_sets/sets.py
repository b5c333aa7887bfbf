"""Library sets as files, the version changes between two of them, and their commit message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from adapter_core.errors import ResolutionError
from adapter_core.files import content_of
from adapter_core.listing import declarations
from format_bench.results.suites import FAMILIES

HEAD = """\
# The library set under test, every version pinned; made with
# uv pip compile --universal --python-version {python_version} --no-header --no-annotate
"""

LOCKED = ".lock"
"""Suffix of the file of hashes beside the file of a set."""

LOCK_HEAD = """\
# The library set under test with the SHA-256 of each file that an index may give for it; made with
# python -m format_bench.library_sets lock
"""

# Longest subject of a commit that git's own tools show in full.
SUBJECT_CHARACTERS = 72


def parse(text: str) -> dict[str, str]:
    """Return the pinned version of each package that applies to the running Python, by name.

    Parameters
    ----------
    text : str
        Lines such as ``pyarrow==15.0.0 ; python_full_version < '3.12'``; comments and options are
        ignored.

    Returns
    -------
    dict
        Versions by canonical name, ordered by name.

    Raises
    ------
    packaging.requirements.InvalidRequirement
        If a line is not a requirement.
    ValueError
        If a line does not pin a version.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: dict[str, str] = {}
    for line in text.splitlines():
        line = line.partition("#")[0].strip()  # noqa: PLW2901 (the comment is not part of it)
        if not line or line.startswith("-"):
            continue
        requirement = Requirement(line)
        pins = list(requirement.specifier)
        if len(pins) != 1 or pins[0].operator != "==":
            raise ValueError(f"{line!r} does not pin a version")
        # A universal set pins some packages once for each range of Python's versions.
        if requirement.marker is None or requirement.marker.evaluate():
            found[canonicalize_name(requirement.name)] = pins[0].version
    return dict(sorted(found.items()))


def read(constraints: Path) -> dict[str, str]:
    """Return the versions in a file of constraints, as `parse` does.

    Raises
    ------
    ResolutionError
        If a line is not a pin.
    """
    with content_of(constraints, ResolutionError, "is not a library set: a line does not pin a version"):
        return parse(constraints.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class VersionChange:
    """Change of one package's version; `old` is None if it was added, `new` if it was removed."""

    name: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        if self.old is None:
            return f"{self.name} {self.new} added"
        if self.new is None:
            return f"{self.name} {self.old} removed"
        return f"{self.name} {self.old} -> {self.new}"


def version_changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[VersionChange]:
    """Return the changes between two sets, given as versions by name, ordered by name."""
    names = sorted(old.keys() | new.keys())
    return [
        VersionChange(name, old.get(name), new.get(name))
        for name in names
        if old.get(name) != new.get(name)
    ]


def message(changes: Sequence[VersionChange], month: str) -> str:
    """Return the commit message of a month's changes; the month is given as "2026-12".

    Libraries that adapters declare come first, in order of the number of adapters, and new
    versions before added or removed packages. The subject names as many as fit, the body all.
    """
    declared = _adapters_by_library()
    ordered = sorted(
        changes,
        key=lambda change: (-declared[change.name], None in {change.old, change.new}, change.name),
    )
    body = "\n".join(map(str, ordered))
    return f"{_subject(f'Renew the library set for {month}', ordered)}\n\n{body}\n"


def _subject(start: str, changes: Sequence[VersionChange]) -> str:
    """Return the start with as many changes as fit, and the number of the others."""
    for named in range(len(changes), 0, -1):
        others = len(changes) - named
        rest = [f"{others} more"] if others else []
        subject = f"{start}: {', '.join([*map(str, changes[:named]), *rest])}"
        if len(subject) <= SUBJECT_CHARACTERS:
            return subject
    return start


def _adapters_by_library() -> Counter[str]:
    """Return the number of adapters that declare each library."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    return Counter(
        canonicalize_name(Requirement(text).name)
        for family in FAMILIES.values()
        for each in declarations(Path(import_module(family.adapters).__path__[0]))
        for text in each.requires
    )
