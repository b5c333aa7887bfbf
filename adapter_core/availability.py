"""Availability of adapters: their packages are imported, and any failure becomes a reason."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Availability:
    """Availability of an adapter, or of a codec, on this machine."""

    available: bool
    reason: str = ""
    """Reason as a phrase; empty if available."""
    install_hint: str = ""
    """Command that would make it available."""
    versions: dict[str, str] = field(default_factory=dict)
    """Version of each required distribution; empty unless available."""

    def __bool__(self) -> bool:
        return self.available


def probe(requires: tuple[str, ...], modules: dict[str, str], install_hint: str) -> Availability:
    """Import every required package and compare its version with the requirement.

    Parameters
    ----------
    requires : tuple of str
        Requirement strings, e.g. ``"pyarrow>=15"``.
    modules : dict
        Module to import for a distribution whose module has another name.
    install_hint : str
        The command to suggest if a package is missing.
    """
    from packaging.requirements import Requirement

    versions: dict[str, str] = {}
    for text in requires:
        requirement = Requirement(text)
        reason = import_failure(modules.get(requirement.name, requirement.name))
        if reason:
            return Availability(available=False, reason=reason, install_hint=install_hint)
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            continue  # a module of the standard library, or on the path without being installed
        versions[requirement.name] = version
        if not requirement.specifier.contains(version, prereleases=True):
            reason = f"{requirement.name} {version} is installed, {text} is required"
            return Availability(available=False, reason=reason, install_hint=install_hint)
    return Availability(available=True, versions=versions)


def missing_package(requires: tuple[str, ...], modules: dict[str, str]) -> str:
    """Return the reason why required packages cannot be imported; nothing is imported to find it.

    Empty if all are installed; a package may be broken all the same, which only `probe` finds.

    Parameters
    ----------
    requires, modules
        As `probe` takes them.
    """
    from packaging.requirements import Requirement

    for text in requires:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate():
            return f"{requirement.name} is not made for this machine"
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            module = modules.get(requirement.name, requirement.name).partition(".")[0]
            if importlib.util.find_spec(module) is None:
                return f"{requirement.name} is not installed"
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            return f"{requirement.name} {version} is installed, {text} is required"
    return ""


def import_failure(module: str) -> str:
    """Import a module; return the reason of a failure, or an empty string."""
    try:
        importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        if error.name == module:
            return f"{module} is not installed"
        return f"import of {module} failed: {error}"
    except BaseException as error:
        # A missing system library is an OSError, and some packages exit the interpreter.
        return f"import of {module} failed: {type(error).__name__}: {error}"
    return ""
