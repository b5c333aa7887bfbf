"""Command `python -m format_bench.library_sets`, for the monthly run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

import click

from adapter_core import FormatBenchError
from format_bench.library_sets import environments
from format_bench.library_sets.resolution import REQUIRED, declared, lock, renew
from format_bench.library_sets.sets import message


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def library_sets() -> None:
    """Keep the library set under test."""


_FILE = click.option(
    "--constraints",
    type=click.Path(dir_okay=False, path_type=Path),
    default="constraints.txt",
    show_default=True,
    help="The file of the set, beside setup.py.",
)


@library_sets.command("renew")
@_FILE
@click.option("--exclude-newer", type=click.DateTime(["%Y-%m-%d"]), help="The day to resolve for.")
@click.option("--dry-run", is_flag=True, help="Print the message, and write nothing.")
def command(constraints: Path, exclude_newer: datetime | None, dry_run: bool) -> None:  # noqa: FBT001
    """Resolve the requirements of setup.py for the running Python, and write the set if it has changed.

    Its hashes are written beside it, to the file of suffix .lock. Locks in the folder `environments` are
    renewed too.

    Prints the commit message, whose body lists each change; nothing if no version has changed, so a
    shell script can test `[ -n "$message" ]`.

    \b
    Exit status: 0 done, changed or not; 2 the set does not resolve, or the file cannot be read or
    written: one line on the standard error output gives the reason, and the file is as before.
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    day: date | None = exclude_newer.date() if exclude_newer else None
    month = f"{day or datetime.now(UTC).date():%Y-%m}"
    with _one_line_errors():
        requirements = declared(constraints.absolute().parent)
        changes = renew(constraints.absolute(), requirements, day, dry_run=dry_run)
        if not dry_run:
            changes += environments.renew(requirements[REQUIRED], constraints, day)
    if changes:
        click.echo(message(changes, month), nl=False)
    else:
        click.echo("library_sets: no version has changed", err=True)


@library_sets.command("lock")
@_FILE
def lock_command(constraints: Path) -> None:
    """Write the hashes of the set anew, after its file was edited."""
    with _one_line_errors():
        lock(constraints.absolute())


@library_sets.command("lock-environment")
@click.argument("names", nargs=-1, required=True)
@_FILE
def lock_environment_command(names: tuple[str, ...], constraints: Path) -> None:
    """Resolve the environments of some adapters, by name, and print the versions that change."""
    with _one_line_errors():
        base = declared(constraints.absolute().parent)[REQUIRED]
        for name in names:
            for change in environments.lock(name, base, constraints):
                click.echo(change)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except (FormatBenchError, OSError, ValueError) as error:
        click.echo(f"library_sets: {' '.join(str(error).split())}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    library_sets(prog_name="python -m format_bench.library_sets")
