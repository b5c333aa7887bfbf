"""Lines of the log; cron.sh puts the time before each.

The day of a monthly run.

The interpreter that the clone's packages are installed for.

Git, as the monthly run uses it in its own clone, which is the working directory.
"""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, time
from pathlib import Path

from adapter_core.errors import GitError
from format_bench.system.git import run_git


def say(line: str) -> None:
    """Print a line at once, so that it stands before what other programs print."""
    print(line, flush=True)  # noqa: T201 (this is where lines go)


VARIABLE = "CRON_DATE"
"""Names another day than today, as in "2026-12-01", so that several months can be rehearsed in one."""


def rehearsed() -> date | None:
    """Return the day that a rehearsal takes for today."""
    told = os.environ.get(VARIABLE)
    return date.fromisoformat(told) if told else None


def now() -> datetime:
    """Return the time, in UTC; noon of the day in a rehearsal."""
    day = rehearsed()
    return datetime.combine(day, time(12), tzinfo=UTC) if day else datetime.now(UTC)


def dates() -> dict[str, str]:
    """Return the variables that date git's commits and tags."""
    text = f"{now():%Y-%m-%dT%H:%M:%S}+0000"
    return {"GIT_AUTHOR_DATE": text, "GIT_COMMITTER_DATE": text}


PYTHON = Path(".venv/bin/python")
"""In the clone, which is the working directory."""


TIMEOUT_SECONDS = 1800
"""A push of a site may take long; one that takes longer hangs."""


def git(*arguments: str, text: str | None = None, **environment: str) -> str:
    """Run git and return what it prints, stripped.

    Parameters
    ----------
    *arguments : str
        The subcommand and its arguments.
    text : str, optional
        What git reads from its standard input.
    **environment : str
        Variables to set, as in ``GIT_INDEX_FILE="..."``.

    Raises
    ------
    GitError
        If git returns anything but 0, or does not return.
    """
    return run_git(arguments, Path(), text, environment, TIMEOUT_SECONDS).decode().strip()


def holds(*arguments: str) -> bool:
    """Return whether a git command succeeds, as in ``holds("diff", "--quiet", "HEAD")``."""
    try:
        git(*arguments)
    except GitError:
        return False
    return True


def commit_of(name: str) -> str:
    """Return the commit of a branch or tag, as 40 hexadecimal digits; empty if there is no such name."""
    try:
        return git("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")
    except GitError:
        return ""


def is_ancestor(ancestor: str, descendant: str) -> bool:
    """Return whether a commit is the other one, or comes before it."""
    return holds("merge-base", "--is-ancestor", ancestor, descendant)
