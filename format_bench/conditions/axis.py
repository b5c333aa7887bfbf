"""Contract of axes: a condition that any suite can be measured under, as an option and a context.

The value of an axis is a text, as users and records have it. A subclass in a file of its own in
`format_bench.conditions.axes` is an option of `format-bench run`, a field of records, and a heading in
reports, pages and comparisons; nothing else knows its name.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import ClassVar

from adapter_core.errors import InvalidRequestError
from format_bench.families.cases import Case
from format_bench.families.operations import Measured, Operations
from format_bench.instruments.isolation import Outcome
from format_bench.results.display.text import joined
from format_bench.results.metrics import METRICS
from format_bench.results.status import CellStatus
from format_bench.results.suites import Step


@dataclass(frozen=True)
class Surroundings:
    """Demands of a condition on the process that measures."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that are set before the family's libraries are imported."""
    entered: Callable[[], None] | None = None
    """Called in the process before anything else; can be pickled."""


class Axis:
    """A condition of measurements; its values are texts.

    The methods of a value do nothing by themselves: a subclass overrides those that it needs.
    """

    name: ClassVar[str]
    """The field of a record's conditions, e.g. "memory limit", of which the option is made."""
    help: ClassVar[str]
    """Help of the option, with an example."""
    order: ClassVar[int] = 50
    """Place among the axes: the values of the last axis take turns first."""
    default: ClassVar[str] = ""
    """The value without the option; empty if such cells are under no condition of this axis."""

    changes_adapter: ClassVar[bool] = False
    """True if `under` changes the adapter of its process, which other processes do not see."""
    is_place: ClassVar[bool] = False
    """True for a place of files, which help lists apart."""
    measures_elsewhere: ClassVar[bool] = False
    """True if other processes measure under it, with an adapter of their own."""

    @property
    def option(self) -> str:
        """The option of the command line, e.g. "--memory-limit"."""
        return f"--{self.name.replace(' ', '-')}"

    def values(self) -> Sequence[str]:
        """Return all values, which a shell completes; empty if they cannot be listed, as sizes."""
        return ()

    def parse(self, text: str) -> str:
        """Return the value of a text as records have it, so that one value has one text.

        By default one of `values`, in any case, or any text if they cannot be listed.

        Raises
        ------
        InvalidRequestError
            If it is none.
        """
        values = self.values()
        if not values or text.lower() in values:
            return text.lower() if values else text
        near = difflib.get_close_matches(text.lower(), values, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"it is one of {joined(values, most=None)}"
        raise InvalidRequestError(f"{self.option} {text}: {hint}")

    def why_not(self, value: str, case: Case) -> str:  # noqa: ARG002 (of subclasses)
        """Return why a case cannot be measured under a value, in a sentence; empty if it can.

        Raises
        ------
        UnavailableError
            If that depends on an adapter whose libraries are missing.
        """
        return ""

    def interpreter(self, value: str) -> str:  # noqa: ARG002 (of subclasses)
        """Return the path of the Python that measures under a value; empty for this one.

        Raises
        ------
        UnavailableError
            If there is none.
        """
        return ""

    @contextmanager
    def surrounded(self, value: str) -> Iterator[Surroundings]:  # noqa: ARG002 (of subclasses)
        """Provide a value for the measuring processes of a case, which end before the block does."""
        yield Surroundings()

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:  # noqa: ARG002 (likewise)
        """Apply a value within the measuring process, after warm-up and around all its steps."""
        yield

    def explained(self, value: str, outcome: Outcome) -> Outcome:  # noqa: ARG002 (of subclasses)
        """Return the outcome of a process, with a value's part in a failure."""
        return outcome


class ElsewhereAxis(Axis):
    """An axis under which other processes save and read, and measure their times alone."""

    measures_elsewhere = True
    word: ClassVar[str]
    """First word of the metrics there, e.g. "remote" of "remote save time"."""

    def times(
        self, step: Step, measure: Callable[[tuple[str, ...]], Sequence[Measured]]
    ) -> list[Measured]:
        """Return the metrics of a step, its times as they are measured elsewhere.

        Parameters
        ----------
        step : Step
            A step of a suite on local files.
        measure : callable
            Return the samples of metrics, given their names there, in the same order.
        """
        there = {each: f"{self.word} {each}" for each in step.metrics if each.endswith("time")}
        there = {each: name for each, name in there.items() if name in METRICS and step.cache != "cold"}
        found = dict(zip(there, measure(tuple(there.values())), strict=True)) if there else {}
        why = f"it is not measured with {self.option}"
        return [
            replace(found[each], metric=each)
            if each in found
            else Measured(each, [], why, status=CellStatus.UNSUPPORTED)
            for each in step.metrics
        ]
