"""The days whose library sets are measured."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import click

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
