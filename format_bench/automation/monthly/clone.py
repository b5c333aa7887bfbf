"""Clone that the monthly run works in, its working directory: git, interpreter, clock."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, time
from pathlib import Path

from format_bench.system.git import Repository

# Folder of everything that is not in git's main branch: environments, results, state.
ASV = Path(".asv")

# The interpreter that asv and the clone's packages are installed for.
PYTHON = ".venv/bin/python"

# A push of a site may take many minutes; a command that takes longer hangs.
REPOSITORY = Repository(Path(), timeout_seconds=1800)

# Environment variable with another day than today, e.g. "2026-12-01", to rehearse several months.
DAY_VARIABLE = "CRON_DATE"


def rehearsal_day() -> date | None:
    """Return the day that a rehearsal takes for today; None outside of rehearsals."""
    text = os.environ.get(DAY_VARIABLE)
    return date.fromisoformat(text) if text else None


def now() -> datetime:
    """Return the time, in UTC; in a rehearsal noon of its day."""
    day = rehearsal_day()
    return datetime.combine(day, time(12), tzinfo=UTC) if day else datetime.now(UTC)
