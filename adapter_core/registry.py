"""Registry of adapters: the files of a folder, and the entry points of other packages."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar, cast

from adapter_core.adapter import BaseAdapter
from adapter_core.errors import UnavailableError, UnknownNameError
from adapter_core.listing import CLASS_NAME, Declaration, declarations

A = TypeVar("A", bound=BaseAdapter)


class Registry(Generic[A]):
    """Adapters of one family, by label.

    Parameters
    ----------
    package : str
        The package whose folder is listed; also the second part of the entry-point group.
    folder : Path
        That package's folder.
    noun : str
        Name of a member in messages, e.g. "data format".
    """

    def __init__(self, package: str, folder: Path, noun: str) -> None:
        self.package = package
        self.folder = folder
        self.noun = noun

    def names(self) -> list[str]:
        """Return the labels of all adapters, available or not, in alphabetical order."""
        own = [each.label for each in declarations(self.folder)]
        return own + [name for name in sorted(self._entry_points()) if name not in own]

    def groups(self) -> dict[str, str]:
        """Return the `suite` that each adapter declares, by label; empty for usual ones."""
        declared = {each.label: each.suite for each in declarations(self.folder)}
        return {name: declared.get(name, "") for name in self.names()}

    def usual_names(self) -> list[str]:
        """Return the labels that a comparison measures by default.

        These are the adapters of the family's first suite, and adapters of other packages.
        """
        return [name for name, group in self.groups().items() if not group]

    def find(self, name: str) -> A:
        """Return the adapter with that label, available or not.

        Raises
        ------
        UnknownNameError
            If the label does not exist; the message lists near matches.
        """
        for each in declarations(self.folder):
            if each.label == name:
                return self._own(each)
        entry_points = self._entry_points()
        if name not in entry_points:
            raise UnknownNameError(self.noun, name, self.names())
        entry = entry_points[name]
        try:
            return entry.load()()
        except Exception as error:
            reason = f"{entry.value} failed to load: {type(error).__name__}: {error}"
            origin = entry.dist.name if entry.dist else entry.value
            raise UnavailableError(name, reason, f"pip install --upgrade {origin}") from error

    def get(self, name: str) -> A:
        """Return the adapter with that label, ready to work.

        Raises
        ------
        UnknownNameError
            If the label does not exist; the message lists near matches.
        UnavailableError
            If a required package is missing or broken; the message contains reason and remedy.
        """
        adapter = self.find(name)
        answer = adapter.availability()
        if not answer:
            further = adapter.excluded_from_all, adapter.outside_library_set
            reason = "; ".join(filter(None, [answer.reason, *further]))
            raise UnavailableError(name, reason, answer.install_hint)
        return adapter

    def _own(self, declared: Declaration) -> A:
        if not declared.table_class:
            module = importlib.import_module(f"{self.package}.{declared.stem}")
            return cast("A", getattr(module, CLASS_NAME)())
        name, _, attribute = declared.table_class.partition(":")
        made_by = getattr(importlib.import_module(name), attribute)
        return cast("A", made_by(declared.facts, self.folder / declared.stem))

    def _entry_points(self) -> dict[str, importlib.metadata.EntryPoint]:
        return {entry.name: entry for entry in entry_points(f"format_bench.{self.package}")}


def entry_points(group: str) -> tuple[importlib.metadata.EntryPoint, ...]:
    """Return the entry points of a group in all installed packages."""
    return _by_group(tuple(_folders())).get(group, ())


@functools.lru_cache(maxsize=1)
def _by_group(
    _state: tuple[tuple[str, int], ...],
) -> dict[str, tuple[importlib.metadata.EntryPoint, ...]]:
    # A file of each package is read for it.
    found = importlib.metadata.entry_points()
    return {group: tuple(found.select(group=group)) for group in found.groups}


def _folders() -> Iterator[tuple[str, int]]:
    """Yield the folders of packages with the times of their last changes, as by an installation."""
    for each in sys.path:
        try:
            yield each, Path(each).stat().st_mtime_ns
        except OSError:
            continue
