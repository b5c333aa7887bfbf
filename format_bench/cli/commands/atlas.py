"""Bundles of many machines as a static site."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from adapter_core.errors import InvalidResultsError
from adapter_core.text import printable
from format_bench.bundles.atlas.atlas_pages import INDEX, write
from format_bench.bundles.atlas.collection import collect
from format_bench.cli.options import measuring_console
from format_bench.results.display.text import plural


@click.command
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="SITE",
    help="Folder of the site, made if missing.",
)
@click.option("--strict", is_flag=True, help="Write nothing, and fail, if a bundle would be left out.")
@click.pass_obj
def command(obj: dict[str, bool], folder: Path, out: Path, strict: bool) -> None:  # noqa: FBT001 (a switch)
    """Write bundles of many machines as a static site.

    FOLDER has bundles at MACHINE/YYYY-MM/NAME.bundle.gz. One that is damaged, was changed, or has other
    data or versions than it says is left out with the reason. Each data set has a page with the spread
    of each value over machines, pairs of formats that turn around, and facts that these depend on. A
    page opens a bundle of yours beside its numbers, which stays in the browser.

    \b
    Examples:
      format-bench atlas atlas --out build/atlas
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    shown = partial(measuring_console(quiet=obj["quiet"]).print, soft_wrap=True, markup=False)
    columns = collect(folder)
    for path, reason in columns.refused:
        shown(printable(f"left out: {path}: {reason}"))
    if strict and columns.refused:
        number = plural(len(columns.refused), "bundle")
        raise InvalidResultsError(f"{folder}: {number} would be left out")
    write(columns, out, shown)
    click.echo(out / INDEX)
    shown(f"{plural(len(columns.entries), 'bundle')}, {len(columns.refused)} left out")
