"""The renewed library set: committed if it installs, told if it does not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from format_bench.monthly import today
from format_bench.monthly.git import git
from format_bench.monthly.python import PYTHON
from format_bench.monthly.say import say
from format_bench.monthly.statuses import MonthlyError, Status

CONSTRAINTS = "constraints.txt"
TRIAL = Path(".asv/trial")
"""The environment that a renewed set is installed in before anyone else sees it."""


def renew() -> str:
    """Renew the set and commit it; return what changed, as the subject of the commit, or nothing.

    Raises
    ------
    MonthlyError
        If the renewed set does not resolve or install; the set is as it was.
    """
    say("renewing the library set")
    message = _resolved()
    if not message:
        say("no version has changed")
        return ""
    try:
        say("installing the renewed set for a trial")
        _install()
    except MonthlyError:
        git("checkout", "--quiet", "--", CONSTRAINTS)
        raise
    finally:
        shutil.rmtree(TRIAL, ignore_errors=True)
    git("commit", "--quiet", "--file=-", "--", CONSTRAINTS, text=message, **today.dates())
    return message.partition("\n")[0]


def _resolved() -> str:
    """Resolve the set, write it if it has changed, and return the commit message if so."""
    command = ["-m", "format_bench.library_sets", "renew", "--constraints", CONSTRAINTS]
    if day := today.rehearsed():
        command += ["--exclude-newer", day.isoformat()]
    return _python(PYTHON, command, "resolved").strip()


def _install() -> None:
    shutil.rmtree(TRIAL, ignore_errors=True)
    _python(PYTHON, ["-m", "venv", str(TRIAL)], "tried")
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", CONSTRAINTS]
    _python(TRIAL / "bin" / "python", pip, "installed")


def _python(python: Path, command: list[str], what: str) -> str:
    done = subprocess.run(  # noqa: S603 (the arguments are our own)
        [python, *command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        reason = (errors or lines or [f"status {done.returncode}"])[-1]
        raise MonthlyError(Status.OLD_SET, f"the renewed set could not be {what}: {reason}")
    return done.stdout
