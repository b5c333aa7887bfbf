"""Git as a program: run in a folder, told what failed in one line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from adapter_core.errors import GitError


def run_git(
    arguments: Sequence[str],
    folder: Path,
    text: str | None = None,
    environment: Mapping[str, str] | None = None,
    limit_seconds: float | None = None,
) -> bytes:
    """Run git in a folder and return what it prints, as it is.

    Parameters
    ----------
    arguments : sequence of str
        The subcommand and its arguments.
    folder : Path
        Where to run it.
    text : str, optional
        What git reads from its standard input; by default it is that of this process.
    environment : dict, optional
        Variables to set besides those that are.
    limit_seconds : float, optional
        How long it may take; by default as long as it needs.

    Raises
    ------
    GitError
        If git returns anything but 0, or does not return.
    """
    try:
        done = subprocess.run(  # noqa: S603 (the arguments are our own)
            ["git", *arguments],  # noqa: S607 (the user's own git)
            cwd=folder,
            input=None if text is None else text.encode(),
            env={**os.environ, **(environment or {})},
            capture_output=True,
            timeout=limit_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        told = f"fatal: not finished after {limit_seconds} seconds"
        raise GitError(arguments[0], 128, told) from error
    if done.returncode:
        raise GitError(arguments[0], done.returncode, done.stderr.decode(errors="replace"))
    return done.stdout
