"""Durations on the command line, as in "90s", "10m" or "1h30m"."""

from __future__ import annotations

import re

import click

_UNITS = {"h": 3600, "m": 60, "s": 1}
_TEXT = re.compile(r"(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s?)?")


class Duration(click.ParamType[float]):
    """Takes a duration; gives seconds."""

    name = "duration"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return seconds."""
        if isinstance(value, float):
            return value
        found = _TEXT.fullmatch(value.strip().lower())
        if not found or not any(found.groups()):
            self.fail(f"{value!r} is no duration; write it as in 90s, 10m or 1h30m", param, ctx)
        seconds = sum(int(number) * _UNITS[unit] for unit, number in found.groupdict("0").items())
        if not seconds:
            self.fail("a duration of nothing measures nothing", param, ctx)
        return float(seconds)
