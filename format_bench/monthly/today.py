"""The day of a monthly run."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, time

VARIABLE = "CRON_DATE"
"""Names another day than today, as in "2026-12-01", so that several months can be rehearsed in one."""


def rehearsed() -> date | None:
    """Return the day that a rehearsal takes for today."""
    told = os.environ.get(VARIABLE)
    return date.fromisoformat(told) if told else None


def now() -> datetime:
    """Return the time, in UTC; noon of the day in a rehearsal."""
    day = rehearsed()
    return datetime.combine(day, time(12), tzinfo=UTC) if day else datetime.now(UTC)


def dates() -> dict[str, str]:
    """Return the variables that date git's commits and tags."""
    text = f"{now():%Y-%m-%dT%H:%M:%S}+0000"
    return {"GIT_AUTHOR_DATE": text, "GIT_COMMITTER_DATE": text}
