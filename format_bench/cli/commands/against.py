"""Two versions of one library side by side, for its makers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adapter_core import FormatBenchError
from adapter_core.files import write_atomically
from format_bench.cli.help import Section, SectionedCommand
from format_bench.cli.options import (
    Names,
    codec_names,
    dataset_names,
    format_names,
    measuring_console,
    step_names,
)
from format_bench.library_sets.replacement import Replacement
from format_bench.results.suites import FAMILIES, SUITES
from format_bench.runner.plan import RunRequest

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.changes.against.turns import Comparison

# Rounds of a comparison: with six, one may be disturbed, and the others still show a change.
ROUNDS = 6

# Beside bad input (2) and defects of this program (1), which a workflow has to tell from a change.
CHANGED = 3


@click.command(cls=SectionedCommand)
@Section.WHAT.option("--wheel", metavar="FILE", help="The later version: a wheel that you have built.")
@Section.WHAT.option("--requirement", help="The later version, from the index, e.g. pyarrow==25.0.0.")
@Section.WHAT.option(
    "--with",
    "other",
    metavar="VERSION",
    help="The earlier version: a requirement or a wheel. [default: the one that is installed here]",
)
@Section.WHAT.option(
    "--index", metavar="URL", help="A further package index, e.g. of nightly builds; pre-releases count."
)
@Section.WHAT.option(
    "--suite",
    type=click.Choice(list(SUITES)),
    help="Suite. [default: the first of the library's formats]",
)
@Section.WHAT.option(
    "--formats",
    type=Names(format_names),
    default=(),
    help="Formats, separated by commas. [default: the usual ones that require the library]",
)
@Section.WHAT.option("--datasets", type=Names(dataset_names), default=(), help="Data sets.")
@Section.WHAT.option("--rows", type=click.IntRange(1), help="Rows, or images. [default: the suite's]")
@Section.WHAT.option("--codecs", type=Names(codec_names), default=(), help="Codecs, e.g. none,zstd:3.")
@Section.WHAT.option("--steps", type=Names(step_names), default=(), help="Steps, e.g. save,read.")
@Section.WHAT.option(
    "--script",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Compare a script of yours instead, which prints lines such as 'read time: 0.0123 seconds'.",
)
@Section.HOW.option(
    "--rounds",
    # `FEWEST_ROUNDS` of the verdicts, whose module imports NumPy.
    type=click.IntRange(3),
    default=ROUNDS,
    show_default=True,
    help="Times that each step is made with either version, in turn.",
)
@Section.HOW.option("--cold", is_flag=True, help="Also read cold files.")
@Section.OUTPUT.option(
    "--out",
    type=click.Path(path_type=Path),
    default="reports/against",
    show_default=True,
    help="Folder for the results; cells already in it are not measured again.",
)
@Section.OUTPUT.option(
    "--bisect",
    "bisects",
    is_flag=True,
    help="Reduce the largest change to a script without FormatBench, find the release, draft an issue.",
)
@Section.OUTPUT.option(
    "--fail-on-change", is_flag=True, help=f"End with status {CHANGED} if a cell got worse beyond noise."
)
@click.pass_obj
def command(obj: dict[str, bool], /, **options: Any) -> None:
    """Compare two versions of a library, measured in turn.

    Each version is installed by uv beside this environment, with all other packages as they are here
    where it can have them. Both are measured in turn, round by round, in fresh processes. The standard
    output is a Markdown table for a pull request: each cell with its ratio, interval and verdict.

    With --fail-on-change the exit status is 3 if a cell got worse beyond noise, and 0 if none did;
    without it, 0 in both cases. Nothing is sent anywhere.

    \b
    Examples:
      format-bench against --requirement pyarrow==25.0.0 --with pyarrow==24.0.0
      format-bench against --wheel dist/zarr-3.2.0-py3-none-any.whl --fail-on-change
      format-bench against --requirement pyarrow==25.0.0 --formats Parquet --rows 1000 --bisect
      format-bench against --requirement zarr==3.1.6 --with zarr==2.18.7 --script chunks.py
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    from format_bench.changes.against import drafts

    wheel, requirement = options["wheel"], options["requirement"]
    if (wheel is None) == (requirement is None):
        raise click.UsageError("name the later version by either --wheel or --requirement")
    if wheel is not None and not wheel.endswith(".whl"):
        raise click.UsageError(f"--wheel {wheel}: the name of a wheel ends with .whl")
    after = Replacement.parse(wheel or requirement)
    other = options["other"]
    before = Replacement.installed(after.package) if other is None else Replacement.parse(other)
    shown = measuring_console(quiet=obj["quiet"])
    if options["script"] is not None:
        found, further = _of_script(before, after, options), list[str]()
    else:
        found, further = _of_cells(before, after, options, shown)
    text = drafts.pull_request(found, options["rounds"])
    _write(options["out"] / "against.md", text)
    click.echo(text, nl=False)
    if options["bisects"]:
        _find_cause(found, further, options, shown)
    if options["fail_on_change"] and any(each.is_worse for each in found.pairs):
        click.get_current_context().exit(CHANGED)


def _of_script(before: Replacement, after: Replacement, options: dict[str, Any]) -> Comparison:
    from format_bench.changes.against import scripts
    from format_bench.changes.against.turns import Comparison, install_both

    sides = install_both(before, after, (), options["index"])
    script = options["script"].absolute()
    return Comparison(*sides, scripts.compare(script, sides, options["rounds"]))


def _of_cells(
    before: Replacement, after: Replacement, options: dict[str, Any], shown: Console
) -> tuple[Comparison, list[str]]:
    """Return the comparison of cells, and the requirements of their formats."""
    from format_bench.changes.against import turns

    request = turns.with_formats(
        RunRequest(
            suite=options["suite"],
            formats=options["formats"],
            datasets=options["datasets"],
            rows=options["rows"],
            codecs=options["codecs"],
            steps=options["steps"],
            cold=options["cold"],
            out=options["out"],
        ),
        after.package,
    )
    further = turns.requirements(request.formats, FAMILIES[SUITES[request.suite or ""].family])
    with shown.status(f"installing two versions of {after.package}"):
        sides = turns.install_both(before, after, further, options["index"])
    return turns.compare_sets(request, *sides, options["rounds"], shown), further


def _find_cause(found: Comparison, further: list[str], options: dict[str, Any], shown: Console) -> None:
    """Write the script, its data and the draft of an issue beside the results."""
    from format_bench.changes.against import cause, drafts

    def say(sentence: str) -> None:
        shown.print(sentence, soft_wrap=True)

    if not found.changed:
        say("nothing changed, so that there is no cause to find")
        return
    sides, place, index = (found.before, found.after), options["out"] / "cause", options["index"]
    try:
        if options["script"] is None:
            alone = cause.reduce(found.changed, sides, place, options["rounds"], say)
        else:
            alone = cause.Shown(options["script"].absolute(), found.changed[0].after, found.changed[0])
    except FormatBenchError as error:
        say(f"no cause was found: {error}")
        return
    culprit = None
    try:
        culprit = cause.find_release(alone, sides, further, index, say)
    except FormatBenchError as error:
        say(f"the releases between are not known: {error}")
    _write(place / "issue.md", drafts.issue(alone, sides, culprit))
    say(f"a draft of an issue, which is not sent: {place / 'issue.md'}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
