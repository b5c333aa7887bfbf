"""Results as one file to pass on, without personal facts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from adapter_core.text import visible
from format_bench.bundles.making import made, own_names
from format_bench.cli.options import load_source, measuring_console
from format_bench.results import bundle as bundle_file
from format_bench.results.display.text import plural, quantity
from format_bench.results.records import line

# Records that are shown before the bundle is written; all have the same fields.
SHOWN_RECORDS = 2


@click.command
@click.argument("results")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"Output file, *{bundle_file.SUFFIX}. [default: the name of the results, in this folder]",
)
@click.option(
    "--with-names",
    is_flag=True,
    help="Keep the names of own data, questions, media and places, and reasons that name columns.",
)
@click.pass_obj
def command(obj: dict[str, bool], results: str, out: Path | None, with_names: bool) -> None:  # noqa: FBT001 (a switch)
    """Write results to one file to pass on, without personal facts.

    RESULTS is a folder that `format-bench run` wrote, a file of records, or a folder of asv's results.
    The file has the records, circumstances, noise, a self-check, digests of generated data, and the
    commands. All that identifies you stays out: names of host, user, folders and your own data. What
    the file will contain is shown first; on a terminal you are asked before it is written.

    \b
    Examples:
      format-bench bundle reports/run
      format-bench bundle reports/run --out mine.bundle.gz
      format-bench verify mine.bundle.gz
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    found = load_source(results)
    path = out or Path(f"{found.name.replace(' ', '-').replace('/', '-')}{bundle_file.SUFFIX}")
    if not bundle_file.is_bundle(path):
        raise click.UsageError(f"--out {path}: a bundle is a file *{bundle_file.SUFFIX}")
    shown = measuring_console(quiet=obj["quiet"])
    bundle = made(found, own_names(results), shown.print, with_names=with_names)
    if not obj["quiet"]:
        _show(bundle)
    if sys.stdin.isatty() and not click.confirm(f"Write {path}?", default=True, err=True):
        raise click.Abort
    bundle_file.write(bundle.head, bundle.records, path)
    click.echo(path)
    shown.print(f"{plural(len(bundle.records), 'record')}, {quantity(path.stat().st_size, 'bytes')}")


def _show(bundle: bundle_file.Bundle) -> None:
    """Print all facts of the head, and some records: the others have the same fields."""
    click.echo("This is in the bundle:", err=True)
    click.echo(visible(json.dumps(bundle.head, indent=1, ensure_ascii=False)), err=True)
    click.echo(f"and {plural(len(bundle.records), 'record')}, such as:", err=True)
    for each in bundle.records[:SHOWN_RECORDS]:
        click.echo(visible(line(each).decode()), err=True, nl=False)
    sentences = dict.fromkeys(each.sentence for each in bundle.records if each.sentence)
    click.echo(f"with {plural(len(sentences), 'sentence')}:", err=True)
    for text in sentences:
        click.echo(f"  {visible(text)}", err=True)
