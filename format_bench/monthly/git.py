"""Git, as the monthly run uses it in its own clone, which is the working directory."""

from __future__ import annotations

import os
import subprocess

from adapter_core.errors import FormatBenchError

TIMEOUT_SECONDS = 1800
"""A push of a site may take long; one that takes longer hangs."""


class GitFailed(FormatBenchError):
    """A git command that failed.

    Parameters
    ----------
    command : str
        The subcommand, as in "push".
    returncode : int
        What git returned.
    told : str
        What git printed on the standard error output.
    """

    def __init__(self, command: str, returncode: int, told: str) -> None:
        self.returncode = returncode
        lines = [line for line in told.splitlines() if line.strip() and not line.startswith("hint:")]
        reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
        super().__init__(f"git {command} failed: {reason or ' '.join(lines[-1:]) or returncode}")


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
    try:
        done = subprocess.run(  # noqa: S603 (the arguments are our own)
            ["git", *arguments],  # noqa: S607 (the user's own git)
            input=text,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitFailed(
            arguments[0], 128, f"fatal: not finished after {TIMEOUT_SECONDS} seconds"
        ) from error
    if done.returncode:
        raise GitFailed(arguments[0], done.returncode, done.stderr)
    return done.stdout.strip()


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
