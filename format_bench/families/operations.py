"""Operations of a family: generate, store, load, check, save, read, verify, measure a file.

Each family's package has a module `operations` with a subclass, named by its constant `OPERATIONS`.
The runner and the asv suites call the same operations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from data_generator import datasets
from format_bench.instruments import page_cache
from format_bench.instruments.clock import open_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adapter_core import BaseAdapter, Registry
    from format_bench.results.suites import Family


@dataclass(frozen=True)
class Measured:
    """Samples of one metric."""

    metric: str
    repeats: Sequence[float]
    """In the order taken and in the metric's unit; the value is their median."""
    sentence: str = ""
    """Optional remark."""


class Operations(ABC):
    """An adapter, its libraries imported, and the operations on data of its family.

    Parameters
    ----------
    adapter : BaseAdapter
        An adapter that is available.
    codec, level
        The codec to save with, and its level; None for none.
    """

    def __init__(self, adapter: BaseAdapter, codec: str | None = None, level: int | None = None) -> None:
        self.adapter: Any = adapter
        self.codec, self.level = codec, level

    @staticmethod
    @abstractmethod
    def datasets() -> list[str]:
        """Return the names of the data sets that `generate` knows."""

    @staticmethod
    @abstractmethod
    def describe(dataset: str) -> str:
        """Return one line on a data set."""

    @staticmethod
    def run_size(dataset: str, usual: int) -> int:  # noqa: ARG004 (a family may have small data sets)
        """Return the rows, or images, of a data set that the runner takes if no number is given."""
        return usual

    @staticmethod
    @abstractmethod
    def generate(dataset: str, size: int | None) -> Any:
        """Return a data set of a number of rows, or images; of all that it has if `size` is None.

        Raises
        ------
        UnknownNameError, UnavailableError, TooFewRowsError
            If there is none of that name, a package is missing, or a real one is smaller.
        """

    @staticmethod
    @abstractmethod
    def store(data: Any, path: Path) -> tuple[int, int]:
        """Store generated data for `load`; return the number of rows and of columns, or their like."""

    @staticmethod
    @abstractmethod
    def load(path: Path) -> Any:
        """Return the data that `store` has stored."""

    @staticmethod
    @abstractmethod
    def take(data: Any, positions: Sequence[int]) -> Any:
        """Return the rows, or images, of data at some positions, e.g. a sample of them."""

    @staticmethod
    def raw_bytes(data: Any) -> int | None:  # noqa: ARG004 (a family may know it)
        """Return the size of data in memory, if saving asks for free disk space beforehand."""
        return None

    def expect(self, data: Path) -> None:  # noqa: B027 (few families need any)
        """Note facts of stored data that reads depend on, without loading the data."""

    @abstractmethod
    def warm_up(self) -> None:
        """Save and read something tiny, so that no measured call imports a library."""

    @abstractmethod
    def check(self, data: Any) -> None:
        """Raise `CannotHoldError` if the adapter cannot keep the data."""

    @abstractmethod
    def save(self, data: Any, file: Path) -> None:
        """Save the data; the call that is measured."""

    @abstractmethod
    def read(self, file: Path) -> Any:
        """Read everything into memory; the call that is measured."""

    @abstractmethod
    def verify(self, data: Any, found: Any) -> Measured:
        """Compare the data read with the data saved; return the family's metric of loss.

        Raises
        ------
        WrongValuesError
            If anything came back with another value.
        """

    def track(
        self,
        metric: str,
        file: Path,
        *,
        cache: str | None = None,  # noqa: ARG002 (a family's own metrics may depend on it)
        budget_seconds: float = 0.0,
    ) -> Measured:
        """Measure another metric of a saved file: size, files, opening, or one of the family's own.

        Parameters
        ----------
        metric : str
            Its name.
        file : Path
            The saved file.
        cache : str, optional
            State of the page cache that the measurement starts from, "warm" or "cold".
        budget_seconds : float
            Wall time for repeats.

        Raises
        ------
        NotColdError
            If the file cannot be evicted from the page cache.
        """
        if metric == "size":
            return Measured(metric, [self.adapter.size_bytes(file)])
        if metric == "files":
            return Measured(metric, [len(list(page_cache.files_of(file)))])
        if metric == "open time":
            return Measured(metric, open_seconds(lambda: self.adapter.open(file), budget_seconds))
        raise AssertionError(f"{type(self).__name__} cannot measure {metric}")

    def sample(
        self,
        metric: str,
        file: Path,
        *,
        cache: str | None,
        turn: int,  # noqa: ARG002 (a family may vary its calls)
        budget_seconds: float,
    ) -> Sequence[float]:
        """Take the samples of one turn of a metric of the family's own that depends on the page cache.

        By default all those that `track` takes. Warm and cold turns alternate in one process, so a
        family should take one sample only.

        Parameters
        ----------
        metric : str
            Its name.
        file : Path
            The saved file, in the page cache, or not if `cache` is "cold".
        cache : str, optional
            State of the page cache, "warm" or "cold".
        turn : int
            Number of the turn, from 0. Calls of one turn should do the same work, whatever the cache.
        budget_seconds : float
            Wall time of the sample.
        """
        return self.track(metric, file, cache=cache, budget_seconds=budget_seconds).repeats


class CatalogOperations(Operations):
    """Operations on the data sets of `data_generator.datasets`."""

    @staticmethod
    def describe(dataset: str) -> str:
        """Return one line on a data set."""
        return datasets.find(dataset).description

    @staticmethod
    def run_size(dataset: str, usual: int) -> int:
        """Return `usual`, or fewer for a data set of large or few items."""
        return datasets.find(dataset).count_for_run(usual)


def operations_of(family: Family) -> type[Operations]:
    """Return the class of operations of a family."""
    module = import_module(f"format_bench.families.{family.name}.operations")
    return cast("type[Operations]", module.OPERATIONS)


def registry_of(family: Family) -> Registry[Any]:
    """Return the registry of a family's adapters."""
    return cast("Registry[Any]", import_module(family.adapters).registry)
