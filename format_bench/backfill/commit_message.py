"""The message of a commit that takes the library set of a day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from format_bench.library_sets.steps import steps

if TYPE_CHECKING:
    from format_bench.backfill.past_set import PastSet


def commit_message(past: PastSet, before: Mapping[str, str], base: str) -> str:
    """Return what changed, and what is left out.

    Parameters
    ----------
    past : PastSet
        The set.
    before : mapping
        Versions by name of the set before it.
    base : str
        The commit that all other files are from.
    """
    parts = [f"Take the library set of {past.day}", f"All else is as in {base}."]
    if past.reason:
        parts.append(f"There was none: {past.reason}")
    else:
        changes = steps(before, past.versions)
        parts.append("\n".join(map(str, changes)) or "No version has changed.")
    if past.left_out:
        lines = [f"{requirement}: {reason}" for requirement, reason in past.left_out.items()]
        parts.append("\n".join(["Left out:", *lines]))
    return "\n\n".join(parts) + "\n"
