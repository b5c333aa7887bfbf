"""Resolution of the project's requirements to one version of each package, as of today or earlier."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from importlib import import_module
from importlib.metadata import PackageMetadata, PathDistribution
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core import FormatBenchError
from adapter_core.errors import ResolutionError
from adapter_core.files import write_atomically
from format_bench.library_sets.sets import (
    HEAD,
    LOCK_HEAD,
    LOCKED,
    VersionChange,
    parse,
    read,
    version_changes,
)

# Key of the requirements that belong to no extra; the other keys are names of extras.
REQUIRED = ""

# uv resolves the set in seconds; an index that hardly answers takes minutes.
TIMEOUT_SECONDS = 900

# Prefix of uv's message if no versions fit; the reason follows.
UNSOLVED = "No solution found when resolving dependencies: "


def declared(root: Path) -> dict[str, list[str]]:
    """Return the requirements of a checkout by extra, and under `REQUIRED` those without one.

    Extras that an extra names are left out: they have keys of their own.

    Parameters
    ----------
    root : Path
        The folder of setup.py.

    Returns
    -------
    dict
        Requirement strings without the marker of their extra, e.g. ``"pyarrow>=15"``, ordered.

    Raises
    ------
    ResolutionError
        If the build backend cannot be installed, e.g. because no package index is in reach.
    FormatBenchError
        If the build fails.
    """
    from packaging.requirements import Requirement

    metadata = _metadata(root)
    extras = metadata.get_all("Provides-Extra") or []
    found: dict[str, set[str]] = {extra: set() for extra in [REQUIRED, *extras]}
    for text in metadata.get_all("Requires-Dist") or []:
        requirement = Requirement(text)
        marker, requirement.marker = requirement.marker, None
        # An extra names another one as a requirement of the project itself, e.g. formatbench[report].
        if requirement.name == metadata["Name"]:
            continue
        for extra in extras if marker else [REQUIRED]:
            if marker is None or marker.evaluate({"extra": extra}):
                found[extra].add(str(requirement))
    return {extra: sorted(requirements) for extra, requirements in found.items()}


def _metadata(root: Path) -> PackageMetadata:
    """Return the metadata of a checkout, made by its build backend in an environment of its own."""
    from build import BuildBackendException, BuildException, ProjectBuilder
    from build.env import DefaultIsolatedEnv
    from pyproject_hooks import quiet_subprocess_runner

    try:
        with DefaultIsolatedEnv(installer="uv") as environment, TemporaryDirectory() as folder:
            builder = ProjectBuilder.from_isolated_env(environment, root, quiet_subprocess_runner)
            environment.install(builder.build_system_requires)
            environment.install(builder.get_requires_for_build("wheel"))
            return PathDistribution(Path(builder.metadata_path(folder))).metadata
    except subprocess.CalledProcessError as error:
        reason = resolver_reason((error.stderr or b"").decode())
        raise ResolutionError(f"the build backend cannot be installed: {reason}") from error
    except (BuildException, BuildBackendException) as error:
        raise FormatBenchError(f"{root}: the metadata of setup.py cannot be read: {error}") from error


def noon(day: date) -> datetime:
    """Return noon of a day in UTC: a moment that has the same date in nearly all time zones."""
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
        Requirement strings, e.g. ``"pyarrow>=15"``.
    python_version : str
        The lowest version of Python, e.g. "3.11".
    exclude_newer : date, optional
        Use only packages uploaded by noon, UTC, of that day. The package index must have upload
        times, as PyPI does.
    wheels_only : bool
        Use only packages that need no compiler on this platform, and resolve for this platform and
        version of Python alone.

    Returns
    -------
    str
        A line for each package and marker, e.g. ``pyarrow==15.0.0``, ordered by name.

    Raises
    ------
    ResolutionError
        If no such versions exist, or no index is in reach; the message is the resolver's reason.
    FormatBenchError
        If uv is not installed.
    """
    options = ["--python-version", python_version]
    # An old source archive would be built with today's compilers, for an hour or in vain.
    options += ["--only-binary", ":all:"] if wheels_only else ["--universal"]
    return _compile(requirements, options, exclude_newer)


def resolve_near(
    requirements: Iterable[str],
    preferred: str,
    options: Sequence[str],
    exclude_newer: date | None = None,
) -> str:
    """Return pins that meet the requirements, and differ least from a set.

    Parameters
    ----------
    requirements : iterable of str
        Requirement strings.
    preferred : str
        Pins, a line each, which are kept unless a requirement rules one out.
    options : sequence of str
        Further options of uv, e.g. package indexes.
    exclude_newer : date, optional
        Use only files uploaded by noon of that day.

    Raises
    ------
    ResolutionError
        If no such versions exist, or no index is in reach.
    """
    with TemporaryDirectory() as folder:
        # uv prefers the versions in an output file that exists.
        pins = Path(folder, "pins.txt")
        pins.write_text(preferred, encoding="utf-8")
        _compile(requirements, [*options, "--output-file", str(pins)], exclude_newer)
        return pins.read_text(encoding="utf-8")


def lock(constraints: Path, exclude_newer: date | None = None, pins: str = "") -> None:
    """Write the hashes of the files of a set, as a file of requirements beside its own.

    Parameters
    ----------
    constraints : Path
        The file of the set.
    exclude_newer : date, optional
        Use only files uploaded by noon of that day.
    pins : str
        The set; the file's if empty.

    Raises
    ------
    ResolutionError
        If a pinned version is not in the index, or no index is in reach.
    """
    lines = (pins or constraints.read_text(encoding="utf-8")).splitlines()
    options = ["--python-version", running_python(), "--universal", "--no-deps", "--generate-hashes"]
    text = LOCK_HEAD + _compile(lines, options, exclude_newer)
    with write_atomically(constraints.with_suffix(LOCKED)) as temporary:
        temporary.write_text(text, encoding="utf-8")


def running_python() -> str:
    """Return the version of the running Python that sets are resolved for, e.g. "3.11"."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _compile(requirements: Iterable[str], options: list[str], exclude_newer: date | None) -> str:
    if exclude_newer is not None:
        options = [*options, "--exclude-newer", f"{noon(exclude_newer):%Y-%m-%dT%H:%M:%SZ}"]
    quiet = ["--no-header", "--no-annotate"]
    return run_uv("pip", "compile", "-", *options, *quiet, text="\n".join(requirements))


def run_uv(*arguments: str, text: str = "", timeout_seconds: float = TIMEOUT_SECONDS) -> str:
    """Run uv with a text as its input, and return its output.

    Raises
    ------
    ResolutionError
        If it fails, or has not ended after so many seconds; the message is the reason.
    FormatBenchError
        If uv is not installed.
    """
    try:
        done = subprocess.run(  # noqa: S603 (the arguments are our own)
            [_uv(), "--quiet", "--color", "never", *arguments],
            input=text,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ResolutionError(f"no answer after {timeout_seconds:.0f} seconds") from error
    if done.returncode:
        raise ResolutionError(resolver_reason(done.stderr))
    return done.stdout


def resolver_reason(stderr: str) -> str:
    """Return the reason in uv's standard error output, in one line.

    A line "error: ..." names the failure, lines "cause: ..." below it the reasons; hints follow a blank
    line.
    """
    _, _, failure = f"\n{stderr}".rpartition("\nerror: ")
    sentence = failure.partition("\n\n")[0].replace("\n  cause: ", ": ").removeprefix(UNSOLVED)
    return " ".join(sentence.split()) or "the resolver gave no reason"


def _uv() -> str:
    try:
        path: str = import_module("uv").find_uv_bin()
    except (ImportError, FileNotFoundError) as error:
        if found := shutil.which("uv"):
            return found
        raise FormatBenchError('uv is not installed; try: pip install "formatbench[site]"') from error
    return path


def renew(
    constraints: Path,
    requirements: Mapping[str, Iterable[str]],
    exclude_newer: date | None = None,
    *,
    dry_run: bool = False,
) -> list[VersionChange]:
    """Resolve the requirements of a checkout, and write its two files of pins if versions change.

    Parameters
    ----------
    constraints : Path
        The file, beside setup.py; it may be missing.
    requirements : mapping
        The result of `declared`.
    exclude_newer : date, optional
        Use only packages uploaded by noon of that day.
    dry_run : bool
        Write nothing.

    Returns
    -------
    list of VersionChange
        The changes; empty if nothing has changed.

    Raises
    ------
    ResolutionError
        If the requirements cannot be met; the set stays as it was.
    """
    python_version = running_python()
    needed = {text for texts in requirements.values() for text in texts}
    text = resolve(sorted(needed), python_version, exclude_newer)
    # Pins for other versions of Python do not count: nothing that is measured here would change.
    changes = version_changes(read(constraints) if constraints.exists() else {}, parse(text))
    if changes and not dry_run:
        # First: after a kill between both files the next call finds the same changes.
        lock(constraints, exclude_newer, text)
        with write_atomically(constraints) as temporary:
            temporary.write_text(HEAD.format(python_version=python_version) + text, encoding="utf-8")
    return changes
