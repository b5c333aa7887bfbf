"""The steps of a monthly run that cron.sh calls, each with a status that it hands on."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapter_core.errors import FormatBenchError
from format_bench.automation.monthly import finish as finishing
from format_bench.automation.monthly import start, state
from format_bench.automation.monthly.tools import say

if TYPE_CHECKING:
    from format_bench.automation.monthly.state import Status


SCALE = os.environ.get("SCALE", "full")
OUTCOME = Path(".asv/outcome")
"""The line for whoever is notified."""


@click.group()
def monthly() -> None:
    """Measure a month; cron.sh calls the steps in their order."""


@monthly.command()
def begin() -> None:
    """Choose the commit that this month measures, unless that is done."""
    start.begin(SCALE)


@monthly.command()
def resume() -> None:
    """Finish a month that was interrupted, if there is one."""
    if finishing.is_unfinished(SCALE):
        _end(*finishing.finish(SCALE))


@monthly.command()
def finish() -> None:
    """Measure what is left of the month that was begun last, compare and publish."""
    _end(*finishing.finish(SCALE))


def _end(status: Status, sentence: str) -> None:
    say(sentence)
    OUTCOME.write_text(f"{sentence}\n", encoding="utf-8")
    sys.exit(status)


if __name__ == "__main__":
    try:
        monthly(prog_name="python -m format_bench.automation.monthly")
    except (FormatBenchError, OSError) as error:
        _end(state.of(error), f"monthly run: {error}")
