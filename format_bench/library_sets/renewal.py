"""Renewing the library set of a checkout."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

from format_bench.library_sets.pins import HEAD, parse
from format_bench.library_sets.requirements import declared
from format_bench.library_sets.resolution import resolve
from format_bench.library_sets.steps import Step, steps


def renew(constraints: Path, exclude_newer: date | None = None, *, dry_run: bool = False) -> list[Step]:
    """Resolve what the checkout of a constraints file declares, and write the file if versions change.

    A pin that does not apply to the running Python is no reason to write: nothing that is measured
    here would change.

    Parameters
    ----------
    constraints : Path
        The file; setup.py stands beside it. It need not exist yet.
    exclude_newer : date, optional
        Take the packages as they stood on that day.
    dry_run : bool
        Only tell what would change.

    Returns
    -------
    list of Step
        What has changed; empty if nothing has.

    Raises
    ------
    Unresolvable
        If the requirements cannot be met; the file stays as it was.
    """
    python_version = f"{sys.version_info.major}.{sys.version_info.minor}"
    requirements = {text for texts in declared(constraints.parent).values() for text in texts}
    text = resolve(sorted(requirements), python_version, exclude_newer)
    old = constraints.read_text(encoding="utf-8") if constraints.exists() else ""
    changes = steps(parse(old), parse(text))
    if changes and not dry_run:
        new = constraints.with_name(f"{constraints.name}.partial")
        new.write_text(HEAD.format(python_version=python_version) + text, encoding="utf-8")
        new.replace(constraints)
    return changes
