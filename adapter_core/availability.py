"""Whether an adapter can work here: its packages are truly imported, and whatever they throw is told."""

from __future__ import annotations

import importlib
import importlib.metadata
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Availability:
    """The answer to "can this adapter work on this machine?"."""

    available: bool
    reason: str = ""
    """Why not, as a phrase; empty when available."""
    install_hint: str = ""
    """The command that would make it available."""
    versions: dict[str, str] = field(default_factory=dict)
    """Version of each required distribution; empty unless available."""

    def __bool__(self) -> bool:
        return self.available


def probe(requires: tuple[str, ...], modules: dict[str, str], install_hint: str) -> Availability:
    """Import every required package and compare its version with what is required.

    Parameters
    ----------
    requires : tuple of str
        Requirement strings, as in ``"pyarrow>=15"``.
    modules : dict
        Module to import for a distribution whose module has another name.
    install_hint : str
        The command to name when something is missing.
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
            continue
        versions[requirement.name] = version
        if not requirement.specifier.contains(version, prereleases=True):
            reason = f"{requirement.name} {version} is installed, {text} is required"
            return Availability(available=False, reason=reason, install_hint=install_hint)
    return Availability(available=True, versions=versions)


def import_failure(module: str) -> str:
    """Import a module; return why that failed, or an empty string.

    A broken package may raise anything: a missing system library is an OSError, and some packages
    exit the interpreter.
    """
    try:
        importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        if error.name == module:
            return f"{module} is not installed"
        return f"import of {module} failed: {error}"
    except BaseException as error:
        return f"import of {module} failed: {type(error).__name__}: {error}"
    return ""
