"""Contract of axes: a condition that any suite can be measured under, as an option and a context.

The value of an axis is a text, as users and records have it. A subclass in a file of its own in
`format_bench.conditions.axes` is an option of `format-bench run`, a field of records, and a heading in
reports, pages and comparisons; nothing else knows its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from format_bench.families.cases import Case
    from format_bench.families.operations import Operations
    from format_bench.instruments.isolation import Outcome


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
    """Of the option, with an example."""
    order: ClassVar[int] = 50
    """Place among the axes: the values of the last axis take turns first."""
    default: ClassVar[str] = ""
    """The value without the option; empty if such cells are under no condition of this axis."""

    @property
    def option(self) -> str:
        """The option of the command line, e.g. "--memory-limit"."""
        return f"--{self.name.replace(' ', '-')}"

    def parse(self, text: str) -> str:
        """Return the value of a text as records have it, so that one value has one text.

        Raises
        ------
        InvalidRequestError
            If it is none.
        """
        return text

    def why_not(self, value: str, case: Case) -> str:  # noqa: ARG002 (of subclasses)
        """Return why a case cannot be measured under a value, in a sentence; empty if it can."""
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
