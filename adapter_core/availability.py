"""Availability of adapters: packages are imported, or looked up; any failure becomes a reason."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import logging
import warnings
from collections.abc import Callable
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


def install_hint(extra: str) -> str:
    """Return the command that installs an extra of this project, from any folder."""
    return f'pip install "formatbench[{extra}]"'


def import_failure(module: str) -> str:
    """Import a module; return the reason of a failure, or an empty string.

    Warnings meanwhile are not shown, and are not failures where warnings are errors: Grain logs that it
    has no JAX to be profiled by, and pyproj warns if it does not find its database.
    """
    disabled = logging.root.manager.disable
    logging.disable(max(disabled, logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
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
    finally:
        logging.disable(disabled)
    return ""


def absence(module: str) -> str:
    """Look a module's package up without importing it; return why it is missing, or an empty string."""
    found = importlib.util.find_spec(module.partition(".")[0])
    return "" if found else f"{module} is not installed"


def probe(
    requires: tuple[str, ...],
    modules: dict[str, str],
    install_hint: str,
    failure: Callable[[str], str] = import_failure,
    version_of: Callable[[str], str | None] | None = None,
) -> Availability:
    """Import every required package and compare its version with the requirement.

    Parameters
    ----------
    requires : tuple of str
        Requirement strings, e.g. ``"pyarrow>=15"``.
    modules : dict
        Module to import for a distribution whose module has another name.
    install_hint : str
        The command to suggest if a package is missing.
    failure : callable, optional
        Returns why a module is of no use, or an empty string; `absence` imports nothing, which is
        quicker, and finds no broken package.
    version_of : callable, optional
        Returns the version of a distribution, None if it is missing; by default here.
    """
    from packaging.requirements import Requirement

    versions: dict[str, str] = {}
    for text in requires:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate():
            reason = f"{requirement.name} is not made for this machine"
            return Availability(available=False, reason=reason, install_hint=install_hint)
        reason = failure(modules.get(requirement.name, requirement.name))
        if reason:
            return Availability(available=False, reason=reason, install_hint=install_hint)
        version = (version_of or _version_here)(requirement.name)
        if version is None:
            continue  # a module of the standard library, or on the path without being installed
        versions[requirement.name] = version
        if not requirement.specifier.contains(version, prereleases=True):
            reason = f"{requirement.name} {version} is installed, {text} is required"
            return Availability(available=False, reason=reason, install_hint=install_hint)
    return Availability(available=True, versions=versions)


def _version_here(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
