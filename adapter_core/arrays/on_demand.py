"""Mapping whose values are read on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class OnDemand(Mapping[str, Any], Generic[T]):
    """A mapping whose values are read when they are first requested."""

    def __init__(self, items: Mapping[str, T], read: Callable[[T], Any]) -> None:
        self._items, self._read, self._values = items, read, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        """Return a value, which is read only once."""
        if name not in self._values:
            self._values[name] = self._read(self._items[name])
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names; reads nothing."""
        return iter(self._items)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._items)
