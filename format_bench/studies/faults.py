"""Study of faults of object stores: the end of a save, its leftovers, and the result of a read."""

from __future__ import annotations

from collections.abc import Sequence

import click

from format_bench.network import object_server as server
from format_bench.network.faults import FAULTS, FaultResult, Found, Saved, fault_results
from format_bench.network.trials import shown
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import plural
from format_bench.studies.object_stores import trials_of


def table(results: Sequence[FaultResult]) -> str:
    """Return a table in Markdown, a row for each adapter and a column for each fault."""
    found = {(shown(each.family, each.label), each.fault): each for each in results}
    labels = dict.fromkeys(shown(each.family, each.label) for each in results)
    rows = [[label, *(_cell(found.get((label, fault))) for fault in FAULTS)] for label in labels]
    return "\n".join(table_lines(["format", *FAULTS], rows))


def _cell(result: FaultResult | None) -> str:
    if result is None or result.saved is Saved.UNTRIED:
        return "unavailable"
    counts = [(result.objects, "object"), (result.uploads, "upload")]
    left = " + ".join(plural(number, noun) for number, noun in counts if number)
    reader = "**partial taken for whole**" if result.found is Found.PARTIAL else result.found
    noun = "retry" if result.retries == 1 else "retries"
    retries = f", {result.retries} {noun}" if result.retries else ""
    remains = f" ({left})" if left else ""
    return f"{result.saved}, {result.seconds:.1f} s{retries}; {reader}{remains}"


def errors(results: Sequence[FaultResult]) -> str:
    """Return the sentences of the saves that failed, as a list in Markdown."""
    return "\n".join(
        f"- {shown(each.family, each.label)}, {each.fault}: {each.sentence}"
        for each in results
        if each.saved not in {Saved.DONE, Saved.KILLED}
    )


@click.command
@click.argument("labels", nargs=-1, metavar="[FORMAT]...")
@click.option("--rows", type=click.IntRange(1), default=20_000, show_default=True)
@click.option("--chunks", type=click.IntRange(1), default=16, show_default=True)
@click.option("--sentences", is_flag=True, help="Print the error of each save besides.")
def command(labels: tuple[str, ...], rows: int, chunks: int, sentences: bool) -> None:  # noqa: FBT001 (a switch)
    """Break saves to an object store in their middle, and read afterwards.

    Each cell has the end of the save, its time and the number of requests that were sent again; then
    what a reader without faults finds: the whole, nothing (absent), an error (refused), or a part that
    it takes for the whole. In brackets is what is left: objects, and incomplete uploads. Libraries may
    send each request four times.
    """
    results: list[FaultResult] = []
    kind = server.REAL if server.availability() else server.STAND_IN
    for trial in trials_of(labels, rows, chunks):
        results += fault_results(trial, kind)
        click.echo(shown(trial.family, trial.label), err=True)
    click.echo(table(results))
    if sentences:
        click.echo(f"\n{errors(results)}")
