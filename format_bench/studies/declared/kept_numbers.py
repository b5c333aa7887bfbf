"""Numbers of earlier measurements, as pages of the manual print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from format_bench.results import flat_csv
from format_bench.results.load import Results
from format_bench.results.published.figures import figure
from format_bench.results.records import Record

ROUNDING = 0.005
"""Largest relative difference of a printed number from the measured one: pages have three digits."""

_AXES = ("cache", "link", "track", "layout", "damage")


@dataclass(frozen=True)
class KeptNumber:
    """A number of a page."""

    suite: str
    format: str
    codec: str
    """Empty if none."""
    level: int
    """-1 if none."""
    dataset: str
    rows: int
    cache: str
    link: str
    track: str
    layout: str
    damage: str
    query: str
    metric: str
    value: float
    page: str
    """File of the manual's page, or another place."""

    def record(self) -> Record:
        """Return the number as a record."""
        found = figure(
            *(self.suite, self.format, self.dataset, (self.rows, 1), self.metric, self.value),
            rounding=self.value * ROUNDING,
            codec=self.codec or None,
        )
        axes = {name: value for name in _AXES if (value := getattr(self, name))}
        return replace(
            found,
            level=None if self.level < 0 else self.level,
            conditions={"threads": "all", **axes},
            query=self.query,
            sentence=f"printed in {self.page}",
            run_id="kept",
        )


def read(path: Path) -> list[KeptNumber]:
    """Return the numbers of a file, none if there is no file."""
    return flat_csv.read(KeptNumber, path) if path.exists() else []


def results(name: str, numbers: Sequence[KeptNumber]) -> Results:
    """Return numbers as results."""
    return Results(f"kept of {name}", [each.record() for each in numbers], metadata=[])
