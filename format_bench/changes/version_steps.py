"""Which libraries differ between two points: those that an adapter declares, and all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.library_sets import steps

if TYPE_CHECKING:
    from format_bench.changes.points import History, Point
    from format_bench.library_sets import Step


def version_steps(
    history: History, module: str, label: str, before: Point, since: Point
) -> tuple[list[Step], list[Step]]:
    """Return the steps of the libraries that the adapter declares, in its order, and of all others.

    Both are empty where no library differs, or where nobody knows the versions of one of the points.
    """
    if not before.libraries or not since.libraries:
        return [], []
    own = {name: place for place, name in enumerate(history.libraries_of(module, label))}
    found = steps(before.libraries, since.libraries)
    declared = sorted((step for step in found if step.name in own), key=lambda step: own[step.name])
    return declared, [step for step in found if step.name not in own]
