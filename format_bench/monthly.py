"""Command of the monthly run: ``python -m format_bench.monthly STEP``.

cron.sh passes its exit status on. It calls this address, and may be older or newer than the clone that
it works in; it never moves.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys

import click

from adapter_core import FormatBenchError
from format_bench.automation.monthly import finish as finish_step
from format_bench.automation.monthly import start as start_step
from format_bench.automation.monthly.state import ASV, ExitStatus, status_of

# By its own name, also where this file is the program.
LOG = logging.getLogger("format_bench.monthly")

SCALE = os.environ.get("SCALE", "full")
# File with one line about the run, for cron.sh's notification.
OUTCOME = ASV / "outcome"


@click.group()
def monthly() -> None:
    """Measure a month; cron.sh calls the steps in their order."""


@monthly.command()
def begin() -> None:
    """Choose the commit to measure in this month, if that was not done yet."""
    start_step.start(SCALE)


@monthly.command()
def resume() -> None:
    """Finish a month that was interrupted, if there is one."""
    if finish_step.is_unfinished(SCALE):
        _end(*finish_step.finish(SCALE))


@monthly.command()
def finish() -> None:
    """Run the remaining suites of the latest month, compare and publish."""
    _end(*finish_step.finish(SCALE))


def main() -> None:
    """Run the step that the arguments name."""
    # cron.sh puts the time before each line, and the lines of asv and git come between ours.
    logging.basicConfig(format="%(message)s", level=logging.WARNING, stream=sys.stdout)
    logging.getLogger("format_bench").setLevel(logging.INFO)
    try:
        monthly(prog_name="python -m format_bench.monthly")
    except (FormatBenchError, OSError) as error:
        _end(status_of(error), f"monthly run: {error}")


def _end(status: ExitStatus, sentence: str) -> None:
    LOG.info("%s", sentence)
    # On a full disk the status says it as well.
    with contextlib.suppress(OSError):
        OUTCOME.parent.mkdir(exist_ok=True)  # a new clone has no such folder until something is measured
        OUTCOME.write_text(f"{sentence}\n", encoding="utf-8")
    sys.exit(status)


if __name__ == "__main__":
    main()
