"""Selection of the adapters to test: the one of ``--adapter``, or the tier of ``--adapters``."""

from __future__ import annotations

import functools
import importlib
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, TypeVar

import pytest

import array_stores
import data_formats
import image_storages
import query_engines
import record_stores
import training_loaders
from adapter_core import (
    ArrayStore,
    BaseAdapter,
    Codec,
    DataFormat,
    ImageStorage,
    RecordStore,
    UnavailableError,
)
from adapter_core.training_loader import TrainingLoader
from format_bench.conformance.tiers import Tier

T = TypeVar("T")

FAMILIES: dict[str, tuple[type[BaseAdapter], Any]] = {
    "table": (DataFormat, data_formats),
    "image": (ImageStorage, image_storages),
    "array": (ArrayStore, array_stores),
    "record": (RecordStore, record_stores),
    "loader": (TrainingLoader, training_loaders),
}
"""Families of the tests, with the base class of their adapters and the package that lists them."""

tier = Tier()
"""Choice of the adapters; pytest sets it before it collects."""


HDF5 = "hdf5"
BRING_HDF5 = {"h5netcdf", "h5py", "netcdf4", "tables"}
"""Distributions with an HDF5 library of their own; some of these fail beside others in a process."""
COMMON = {"numpy", "pandas", "pyarrow", "xarray"}
"""Distributions that most adapters need."""
SHARE = 3
"""One of so many cases is tested with an adapter that only stands for others."""


@dataclass(frozen=True)
class SelectedAdapter:
    """An adapter to test."""

    label: str
    make: Callable[[], Any]
    stands_for_others: bool = False
    """True if no change concerns it; few of its codecs are then tested, at their default levels."""

    def __str__(self) -> str:
        return self.label

    def codecs(self) -> tuple[Codec, ...]:
        """Return the declared codecs; none if the adapter's package fails to load."""
        try:
            return tuple(getattr(self.make(), "codecs", ()))
        except UnavailableError:
            return ()

    def share_of(self, cases: Iterable[T], further: str = "") -> list[T]:
        """Return all cases, or those of one share if no change concerns the adapter.

        Adapters have different shares, so that together they have all cases.

        Parameters
        ----------
        cases : iterable
            The cases, in the same order for all adapters.
        further : str
            Another part of the test's parameters, on which the share also depends.
        """
        if not self.stands_for_others:
            return list(cases)
        return list(cases)[zlib.crc32(f"{self.label}{further}".encode()) % SHARE :: SHARE]


def selected(config: pytest.Config, family: str, test_module: str = "") -> list[SelectedAdapter]:
    """Return the adapters of one of `FAMILIES` that a file of tests, given as a module, shall test."""
    name = config.getoption("--adapter")
    if name is None:
        return _of_tier(family, test_module)
    adapter = load(name)
    return [SelectedAdapter(adapter.label, adapter)] if issubclass(adapter, FAMILIES[family][0]) else []


@functools.cache
def _of_tier(family: str, test_module: str) -> list[SelectedAdapter]:
    base, package = FAMILIES[family]
    concerned = set(tier.concerned_labels(package.registry, test_module))
    return [
        SelectedAdapter(label, partial(package.find, label), label not in concerned)
        for label in tier.labels(package.registry, test_module)
        if _is_of(base, package, label)
    ]


def _is_of(base: type[BaseAdapter], package: Any, label: str) -> bool:
    """Return whether the contract applies: record stores of the JVM have tests of their own."""
    try:
        return isinstance(package.find(label), base)
    except UnavailableError:
        return True


def library_of(package: Any, label: str) -> str:
    """Return the distribution that does an adapter's work; `HDF5` for all that bring that library."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    try:
        required = [canonicalize_name(Requirement(each).name) for each in package.find(label).requires]
    except UnavailableError:
        return label
    if not BRING_HDF5.isdisjoint(required):
        return HDF5
    return next((each for each in required if each not in COMMON), "pyarrow")


def group_of(nodeid: str) -> str:
    """Return the group of a test: of the kit family and library of its adapter, else its file."""
    file, _, function = nodeid.partition("::")
    path = PurePath(file)
    family = path.stem.removeprefix("test_").partition("_")[0]
    if path.parent.name == "conformance" and family in FAMILIES:
        # The adapter is the first parameter, or after samples of a kind the last one.
        params = function.partition("[")[2]
        for label, library in _libraries(family):
            if params.startswith((f"{label}-", f"{label}]")) or (
                family == "loader" and params.endswith(f"-{label}]")
            ):
                # Where xarray has loaded the HDF5 library of netCDF before, h5py refuses to load.
                first = "array" if (family, library) == ("image", HDF5) else family
                return f"{first}-{library}"
    return file


@functools.cache
def _libraries(family: str) -> list[tuple[str, str]]:
    """Return labels and libraries of a family, long labels first: one may begin with another."""
    names: list[Any] = sorted(FAMILIES[family][1].names(), key=len, reverse=True)
    return [(name, library_of(FAMILIES[family][1], name)) for name in names]


def labels_of_tier() -> set[str]:
    """Return the labels of the tier's adapters in all families, query engines among them.

    Raises
    ------
    pytest.UsageError
        If one is of an environment, and does not work in it: its tests would all be skipped.
    """
    packages = [package for _, package in FAMILIES.values()]
    found: dict[str, Any] = {}
    for package in (*packages, query_engines):
        found |= dict.fromkeys(tier.labels(package.registry, ""), package)
    for label, package in found.items() if tier.environment else ():
        if not (answer := package.find(label).availability()):
            raise pytest.UsageError(f"{label}: {answer.reason}")
    return set(found)


def load(name: str) -> type[BaseAdapter]:
    """Return an adapter class by ``MODULE:CLASS``.

    Raises
    ------
    pytest.UsageError
        If the class does not exist, or is not one of an adapter.
    """
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise pytest.UsageError(
            f"--adapter {name}: give MODULE:CLASS, importable here: {error}"
        ) from error
    bases = tuple(base for base, _ in FAMILIES.values())
    if not (isinstance(found, type) and issubclass(found, bases)):
        known = " or ".join(f"{base.__module__}.{base.__name__}" for base in bases)
        raise pytest.UsageError(f"--adapter {name}: it is not an {known}")
    return found


def ready(candidate: SelectedAdapter, codec: Codec | None = None) -> Any:
    """Return the adapter if it can work, with the codec if one is given; else skip the test."""
    try:
        adapter = candidate.make()
    except UnavailableError as error:
        pytest.skip(str(error))
    answer = adapter.availability()
    if answer and codec:
        answer = adapter.codec_availability(codec.name)
    if not answer:
        pytest.skip(f"{candidate}: {answer.reason}")
    return adapter
