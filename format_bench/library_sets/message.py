"""The commit message of a renewed library set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import data_formats
import image_storages
from adapter_core.listing import declarations

if TYPE_CHECKING:
    from format_bench.library_sets.steps import Step

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
