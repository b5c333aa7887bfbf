"""Git, as the monthly run uses it in its own clone, which is the working directory."""

from __future__ import annotations

from pathlib import Path

from format_bench.system.git import GitFailed, run_git

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
    GitFailed
        If git returns anything but 0, or does not return.
    """
    return run_git(arguments, Path(), text, environment, TIMEOUT_SECONDS).decode().strip()


def holds(*arguments: str) -> bool:
    """Return whether a git command succeeds, as in ``holds("diff", "--quiet", "HEAD")``."""
    try:
        git(*arguments)
    except GitFailed:
        return False
    return True


def commit_of(name: str) -> str:
    """Return the commit of a branch or tag, as 40 hexadecimal digits; empty if there is no such name."""
    try:
        return git("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")
    except GitFailed:
        return ""


def is_ancestor(ancestor: str, descendant: str) -> bool:
    """Return whether a commit is the other one, or comes before it."""
    return holds("merge-base", "--is-ancestor", ancestor, descendant)
