"""Checks of a bundle from anybody."""

from __future__ import annotations

from pathlib import Path

import click

from adapter_core.errors import InvalidBundleError
from adapter_core.text import printable
from format_bench.bundles.checks import Verdict, check
from format_bench.bundles.rerun import rerun
from format_bench.cli.options import measuring_console
from format_bench.results import bundle as bundle_file
from format_bench.results.display import terminal


@click.command
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option(
    "--rerun",
    "formats",
    type=click.IntRange(3),
    metavar="N",
    help="Also measure N of its formats on this machine, and compare their ranks.",
)
@click.pass_obj
def command(obj: dict[str, bool], bundle: Path, formats: int | None) -> None:
    """Check a bundle of results: data, versions, order, physics, noise.

    BUNDLE is a file that `format-bench bundle` wrote, here or elsewhere. Generated data are made again
    and their digests compared. Nothing of the file is run, and one that is not a bundle, or expands
    beyond the limits, is refused. The exit status is 0 if no check fails, else 2.

    \b
    Examples:
      format-bench verify mine.bundle.gz
      format-bench verify mine.bundle.gz --rerun 5
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    shown = measuring_console(quiet=obj["quiet"])
    found = bundle_file.read(bundle)
    results = check(found, shown.print)
    if formats:
        results.append(rerun(found, formats, shown))
    console = terminal.console()
    for each in results:
        terminal.prose(console, f"{each.name:11}{each.verdict:8} {each.sentence}", indent=" " * 20)
    failed = [each.name for each in results if each.verdict is Verdict.FAILS]
    if failed:
        raise InvalidBundleError(printable(f"{bundle}: {', '.join(failed)} failed"))
