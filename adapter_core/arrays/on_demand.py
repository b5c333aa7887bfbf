"""Mapping whose values are read on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class OnDemand(Mapping[str, Any], Generic[T]):
    """A mapping whose values are read when they are first requested.

    Parameters
    ----------
    items : mapping, or callable
        Source of the values, by name; a function that returns them is called at the first use.
    read : callable
        Takes an item and returns its value.
    """

    def __init__(
        self, items: Mapping[str, T] | Callable[[], Mapping[str, T]], read: Callable[[T], Any]
    ) -> None:
        self._given, self._read, self._values = items, read, dict[str, Any]()

    @cached_property
    def _items(self) -> Mapping[str, T]:
        return self._given() if callable(self._given) else self._given

    def __getitem__(self, name: str) -> Any:
        """Return a value, which is read only once."""
        if name not in self._values:
            self._values[name] = self._read(self._items[name])
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names; reads no values."""
        return iter(self._items)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._items)
