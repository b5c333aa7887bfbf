"""A library set as a file: comments, and a line for each pinned package.

What changes from one library set to the next.

The commit message of a renewed library set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import data_formats
import image_storages
from adapter_core.listing import declarations

HEAD = """\
# The library set under test, every version pinned; made with
# uv pip compile --universal --python-version {python_version} --no-header --no-annotate
"""


def parse(text: str) -> dict[str, str]:
    """Return the pinned version of each package that applies to the running Python, by name.

    Parameters
    ----------
    text : str
        Lines as in ``pyarrow==15.0.0 ; python_full_version < '3.12'``; comments and options are left
        out.

    Returns
    -------
    dict
        Versions by canonical name, ordered by name.

    Raises
    ------
    packaging.requirements.InvalidRequirement
        If a line is no requirement.
    ValueError
        If a line pins no version.
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
            raise ValueError(f"{line!r} pins no version")
        if requirement.marker is None or requirement.marker.evaluate():
            found[canonicalize_name(requirement.name)] = pins[0].version
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Step:
    """One package whose version changed; it was added if there is no old one, removed if no new one."""

    name: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        if self.old is None:
            return f"{self.name} {self.new} added"
        if self.new is None:
            return f"{self.name} {self.old} removed"
        return f"{self.name} {self.old} -> {self.new}"


def steps(old: Mapping[str, str], new: Mapping[str, str]) -> list[Step]:
    """Return the steps from one set to the next, each version by name, ordered by name."""
    names = sorted(old.keys() | new.keys())
    return [Step(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)]


SUBJECT_CHARACTERS = 72
"""What git's own tools show of a subject without cutting it."""


def message(changes: Sequence[Step], month: str) -> str:
    """Return the commit message that tells the steps of a month, given as "2026-12".

    Libraries that adapters declare come first, those of more adapters before those of fewer, and new
    versions before packages that came or went. The subject names as many as it has room for, the body
    all.
    """
    declared = _adapters_by_library()
    ordered = sorted(
        changes, key=lambda step: (-declared[step.name], None in {step.old, step.new}, step.name)
    )
    body = "\n".join(map(str, ordered))
    return f"{_subject(f'Renew the library set for {month}', ordered)}\n\n{body}\n"


def _subject(beginning: str, changes: Sequence[Step]) -> str:
    """Return the beginning and the first steps, as many as fit, with the number of the others."""
    for named in range(len(changes), 0, -1):
        others = len(changes) - named
        rest = [f"{others} more"] if others else []
        subject = f"{beginning}: {', '.join([*map(str, changes[:named]), *rest])}"
        if len(subject) <= SUBJECT_CHARACTERS:
            return subject
    return beginning


def _adapters_by_library() -> Counter[str]:
    """Return how many adapters declare each library."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    return Counter(
        canonicalize_name(Requirement(text).name)
        for family in (data_formats, image_storages)
        for each in declarations(Path(family.__path__[0]))
        for text in each.requires
    )
