"""Conditions of measurements: axes, one for each file in `axes`, and their contexts around a case."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from adapter_core.errors import UnavailableError
from format_bench.conditions.axis import Axis, Surroundings
from format_bench.families.cases import Case
from format_bench.families.operations import Operations
from format_bench.instruments.isolation import Outcome
from format_bench.results.environments import own_environment

__all__ = [
    "Axis",
    "Surroundings",
    "axes",
    "data_interpreter_of",
    "explained",
    "interpreter_of",
    "surrounded",
    "under",
    "why_not",
]

# Imported before the function of its name is defined, which the import of a submodule would replace.
_AXES = importlib.import_module(f"{__name__}.axes")

# Steps that other processes make, with adapters of their own.
_STEPS_ELSEWHERE = {"remote", "scale"}


@functools.cache
def axes() -> dict[str, Axis]:
    """Return the axes by name, in order: an instance of each `Axis` in the files of `axes`."""
    found = [
        value()
        for module in pkgutil.iter_modules(_AXES.__path__, f"{_AXES.__name__}.")
        for value in vars(importlib.import_module(module.name)).values()
        if isinstance(value, type) and issubclass(value, Axis) and value.__module__ == module.name
    ]
    return {each.name: each for each in sorted(found, key=lambda each: (each.order, each.name))}


def _of(case: Case) -> list[tuple[Axis, str]]:
    """Return the axes of a case with its values; conditions without an axis are applied elsewhere."""
    return [(axis, case.conditions[name]) for name, axis in axes().items() if name in case.conditions]


def why_not(case: Case) -> str:
    """Return why a case cannot be measured under its conditions; empty if it can."""
    taken = [axis for axis, _ in _of(case)]
    elsewhere = [each.name for each in taken if each.measures_elsewhere]
    elsewhere += [each.name for each in case.steps if each.name in _STEPS_ELSEWHERE]
    for each in taken:
        if elsewhere and each.changes_adapter:
            # Else the values would bear the name of a condition that they were not measured under.
            where = f"{elsewhere[0]} is measured by other processes"
            return f"{where}, whose adapters are not changed by {each.option}"
    return next((why for axis, value in _of(case) if (why := _why_not_under(axis, value, case))), "")


def _why_not_under(axis: Axis, value: str, case: Case) -> str:
    try:
        return axis.why_not(value, case)
    except UnavailableError:
        return ""  # as the cell will say


def interpreter_of(case: Case) -> str:
    """Return the path of the Python that measures a case; empty for this one.

    Raises
    ------
    UnavailableError
        If it is not installed, or not built.
    """
    own = own_environment(case.format, case.suite)
    return own.interpreter(case.format) if own else data_interpreter_of(case)


def data_interpreter_of(case: Case) -> str:
    """Return the path of the Python that makes the data of a case; empty for this one.

    A library set makes its own, since its pandas may lack dtypes of this one; an environment loads what
    is made here.

    Raises
    ------
    UnavailableError
        If it is not installed.
    """
    if own_environment(case.format, case.suite):
        return ""
    return next((path for axis, value in _of(case) if (path := axis.interpreter(value))), "")


@contextmanager
def surrounded(case: Case) -> Iterator[Surroundings]:
    """Provide the conditions of a case for its measuring processes."""
    with ExitStack() as stack:
        found = [stack.enter_context(axis.surrounded(value)) for axis, value in _of(case)]
        environment = {name: value for each in found for name, value in each.environment.items()}
        entered = [each.entered for each in found if each.entered]
        yield Surroundings(environment, functools.partial(_enter_all, entered) if entered else None)


def _enter_all(entered: list[Callable[[], None]]) -> None:
    for enter in entered:
        enter()


@contextmanager
def under(case: Case, operations: Operations) -> Iterator[Operations]:
    """Apply the conditions of a case within the measuring process, to an adapter that is warmed up."""
    with ExitStack() as stack:
        for axis, value in _of(case):
            stack.enter_context(axis.under(value, operations))
        yield operations


def explained(case: Case, outcome: Outcome) -> Outcome:
    """Return the outcome of a process of a case, with the part of its conditions in a failure."""
    for axis, value in _of(case):
        outcome = axis.explained(value, outcome)
    return outcome
