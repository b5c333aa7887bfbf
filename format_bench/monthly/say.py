"""Lines of the log; cron.sh puts the time before each."""

from __future__ import annotations


def say(line: str) -> None:
    """Print a line at once, so that it stands before what other programs print."""
    print(line, flush=True)  # noqa: T201 (this is where lines go)
