"""Registry of named data sets, which are declared in the modules of this folder.

Each file declares ``DATASETS``, a tuple of `data_generator.dataset.DatasetDefinition`. Files whose names
start with an underscore are not listed.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from adapter_core import UnknownNameError
from data_generator.dataset import DatasetDefinition


def definitions(family: str | None = None) -> list[DatasetDefinition]:
    """Return the definitions of all data sets, or of a family's.

    Synthetic data sets come before real ones; both are ordered by file name and by their place in the
    file.
    """
    files = sorted(module.name for module in pkgutil.iter_modules(__path__))
    # Not cached: imported modules are, and a listing takes less than a millisecond.
    modules = [import_module(f"{__name__}.{name}") for name in files if name[0] != "_"]
    found = [each for module in modules for each in module.DATASETS if family in (None, each.family)]
    return sorted(found, key=lambda each: each.is_real)  # a stable sort


def names(family: str | None = None) -> list[str]:
    """Return the names of all data sets, or of a family's."""
    return [each.name for each in definitions(family)]


def requirements(family: str) -> set[str]:
    """Return the distributions that the data sets of a family require."""
    return {package for each in definitions(family) for package in each.requires}


def find(name: str, family: str | None = None, kind: str = "data set") -> DatasetDefinition:
    """Return the definition of a data set.

    Parameters
    ----------
    name : str
        Name of the data set.
    family : str, optional
        Family that the data set has to belong to; any if not given.
    kind : str
        Noun for such a data set in the message of the error.

    Raises
    ------
    UnknownNameError
        If the family has no data set of that name; the message contains near matches.
    """
    known = {each.name: each for each in definitions(family)}
    if name not in known:
        raise UnknownNameError(kind, name, known)
    return known[name]
