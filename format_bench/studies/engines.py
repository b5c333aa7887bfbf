"""Study of engines: the page docs/engines.md, from results."""

from __future__ import annotations

from pathlib import Path

import click

from format_bench.recommendation.engines import page
from format_bench.results.load import load


@click.command
@click.argument("results", type=click.Path(path_type=Path))
def command(results: Path) -> None:
    """Recommend an engine for each format.

    RESULTS is a folder or file of results with several engines of a format. Prints a Markdown page.

    \b
    Example:
      format-bench study engines .asv/quick/report > docs/engines.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(page(load(results)), nl=False)
