"""Resolving requirements to one version of each package, as of today or of an earlier day."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from importlib import import_module

from adapter_core.errors import FormatBenchError

TIMEOUT_SECONDS = 900

UNSOLVED = "No solution found when resolving dependencies: "
"""The beginning of what uv says whenever there is none; the reason follows."""


class Unresolvable(FormatBenchError):
    """Requirements that no set of versions meets, or a package index that does not answer."""


def noon(day: date) -> datetime:
    """Return the moment of a day that stands for it: it is the same date in nearly all time zones."""
    return datetime.combine(day, time(12), tzinfo=UTC)


def resolve(
    requirements: Iterable[str],
    python_version: str,
    exclude_newer: date | None = None,
    *,
    wheels_only: bool = False,
) -> str:
    """Return pins that meet the requirements, for all platforms and from a version of Python on.

    Parameters
    ----------
    requirements : iterable of str
        As pip takes them, as in ``"pyarrow>=15"``.
    python_version : str
        The lowest version of Python, as in "3.11".
    exclude_newer : date, optional
        Take the packages that had been uploaded by noon, UTC, of that day. The package index must tell
        upload times, as PyPI does.
    wheels_only : bool
        Take packages that need no compiler on this platform, for this platform and version of Python
        alone.

    Returns
    -------
    str
        A line for each package and marker, as in ``pyarrow==15.0.0``, ordered by name.

    Raises
    ------
    Unresolvable
        If there are no such versions, or no index; the message gives the resolver's reason.
    FormatBenchError
        If uv is not installed.
    """
    options = ["--python-version", python_version]
    options += ["--only-binary", ":all:"] if wheels_only else ["--universal"]
    if exclude_newer is not None:
        options += ["--exclude-newer", f"{noon(exclude_newer):%Y-%m-%dT%H:%M:%SZ}"]
    try:
        done = _compiled(requirements, options)
    except subprocess.TimeoutExpired as error:
        raise Unresolvable(f"no answer after {TIMEOUT_SECONDS} seconds") from error
    if done.returncode:
        raise Unresolvable(reason(done.stderr))
    return done.stdout


def _compiled(requirements: Iterable[str], options: list[str]) -> subprocess.CompletedProcess[str]:
    quiet = ["--no-header", "--no-annotate", "--quiet", "--color", "never"]
    return subprocess.run(  # noqa: S603 (the arguments are our own)
        [_uv(), "pip", "compile", "-", *options, *quiet],
        input="\n".join(requirements),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def reason(told: str) -> str:
    """Return the resolver's reason in one line, from what it has printed on the standard error output.

    A line "error: ..." says what failed, lines "cause: ..." below it why; hints follow a blank line.
    """
    _, _, failed = f"\n{told}".rpartition("\nerror: ")
    sentence = failed.partition("\n\n")[0].replace("\n  cause: ", ": ").removeprefix(UNSOLVED)
    return " ".join(sentence.split()) or "the resolver gave no reason"


def _uv() -> str:
    try:
        path: str = import_module("uv").find_uv_bin()
    except (ImportError, FileNotFoundError) as error:
        raise FormatBenchError("uv is not installed; try: python -m pip install .[site]") from error
    return path
