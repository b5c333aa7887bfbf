"""List formats, data sets, codecs and suites."""

from __future__ import annotations

import json
from collections.abc import Callable

import click
from rich.table import Table

from format_bench.cli import inventory
from format_bench.display import terminal

WHAT: dict[str, Callable[[], list[inventory.Fact]]] = {
    "formats": inventory.formats,
    "datasets": inventory.datasets,
    "codecs": inventory.codecs,
    "suites": inventory.suites,
}


@click.command("list")
@click.argument("what", type=click.Choice(list(WHAT)), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(what: str | None, as_json: bool) -> None:  # noqa: FBT001 (a switch)
    """List formats, datasets, codecs or suites; all if none is named.

    For each format: available or the reason why not, versions of its libraries, features, and safety of
    reading its files. Losses of formats are in docs/losses.md, and in the results of each run.
    """
    found = {name: rows() for name, rows in WHAT.items() if what in (None, name)}
    if as_json:
        click.echo(json.dumps(found if what is None else found[what], indent=2))
        return
    to = terminal.console()
    for name, rows in found.items():
        shown = Table(title=name, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for position, header in enumerate(rows[0]):
            shown.add_column(header, no_wrap=not position, overflow="fold")
        for row in rows:
            shown.add_row(*(str(value) for value in row.values()))
        to.print(shown)
        to.print()
