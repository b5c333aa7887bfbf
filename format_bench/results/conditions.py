"""Conditions of a measurement: the values of axes such as page cache, threads or medium, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal


class Conditions(Mapping[str, str]):
    """Values of axes by name, without those that have none; can be hashed.

    Parameters
    ----------
    values : mapping of str to str or None
        Values by name of the axis; those that are empty or None are left out.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str | None] | None = None) -> None:
        self._values = {name: value for name, value in sorted((values or {}).items()) if value}

    def __getitem__(self, name: str) -> str:
        """Return the value of an axis."""
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, in alphabetical order."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._values)

    def __hash__(self) -> int:
        """Return a hash of names and values."""
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        """Return names and values."""
        return f"Conditions({self._values})"

    def __or__(self, others: Mapping[str, str | None]) -> Conditions:
        """Return these conditions with other values of some axes."""
        return Conditions({**self._values, **others})


WITHIN_A_PLACE = {"cache", "error bound", "settings", "threads", "track"}
"""Axes that tables have columns, groups or labels for; values of the others separate data sets."""


def place_of(dataset: str, conditions: Mapping[str, str]) -> str:
    """Return a data set with the conditions that set it apart, e.g. "core on tmpfs, link 20 ms".

    Values of two places never compare. The data set alone where no further axis has a value.
    """
    medium = conditions.get("medium")
    further = [
        f"{name} {value}"
        for name, value in sorted(conditions.items())
        if name not in {*WITHIN_A_PLACE, "medium"}
    ]
    return ", ".join([f"{dataset} on {medium}" if medium else dataset, *further])


def threads_in_words(policy: str) -> str:
    """Return a thread policy in words."""
    return "1 thread" if policy == "1" else "all threads"


class Conditioned:
    """Conditions and place of a case or a record, which has the two fields."""

    dataset: str
    conditions: Mapping[str, str]

    @property
    def cache(self) -> str | None:
        """State of the page cache: "warm" or "cold"; None where it does not apply."""
        return self.conditions.get("cache")

    @property
    def threads(self) -> Literal["1", "all"]:
        """Thread policy."""
        return "1" if self.conditions.get("threads") == "1" else "all"

    @property
    def track(self) -> str:
        """Way to write the file that a suite declares, e.g. "paper"; empty if it declares none."""
        return self.conditions.get("track", "")

    @property
    def medium(self) -> str:
        """The medium of the file, e.g. "tmpfs" or "emulated hdd"; empty if no media are compared."""
        return self.conditions.get("medium", "")

    @property
    def place(self) -> str:
        """The data set with the conditions that set it apart, e.g. "core on tmpfs"."""
        return place_of(self.dataset, self.conditions)
