"""Two results side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from adapter_core.errors import UnknownNameError
from format_bench.cli.options import load_source
from format_bench.comparison import compare, output
from format_bench.results import published
from format_bench.results.display.text import joined
from format_bench.studies.declared import kept, study


@click.command
@click.argument("a")
@click.argument("b", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the whole comparison as JSON.")
@click.option(
    "--page",
    "as_page",
    is_flag=True,
    help="Print a page of paper A's findings, judged by B.",
)
@click.pass_context
def command(ctx: click.Context, a: str, b: str | None, as_json: bool, as_page: bool) -> None:  # noqa: FBT001 (switches)
    """Compare two machines, two library sets, or published figures.

    A and B are folders or files of results, or names of published results: thesis, foxbench, qaware. A
    folder of asv's results stands for its newest run; append #MACHINE for the newest run on one machine.

    The output has the ratio B / A of each cell, and whether it is a difference or noise; whether
    formats, and queries, come in the same order in both; and what else differs that may explain it.
    --json adds the intervals of all cells.

    The papers foxbench, qaware, thesis, partial-reads and ipsl also have findings: --page prints them
    with a verdict, as format-bench study does. The last two published no other results. A paper without
    results prints all its claims, and how many of them the manual's own measurements confirm and refute.

    \b
    Examples:
      format-bench compare before after
      format-bench compare thesis reports/run --json
      format-bench compare foxbench reports/foxbench
      format-bench compare ipsl reports/ipsl --page
      format-bench compare qaware
      format-bench compare .asv/quick/results#laptop .asv/quick/results#server
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    a = study.RENAMED.get(a, a) if not Path(a).exists() else a
    if b is None:
        if a not in study.papers():
            papers = joined(study.papers(), most=None)
            raise click.UsageError(f"name the results to compare with {a}; {papers} can be alone")
        click.echo(kept.page(a).markdown(), nl=False)
        return
    if as_page or (a in study.papers() and a not in published.names() and not Path(a).exists()):
        if a not in study.papers():
            raise UnknownNameError("paper", a, study.papers())
        click.echo(study.read(a).page(load_source(b)).markdown(), nl=False)
        return
    one, other = load_source(a), load_source(b)
    if one.name == other.name:
        one, other = replace(one, name=a), replace(other, name=b)
    found = compare(one, other)
    if as_json:
        click.echo(json.dumps(output.to_json(found), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        output.show(found, quiet=ctx.obj["quiet"])
