"""Question: a query whose columns and constants depend on the data set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapter_core.query import Query
    from format_bench.families.queries.subject import Subject


@dataclass(frozen=True)
class Question:
    """A question that can be asked to several data sets.

    Each file of `format_bench.families.queries.questions` declares some, as its constant `QUESTIONS`.
    """

    name: str
    """Name in results, e.g. "point"."""
    description: str
    """The question in words."""
    ask: Callable[[Subject], Query]
    """Return the query to a data set; raise `UnsupportedError` if the set has not the columns."""
    heading: str = ""
    """Words that neighbouring questions share in tables; empty if it is alone."""

    def __str__(self) -> str:
        """Return the question in words."""
        return self.description
