"""Queries to arrays by coordinates, as foxbench.toml declares them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapter_core.array_description import Bounds, Description

DECLARATIONS = Path(__file__).with_name("foxbench.toml")


@dataclass(frozen=True)
class Query:
    """A question to one variable: an area, its levels if it has several, for some hours."""

    name: str
    """As in the paper, e.g. "Q7"."""
    variable: str
    """Name of the variable."""
    area: str
    levels: str
    """Empty for variables without levels."""
    duration: str
    hours: int
    within: Bounds
    """Bounds of all dimensions but time."""

    def applies_to(self, array: Description) -> bool:
        """Tell whether an array is of the variable and long enough."""
        return array.name == self.variable and array.shape[array.dims.index("time")] >= self.hours

    def bounds(self, array: Description) -> Bounds:
        """Return all bounds on an array with hourly times: from its first time on."""
        first = int(array.coordinates["time"][0])
        return {"time": (first, first + self.hours - 1), **self.within}

    def __str__(self) -> str:
        """Return the query in words, e.g. "t2m, Germany, month"."""
        levels = f"{self.levels} of the altitudes, " if self.levels == "one" else ""
        levels = "all altitudes, " if self.levels == "all" else levels
        return f"{self.variable}, {self.area}, {levels}{self.duration}"


@cache
def queries() -> dict[str, Query]:
    """Return all declared queries by name, in order."""
    declared = tomllib.loads(DECLARATIONS.read_text(encoding="utf-8"))
    found = {}
    for run in declared["queries"]:
        levels = run.get("levels", "")
        ranges = declared["areas"][run["area"]] | (declared["levels"][levels] if levels else {})
        for number, duration in enumerate(run["durations"], start=run["first"]):
            found[f"Q{number}"] = Query(
                f"Q{number}",
                run["variable"],
                run["area"],
                levels,
                duration,
                declared["durations"][duration],
                {dim: (least, largest) for dim, (least, largest) in ranges.items()},
            )
    return found


def queries_to(array: Description) -> list[Query]:
    """Return the queries that apply to an array, in order."""
    return [each for each in queries().values() if each.applies_to(array)]
