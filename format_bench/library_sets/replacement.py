"""Library sets with one package replaced: this environment's versions, installed beside it by uv."""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote

from adapter_core.errors import InvalidRequestError, ResolutionError
from format_bench.library_sets.resolution import resolve_near, run_uv
from format_bench.library_sets.sets import VersionChange, version_changes
from format_bench.system import library_set

# In a set, once all of its packages are installed.
_PINS = "pins.txt"

_PROJECT = "formatbench"


@dataclass(frozen=True)
class Replacement:
    """A package in the version that a set shall have."""

    package: str
    """Canonical name."""
    requirement: str
    """E.g. "pyarrow==25.0.0", or "pyarrow @ file:///tmp/pyarrow.whl"."""
    wheel: Path | None = None

    @classmethod
    def parse(cls, text: str) -> Replacement:
        """Return the replacement that a requirement, or the path of a wheel, names.

        Raises
        ------
        InvalidRequestError
            If it is none, or the wheel is missing.
        """
        from packaging.requirements import InvalidRequirement, Requirement
        from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

        if text.endswith(".whl"):
            wheel = Path(text).absolute()
            try:
                package = parse_wheel_filename(wheel.name)[0]
            except InvalidWheelFilename as error:
                raise InvalidRequestError(f"{text}: {error}") from error
            if not wheel.is_file():
                raise InvalidRequestError(f"{text}: there is no such wheel")
            return cls(package, f"{package} @ {wheel.as_uri()}", wheel)
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            raise InvalidRequestError(f"{text!r} is no requirement: {error}") from error
        if requirement.url or requirement.marker:
            raise InvalidRequestError(
                f"{text!r}: name a version, as in pyarrow==25.0.0, or a wheel's file"
            )
        return cls(canonicalize_name(requirement.name), text)

    @classmethod
    def installed(cls, package: str) -> Replacement:
        """Return a package in the version of this environment.

        Raises
        ------
        InvalidRequestError
            If it is not installed.
        """
        try:
            return cls(package, f"{package}=={metadata.version(package)}")
        except metadata.PackageNotFoundError as error:
            reason = f"{package} is not installed here; name the other version by --with"
            raise InvalidRequestError(reason) from error


@dataclass(frozen=True)
class ReplacedSet:
    """An installed library set with one package replaced."""

    name: str
    """Name of its environment, as the axis of library sets takes it."""
    package: str
    version: str
    """Of the package."""
    pins: dict[str, str]
    """Versions, or addresses of wheels, by canonical name."""

    def differences(self, other: ReplacedSet) -> list[VersionChange]:
        """Return the packages beside the replaced one whose versions differ in another set."""
        return [each for each in version_changes(self.pins, other.pins) if each.name != self.package]


def install(wanted: Replacement, requirements: Iterable[str], index: str | None = None) -> ReplacedSet:
    """Install this environment's versions of the requirements, with one package replaced.

    All other versions are kept, except where the replaced package rules one out. A set that was
    installed before is taken as it is.

    Parameters
    ----------
    wanted : Replacement
        The package.
    requirements : iterable of str
        Requirement strings beside the project's own; their versions of the package do not count.
    index : str, optional
        Address of a further package index, e.g. of nightly builds, whose pre-releases count, too.

    Raises
    ------
    ResolutionError
        If no such set exists, or it cannot be installed.
    """
    asked = [each for each in (*_own_requirements(), *requirements) if _name(each) != wanted.package]
    kept = [f"{name}=={each}" for name, each in _installed().items() if name != wanted.package]
    options = [] if index is None else _options(index)
    wheels = ["--python", sys.executable, "--only-binary", ":all:"]
    requested = [*sorted(set(asked)), wanted.requirement]
    text = resolve_near(requested, "\n".join(kept), [*wheels, *options])
    pins = _parse(text)
    content = hashlib.sha256(text.encode())
    if wanted.wheel is not None:
        content.update(wanted.wheel.read_bytes())
    version = _version_of(pins[wanted.package])
    name = f"{wanted.package}-{version}-{content.hexdigest()[:8]}"
    place = library_set.folder() / name
    if not (place / _PINS).exists():
        _install(place, text, options)
    return ReplacedSet(name, wanted.package, version, pins)


@functools.cache
def _installed() -> dict[str, str]:
    """Return the versions of this environment by canonical name."""
    found = {_name(each.name): each.version for each in metadata.distributions()}
    return {name: version for name, version in found.items() if name != _PROJECT}


def _install(place: Path, pins: str, options: list[str]) -> None:
    """Install pins into a new environment; one that was not finished is removed."""
    run_uv("venv", "--clear", "--python", sys.executable, str(place))
    python = ["--python", str(place / "bin" / "python")]
    how = ["--no-deps", "--only-binary", ":all:", "--requirement", "-"]
    run_uv("pip", "install", *python, *how, *options, text=pins)
    (place / _PINS).write_text(pins, encoding="utf-8")


def _options(index: str) -> list[str]:
    # By default uv takes a package from the first index that has it, whatever the versions.
    return ["--index", index, "--index-strategy", "unsafe-best-match", "--prerelease", "allow"]


def _own_requirements() -> list[str]:
    """Return the requirements of this project without extras, which each measuring process needs."""
    from packaging.requirements import Requirement

    try:
        declared = map(Requirement, metadata.requires(_PROJECT) or ())
    except metadata.PackageNotFoundError as error:
        reason = "the project is not installed here, so that its requirements are not known"
        raise ResolutionError(f'{reason}; try: pip install --editable ".[all]"') from error
    return [str(each) for each in declared if each.marker is None]


def _name(requirement: str) -> str:
    from packaging.utils import canonicalize_name

    return canonicalize_name(re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0])


def _parse(pins: str) -> dict[str, str]:
    """Return versions, or addresses, by name."""
    lines = [line.partition(" ; ")[0] for line in pins.splitlines() if line and not line.startswith("#")]
    return {_name(line): line.partition("==")[2] or line.partition(" @ ")[2] for line in lines}


def _version_of(pin: str) -> str:
    """Return the version of a pin, or of the wheel that it names."""
    from packaging.utils import parse_wheel_filename

    return str(parse_wheel_filename(Path(unquote(pin)).name)[1]) if pin.endswith(".whl") else pin
