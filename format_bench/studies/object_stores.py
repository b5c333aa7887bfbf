"""Study of object stores: requests, bytes and times of saves and reads on a server of S3."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from adapter_core import UnknownNameError
from format_bench.display.markdown import table_lines
from format_bench.object_stores.client import ARRAY, TABLE
from format_bench.object_stores.endpoints import FaultProxy
from format_bench.object_stores.server import ObjectServer
from format_bench.object_stores.trials import (
    ROUND_TRIPS_MS,
    STEPS,
    StepCost,
    StoreTrial,
    remote_labels,
)

_MEGA = 1e6


def trials_of(labels: Sequence[str], rows: int, chunks: int) -> list[StoreTrial]:
    """Return a trial of each table format with a table, and of each array store with an array.

    Parameters
    ----------
    labels : sequence of str
        Labels of adapters; all that write to object stores if empty.
    rows : int
        Rows of the table `core`.
    chunks : int
        Chunks of the array `era5-small`.

    Raises
    ------
    UnknownNameError
        If an adapter of a label does not exist, or writes to no object store.
    """
    known = {
        label: StoreTrial(family, label, source)
        for family, source in ((TABLE, f"core:{rows}"), (ARRAY, f"era5-small:{chunks}"))
        for label in remote_labels(family)
    }
    for label in labels:
        if label not in known:
            raise UnknownNameError("format with a writer to object stores", label, known)
    return [known[label] for label in labels or known]


def tables(costs: Sequence[StepCost]) -> str:
    """Return a table of costs for each step, in Markdown, and the failures."""
    lines: list[str] = []
    for step in STEPS:
        own = [each for each in costs if each.step == step]
        names = list(dict.fromkeys(each.label for each in own if not each.error))
        head = ["format", "GET, HEAD", "PUT, POST", "MB up", "MB down", "retries", "CPU s"]
        head += [f"s at {ms:g} ms" for ms in ROUND_TRIPS_MS]
        rows = []
        for name in names:
            at = {each.round_trip_ms: each for each in own if each.label == name and not each.error}
            first = at[min(at)]
            rows.append(
                [
                    *(name, str(first.reads), str(first.writes)),
                    *(f"{first.up_bytes / _MEGA:.2f}", f"{first.down_bytes / _MEGA:.2f}"),
                    *(str(sum(each.retries for each in at.values())), f"{first.cpu_seconds:.2f}"),
                    *(f"{at[ms].seconds:.2f}" if ms in at else "-" for ms in ROUND_TRIPS_MS),
                ]
            )
        lines += ["", f"### {step.capitalize()}", "", *table_lines(head, rows)]
    failures = [
        f"- {each.label}, {each.step} at {each.round_trip_ms:g} ms: {each.error}"
        for each in costs
        if each.error
    ]
    return "\n".join([*lines, *([""] if failures else []), *failures]).strip()


@click.command
@click.argument("labels", nargs=-1, metavar="[FORMAT]...")
@click.option("--rows", type=click.IntRange(1), default=200_000, show_default=True)
@click.option("--chunks", type=click.IntRange(1), default=48, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True)
def command(labels: tuple[str, ...], rows: int, chunks: int, repeats: int) -> None:
    """Save and read tables and arrays on an object server, at round-trip times of 0 and 20 ms.

    Prints requests, bytes and the shortest time of the repeats; `part` is two columns of the table, or
    a chunk of the array. The server is built by format-bench build object-server.
    """
    costs: list[StepCost] = []
    with (
        TemporaryDirectory() as folder,
        ObjectServer(Path(folder)) as server,
        FaultProxy(server.port) as proxy,
    ):
        for trial in trials_of(labels, rows, chunks):
            costs += trial.costs(server, proxy, repeats=repeats)
            click.echo(trial.label, err=True)
    click.echo(tables(costs))
