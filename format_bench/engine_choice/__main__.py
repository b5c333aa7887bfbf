"""Prints the page, of results in a folder or a file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from adapter_core.errors import FormatBenchError
from format_bench.engine_choice.page import page
from format_bench.results.load import load


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("results", type=click.Path(path_type=Path))
def main(results: Path) -> None:
    """Say which engine to take for which format, by RESULTS of several engines of a format."""
    try:
        text = page(load(results))
    except FormatBenchError as error:
        click.echo(f"engine_choice: {error}", err=True)
        sys.exit(2)
    click.echo(text, nl=False)


if __name__ == "__main__":
    main(prog_name="python -m format_bench.engine_choice")
