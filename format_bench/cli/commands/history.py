"""Today's benchmarks with the libraries of earlier days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import click

from adapter_core import FormatBenchError
from format_bench.automation.asv_runs import suite_names
from format_bench.automation.history import history
from format_bench.automation.history.branch import Branch, checkout
from format_bench.automation.history.history import DayEntry
from format_bench.automation.history.past_sets import INTERVALS, MonthType, first_days
from format_bench.library_sets.outcomes import SetOutcome
from format_bench.results.display import terminal


@click.command
@click.option("--from", "first", type=MonthType(), required=True, help="The first month.")
@click.option("--to", "last", type=MonthType(), default="now", show_default=True, help="The last month.")
@click.option("--every", type=click.Choice(list(INTERVALS)), default="quarter", show_default=True)
@click.option("--branch", default="history", show_default=True, help="The branch of the commits.")
@click.option(
    "--scale",
    type=click.Choice(["quick", "full", "tiny"]),
    default="quick",
    show_default=True,
    help="Size of the data; tiny only tests that it works.",
)
@click.option("--suite", "chosen", multiple=True, help="Suite to run; repeatable. [default: all]")
@click.option("--dry-run", is_flag=True, help="Print the library sets; commit and measure nothing.")
def command(  # noqa: PLR0913, PLR0917 (one for each option)
    first: date,
    last: date,
    every: str,
    branch: str,
    scale: str,
    chosen: tuple[str, ...],
    dry_run: bool,  # noqa: FBT001 (a switch)
) -> None:
    """Measure with the library versions of earlier months.

    Run it in a checkout of the project. For the first day of each month, a separate branch gets a
    commit: the current one with the library versions of that day. asv measures each commit in its own
    environment, suite by suite, and adds to the existing results. The work tree and the current branch
    are not touched. To resume after an interruption, give the same command again.

    \b
    Examples:
      format-bench history --from 2024-01 --every quarter
      format-bench history --from 2025-01 --to 2025-12 --every month --scale full
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    repository = checkout(Path.cwd())
    names = _suites(repository.root, chosen)
    wanted = first_days(first, last, every)
    if not wanted:
        raise click.UsageError(f"--from {first:%Y-%m} is after --to {last:%Y-%m}")
    entries = history.make(Branch(repository, branch), wanted, dry_run=dry_run)
    if not dry_run:
        entries = history.measure(repository.root, entries, scale, names)
    _show(entries)
    records = [entry.record for entry in entries if entry.record]
    if records and not any(record.status is SetOutcome.MEASURED for record in records):
        raise FormatBenchError(f"no set could be measured; the last one: {records[-1].sentence}")


def _suites(root: Path, chosen: Sequence[str]) -> list[str]:
    known = suite_names(root)
    for name in chosen:
        if name not in known:
            raise click.UsageError(f"there is no suite {name!r}; known: {', '.join(known)}")
    return list(chosen) or known


def _show(entries: Sequence[DayEntry]) -> None:
    to = terminal.console()
    header = ["day", "commit", "packages", *history.MAIN_LIBRARIES, "left out", "outcome"]
    terminal.table(to, "", header, [_row(entry) for entry in entries])
    for entry in entries:
        sentences = [entry.record.sentence] if entry.record and entry.record.sentence else []
        sentences += [] if sentences or not entry.past.reason else [entry.past.reason]
        sentences += [f"left out: {each}: {why}" for each, why in entry.past.left_out.items()]
        for sentence in sentences:
            terminal.prose(to, f"{entry.past.day}: {sentence}", "  ")


def _row(entry: DayEntry) -> list[str]:
    past, versions = entry.past, entry.past.versions
    outcome = (
        entry.record.status if entry.record else SetOutcome.UNRESOLVABLE if past.reason else "resolved"
    )
    facts = [str(len(versions)), *(versions.get(name, "-") for name in history.MAIN_LIBRARIES)]
    return [str(past.day), entry.commit[:8] or "none yet", *facts, str(len(past.left_out)), str(outcome)]
