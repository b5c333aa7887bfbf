"""Interface of engines that spread work over processes: one method, and one file for each engine.

An engine gets a function and small tasks, and returns small results. Data are made, written, read and
verified on the workers, and never pass through the client.
"""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Self, TypeVar

from adapter_core.availability import install_hint, probe
from adapter_core.errors import UnavailableError, UnknownNameError

T = TypeVar("T")
R = TypeVar("R")

_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?) ?(?P<prefix>[kKMGT])(?P<binary>i?)B")

ENGINES = ("serial", "dask", "ray")
"""Names of the engines: modules of this package, with a class `Engine`."""


class ParallelEngine(ABC):
    """Processes that call a function for each of many tasks; subclasses are named `Engine`."""

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    """Requirement strings of the distributions that it needs."""
    extra: ClassVar[str] = "cluster"
    """Extra of the project that installs them."""

    @classmethod
    @abstractmethod
    def open(cls, where: str) -> Self:
        """Connect to workers, or start them.

        Parameters
        ----------
        where : str
            The workers, in the engine's own words; "local:N" or "local:N:MEMORY" for N processes of this
            machine. A worker beyond its memory is killed, and its task goes to another.

        Raises
        ------
        ParallelError, ClusterError
            If these workers do not exist, or they do not start.
        """

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of tasks that run at the same time."""

    @abstractmethod
    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Call a function for each task, and return the results in the order of the tasks.

        A task whose worker died may be called again on another.

        Raises
        ------
        ParallelError
            If a worker died too often, or the engine failed.
        ClusterError
            If no further call can succeed.
        """

    @abstractmethod
    def close(self) -> None:
        """End the workers that `open` has started, and the connection to others."""


def engine_class(name: str) -> type[ParallelEngine]:
    """Return the class of an engine whose packages are installed.

    Raises
    ------
    UnknownNameError
        If the engine is unknown.
    UnavailableError
        If its packages are missing.
    """
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    module = importlib.import_module(f"format_bench.parallel.{name}")
    found: type[ParallelEngine] = module.Engine
    answer = probe(found.requires, {}, install_hint(found.extra))
    if not answer:
        raise UnavailableError(name, answer.reason, answer.install_hint)
    return found


@contextmanager
def opened(name: str, where: str) -> Iterator[ParallelEngine]:
    """Provide an engine with its workers; close it at the end.

    Raises
    ------
    UnknownNameError, UnavailableError
        As `engine_class`.
    ParallelError, ClusterError
        If these workers do not exist.
    """
    engine = engine_class(name).open(where)
    try:
        yield engine
    finally:
        engine.close()


def local_workers(where: str) -> tuple[int, str]:
    """Return the number and the memory limit, empty if none, of "local:N" or "local:N:MEMORY".

    Raises
    ------
    UnknownNameError
        If the text has another form.
    """
    kind, _, rest = where.partition(":")
    count, _, memory = rest.partition(":")
    if kind != "local" or not count.isdecimal() or int(count) < 1:
        raise UnknownNameError("set of workers", where, ["local:1", "local:2", "local:2:1.5GiB"])
    return int(count), memory


def memory_bytes(text: str) -> int:
    """Return the bytes of a size such as "1.5GiB" or "800MB".

    Raises
    ------
    UnknownNameError
        If the text has another form.
    """
    found = _SIZE.fullmatch(text)
    if not found or not float(found["number"]):
        raise UnknownNameError("size of memory", text, ["1.5GiB", "800MB"])
    base = 1024 if found["binary"] else 1000
    return int(float(found["number"]) * base ** (1 + "KMGT".index(found["prefix"].upper())))
