"""Library sets of the past: today's requirements, resolved to the versions of earlier days."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Self

import click

from adapter_core.errors import ResolutionError
from format_bench.library_sets.resolution import REQUIRED, resolve
from format_bench.library_sets.sets import parse

# Months from one day to the next, by name.
INTERVALS = {"month": 1, "quarter": 3, "year": 12}

# Name of the extra with the libraries of every adapter.
ALL = "all"


def first_days(first: date, last: date, every: str) -> list[date]:
    """Return the first days of months at an interval.

    Parameters
    ----------
    first : date
        The first of them, itself the first day of a month.
    last : date
        The day after which none follows.
    every : str
        A key of `INTERVALS`.
    """
    found = []
    months = 12 * first.year + first.month - 1
    while (day := date(months // 12, months % 12 + 1, 1)) <= last:
        found.append(day)
        months += INTERVALS[every]
    return found


class MonthType(click.ParamType[date]):
    """Type of options that take a month, e.g. 2024-03, as its first day, and "now" as today."""

    name = "month"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002 (click's signature)
        """Return the placeholder of the value in help texts."""
        return "YYYY-MM|now"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Return the day; fail for one in the future."""
        today = datetime.now(UTC).date()
        if value == "now":
            return today
        try:
            day = datetime.strptime(value, "%Y-%m").replace(tzinfo=UTC).date()
        except ValueError:
            self.fail(f"{value!r} is not a month; write e.g. 2024-03, or now", param, ctx)
        if day > today:
            self.fail(f"{value} lies in the future", param, ctx)
        return day


@dataclass(frozen=True)
class PastSet:
    """Library set of a day, or the reason why none exists."""

    day: date
    pins: str = ""
    """A line for each package; empty if no set exists."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Reasons by requirement that no version meets; adapters that declare it are unavailable."""
    reason: str = ""
    """Reason why no set exists; empty if one does."""

    @classmethod
    def from_texts(cls, description: str, constraints: str) -> Self:
        """Return the set of a `description` and a `constraints` text."""
        facts = json.loads(description)
        lines = constraints.splitlines(keepends=True)
        pins = "".join(line for line in lines if not line.startswith("#"))
        return cls(date.fromisoformat(facts["day"]), pins, facts["left_out"], facts["reason"])

    @property
    def versions(self) -> dict[str, str]:
        """The version of each package, by canonical name."""
        return parse(self.pins)

    def constraints(self) -> str:
        """Return the set as constraints.txt."""
        head = f"# The library set of {self.day}, every version pinned, from wheels for one platform.\n"
        return head + (self.pins or "# No version of every package needed had been released by then.\n")

    def description(self) -> str:
        """Return the day and all reasons, which the pins lack, as JSON."""
        facts = {"day": self.day.isoformat(), "left_out": dict(self.left_out), "reason": self.reason}
        return json.dumps(facts, indent=2) + "\n"


def resolve_past(day: date, declared: Mapping[str, Sequence[str]], python_version: str) -> PastSet:
    """Resolve the set of a day; requirements of adapters that no version meets are left out.

    Parameters
    ----------
    day : date
        The day; packages uploaded later are ignored.
    declared : mapping
        Requirements by extra, as `library_sets.declared` returns them.
    python_version : str
        The Python to install them for, e.g. "3.11".
    """

    def pins(adapters: Sequence[str]) -> str:
        return resolve([*required, *adapters], python_version, day, wheels_only=True)

    required, optional = declared[REQUIRED], _most_used_first(declared)
    try:
        text = pins([])
    except ResolutionError as error:
        return PastSet(day, reason=str(error))
    try:
        return PastSet(day, pins(optional))
    except ResolutionError:
        pass
    # Most that does not resolve had no version at all, which shows faster for a requirement alone.
    left_out = _unmet(day, optional, python_version)
    kept = [requirement for requirement in optional if requirement not in left_out]
    try:
        return PastSet(day, pins(kept), left_out)
    except ResolutionError:
        kept.clear()
    for requirement in [each for each in optional if each not in left_out]:
        try:
            text = pins([*kept, requirement])
            kept.append(requirement)
        except ResolutionError as error:
            left_out[requirement] = str(error)
    return PastSet(day, text, left_out)


def _unmet(day: date, requirements: Sequence[str], python_version: str) -> dict[str, str]:
    """Return the reasons of requirements that no version meets even alone."""
    found = {}
    for requirement in requirements:
        try:
            resolve([requirement], python_version, day, wheels_only=True)
        except ResolutionError as error:
            found[requirement] = str(error)
    return found


def _most_used_first(declared: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the requirements of adapters, shared ones first: these must not be left out."""
    optional = set(declared[ALL]) - set(declared[REQUIRED])
    return sorted(optional, key=lambda each: (-sum(each in texts for texts in declared.values()), each))
