"""The days whose library sets are measured.

The library set of a day: what the project needs today, in the versions of then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import click

from adapter_core.errors import ResolutionError
from format_bench.library_sets.resolution import NEEDED, resolve
from format_bench.library_sets.sets import parse

MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""Months from one day to the next."""


def days(first: date, last: date, every: str) -> list[date]:
    """Return the first days of months, from the first one on, up to the last one at most.

    Parameters
    ----------
    first, last : date
        The first day of a month, and the day after which there is none.
    every : str
        A key of `MONTHS`.
    """
    found = []
    months = 12 * first.year + first.month - 1
    while (day := date(months // 12, months % 12 + 1, 1)) <= last:
        found.append(day)
        months += MONTHS[every]
    return found


class Month(click.ParamType[date]):
    """Takes a month, as in 2024-03, and gives its first day; takes "now", and gives today's date."""

    name = "month"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002 (click's signature)
        """Return how it is written."""
        return "YYYY-MM|now"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Return a day that is not in the future."""
        today = datetime.now(UTC).date()
        if value == "now":
            return today
        try:
            day = datetime.strptime(value, "%Y-%m").replace(tzinfo=UTC).date()
        except ValueError:
            self.fail(f"{value!r} is no month; write it as in 2024-03, or now", param, ctx)
        if day > today:
            self.fail(f"{value} lies in the future", param, ctx)
        return day


ALL = "all"
"""The extra that holds the libraries of every adapter."""


@dataclass(frozen=True)
class PastSet:
    """The library set of a day, or why there is none."""

    day: date
    pins: str = ""
    """A line for each package; empty if there is no set."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Why no version fits, by requirement; adapters that declare it are unavailable with this set."""
    reason: str = ""
    """Why there is no set; empty if there is one."""

    @property
    def versions(self) -> dict[str, str]:
        """The version of each package, by canonical name."""
        return parse(self.pins)

    def constraints(self) -> str:
        """Return the set as constraints.txt."""
        head = f"# The library set of {self.day}, every version pinned, from wheels for one platform.\n"
        return head + (self.pins or "# No version of every package needed had been released by then.\n")

    def description(self) -> str:
        """Return what the pins do not tell, as JSON; `described` reads it."""
        facts = {"day": self.day.isoformat(), "left_out": dict(self.left_out), "reason": self.reason}
        return json.dumps(facts, indent=2) + "\n"


def described(description: str, constraints: str) -> PastSet:
    """Return the set whose `description` and `constraints` are given."""
    facts = json.loads(description)
    pins = "".join(line for line in constraints.splitlines(keepends=True) if not line.startswith("#"))
    return PastSet(date.fromisoformat(facts["day"]), pins, facts["left_out"], facts["reason"])


def resolve_past(day: date, declared: Mapping[str, Sequence[str]], python_version: str) -> PastSet:
    """Resolve the set of a day; requirements of adapters that no version of then meets are left out.

    Parameters
    ----------
    day : date
        Packages uploaded after it are not seen.
    declared : mapping
        Requirements by extra, as `library_sets.declared` gives them.
    python_version : str
        The Python that they are installed for, as in "3.11".
    """

    def pins(adapters: Sequence[str]) -> str:
        return resolve([*needed, *adapters], python_version, day, wheels_only=True)

    needed, wanted = declared[NEEDED], _most_wanted_first(declared)
    try:
        text = pins([])
    except ResolutionError as error:
        return PastSet(day, reason=str(error))
    try:
        return PastSet(day, pins(wanted))
    except ResolutionError:
        pass
    # Most of what does not resolve had no version at all, which a requirement alone tells faster.
    left_out = _unmet(day, wanted, python_version)
    kept = [requirement for requirement in wanted if requirement not in left_out]
    try:
        return PastSet(day, pins(kept), left_out)
    except ResolutionError:
        kept.clear()
    for requirement in [each for each in wanted if each not in left_out]:
        try:
            text = pins([*kept, requirement])
            kept.append(requirement)
        except ResolutionError as error:
            left_out[requirement] = str(error)
    return PastSet(day, text, left_out)


def _unmet(day: date, requirements: Sequence[str], python_version: str) -> dict[str, str]:
    found = {}
    for requirement in requirements:
        try:
            resolve([requirement], python_version, day, wheels_only=True)
        except ResolutionError as error:
            found[requirement] = str(error)
    return found


def _most_wanted_first(declared: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what adapters require: what more of them require is not given up for what fewer do."""
    wanted = set(declared[ALL]) - set(declared[NEEDED])
    return sorted(wanted, key=lambda each: (-sum(each in texts for texts in declared.values()), each))
