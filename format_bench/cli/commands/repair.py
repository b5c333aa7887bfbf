"""Repair of damaged results."""

from __future__ import annotations

from pathlib import Path

import click

from adapter_core.text import printable
from format_bench.results import repair
from format_bench.results.display.text import plural
from format_bench.runner import folders

# Dropped lines that are printed; all are in the file.
MOST_LINES = 20


@click.command
@click.argument("results", type=click.Path(exists=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would be dropped, and change nothing.")
def command(results: Path, dry_run: bool) -> None:  # noqa: FBT001 (a switch)
    """Repair damaged results, keeping every good record.

    A power failure, a full disk or another program may leave lines that are not records; reports and
    runs refuse them. Dropped lines go to a file beside the records, with their reasons (.dropped);
    metadata and other JSON files that are damaged get the ending .damaged. Good results stay as they
    are, and so do results of a newer release, which need that release.

    \b
    Examples:
      format-bench repair reports/run --dry-run
      format-bench repair reports/run/results.jsonl
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    files = repair.files_of_records(results)
    with folders.only_run(files[0].parent):
        for path in files:
            _show(repair.repair(path, dry_run=dry_run), dry_run=dry_run)
        aside = repair.set_aside_damaged(results, dry_run=dry_run) if results.is_dir() else []
    for path in aside:
        verb = "would be set aside" if dry_run else "set aside"
        click.echo(printable(f"{path}: damaged, {verb} as {path.name}{repair.DAMAGED}"))
        if path.name == folders.DATA:
            click.echo("whether the next run is of the same data can no longer be checked")


def _show(found: repair.Repair, *, dry_run: bool) -> None:
    records = plural(found.kept, "record")
    if not found.is_needed:
        click.echo(printable(f"{found.path}: {records}, nothing to repair"))
        return
    drop = "would be dropped" if dry_run else "dropped"
    click.echo(printable(f"{found.path}: {records} kept, {plural(len(found.dropped), 'piece')} {drop}"))
    for each in found.dropped[:MOST_LINES]:
        click.echo(f"  line {each.line:,}: {printable(each.reason)}")
    more = len(found.dropped) - MOST_LINES
    if more > 0:
        click.echo(f"  and {more:,} more")
    if found.dropped and not dry_run:
        click.echo(printable(f"they are in {found.path.name}{repair.DROPPED}"))
