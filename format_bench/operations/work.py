"""What the steps do with a kind of data, tables or sets of images: one of these in each process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapter_core.adapter import BaseAdapter
    from format_bench.operations.cases import Measured


class Work(ABC):
    """An adapter whose libraries are imported, and how data go in and out of it."""

    adapter: BaseAdapter

    @abstractmethod
    def load(self, data: Path) -> Any:
        """Return the data to save, from where `make_data` left them."""

    @abstractmethod
    def check(self, data: Any) -> None:
        """Raise `CannotHoldError` if the adapter cannot hold the data."""

    @abstractmethod
    def save(self, data: Any, file: Path) -> None:
        """Save the data; the call that is measured."""

    @abstractmethod
    def read(self, file: Path) -> Any:
        """Read everything into memory; the call that is measured."""

    @abstractmethod
    def verify(self, data: Any, found: Any) -> Measured:
        """Compare what was read with what was saved; return how much was lost.

        Raises
        ------
        WrongValuesError
            If anything came back with another value.
        """

    @abstractmethod
    def about(self, file: Path) -> list[Measured]:
        """Return what a saved file tells: its size, and more."""
