"""Import of the packages that contain real data sets."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from adapter_core import UnavailableError
from adapter_core.availability import probe


def module_of(label: str, distribution: str, package: str, module: str) -> Any:
    """Return a module of an optional package that contains real data.

    Parameters
    ----------
    label : str
        Name of the data set in the message of the error.
    distribution, package : str
        Names of the package for pip and for the import system.
    module : str
        Its module.

    Raises
    ------
    UnavailableError
        If the package is missing or broken.
    """
    hint = f"python -m pip install {distribution}"
    available = probe((distribution,), {distribution: package}, hint)
    if not available:
        raise UnavailableError(label, available.reason, hint)
    return import_module(module)
