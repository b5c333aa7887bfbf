"""What there is to measure."""

from __future__ import annotations

import click


@click.command("list")
def command() -> None:
    """List formats, data sets, codecs and suites."""
