"""Study of object stores: requests, bytes and times of saves and reads on a server of S3."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

import array_stores
import data_formats
from adapter_core import UnknownNameError
from adapter_core.adapter import engine_of
from format_bench.families.elsewhere import measured
from format_bench.network.client import ARRAY, TABLE
from format_bench.network.places import ENDPOINTS, REGIONS, S3, own_place, user_place, users_address
from format_bench.network.trials import (
    ROUND_TRIPS_MS,
    STEPS,
    Setting,
    StepCost,
    Trial,
    adapter_of,
    remote_labels,
    schemes_of,
    shown,
)
from format_bench.results import records
from format_bench.results.display.markdown import table_lines
from format_bench.results.metrics import METRICS
from format_bench.results.records import Record
from format_bench.results.study_rows import RESULTS

_SUITES = {TABLE: "remote", ARRAY: "remote_arrays"}
ARRAY_DATASET = "era5-small"

_MEGA = 1e6
_UNKNOWN = "-"


def address_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--endpoint` and `--region` of an address of S3 to a command."""
    command = click.option(
        "--region",
        envvar=REGIONS,
        default="us-east-1",
        show_default=True,
        help="Region of the bucket, else that of AWS_REGION.",
    )(command)
    return click.option(
        "--endpoint",
        envvar=ENDPOINTS,
        default="",
        help="Address of an S3 server, if it is not Amazon's; else that of AWS_ENDPOINT_URL_S3.",
    )(command)


def trials_of(labels: Sequence[str], rows: int, chunks: int) -> list[Trial]:
    """Return a trial of each table format with a table, and of each array store with an array.

    Parameters
    ----------
    labels : sequence of str
        Labels of adapters, of both families; all that write to object stores if empty.
    rows : int
        Rows of the table `core`.
    chunks : int
        Chunks of the array `era5-small`.

    Raises
    ------
    UnknownNameError
        If an adapter of a label does not exist, or writes to no object store.
    """
    known = [
        Trial(family, label, source)
        for family, source in ((TABLE, f"core:{rows}"), (ARRAY, f"{ARRAY_DATASET}:{chunks}"))
        for label in remote_labels(family)
    ]
    names = dict.fromkeys(each.label for each in known)
    for label in labels:
        if label not in names:
            raise UnknownNameError("format with a writer to object stores", label, names)
    return [each for each in known if not labels or each.label in labels]


def tables(costs: Sequence[StepCost]) -> str:
    """Return a table of costs for each step, in Markdown, and the failures."""
    lines: list[str] = []
    round_trips_ms = sorted({each.round_trip_ms for each in costs})
    for step in STEPS:
        own = [each for each in costs if each.step == step]
        names = list(dict.fromkeys(shown(each.family, each.label) for each in own if not each.error))
        head = ["format", "GET, HEAD", "PUT, POST", "MB up", "MB down", "retries", "CPU s"]
        head += [f"s at {ms:g} ms" for ms in round_trips_ms]
        rows = []
        for name in names:
            at = {
                each.round_trip_ms: each
                for each in own
                if shown(each.family, each.label) == name and not each.error
            }
            first = at[min(at)]
            counts = [_UNKNOWN] * 5
            if first.traffic:
                counts = [
                    *(str(first.traffic.reads), str(first.traffic.writes)),
                    f"{first.traffic.up_bytes / _MEGA:.2f}",
                    f"{first.traffic.down_bytes / _MEGA:.2f}",
                    str(sum(each.traffic.retries for each in at.values() if each.traffic)),
                ]
            times = [f"{at[ms].seconds:.2f}" if ms in at else _UNKNOWN for ms in round_trips_ms]
            rows.append([name, *counts, f"{first.cpu_seconds:.2f}", *times])
        lines += ["", f"### {step.capitalize()}", "", *table_lines(head, rows)]
    failures = [
        f"- {shown(each.family, each.label)}, {each.step} at {each.round_trip_ms:g} ms: {each.error}"
        for each in costs
        if each.error
    ]
    return "\n".join([*lines, *([""] if failures else []), *failures]).strip()


def records_of(cost: StepCost, trial: Trial, place: str, run_id: str) -> Iterator[Record]:
    """Yield the records of a cost, as the suites on object stores have them with `--link`."""
    dataset, _, rows = trial.source.rpartition(":")
    link = Setting(cost.round_trip_ms, cost.mbit)
    for each in measured(cost):
        yield Record(
            suite=_SUITES[cost.family],
            format=cost.label,
            engine=engine_of(cost.label),
            dataset=dataset,
            rows=int(rows),
            columns=0,
            codec=None,
            level=None,
            conditions={"threads": "all", "link": str(link), "place": place},
            metric=each.metric,
            unit=METRICS[each.metric].unit,
            value=each.repeats[0] if each.repeats else None,
            repeats=[*each.repeats],
            interval=None,
            status=each.status,
            sentence=each.sentence,
            run_id=run_id,
        )


def declarations() -> str:
    """Return tables of all adapters by their protocols, or by the reason for which they have none."""
    writers: dict[str, dict[str, list[str]]] = {}
    others: dict[str, dict[str, list[str]]] = {}
    for family, registry in ((TABLE, data_formats), (ARRAY, array_stores)):
        for label in registry.names():
            adapter = adapter_of(family, label)
            schemes = ", ".join(f"`{each}://`" for each in schemes_of(adapter))
            groups, key = (writers, schemes) if schemes else (others, adapter.local_only)
            groups.setdefault(key, {}).setdefault(family, []).append(label)

    def lines(first: str, groups: dict[str, dict[str, list[str]]]) -> list[str]:
        rows = [
            [key, *(", ".join(found.get(family, [])) or _UNKNOWN for family in (TABLE, ARRAY))]
            for key, found in sorted(groups.items())
        ]
        return [*table_lines([first, "table formats", "array stores"], rows, "lll")]

    return "\n".join([*lines("protocols", writers), "", *lines("none, since", others)])


@click.command
@click.argument("labels", nargs=-1, metavar="[FORMAT]...")
@click.option("--rows", type=click.IntRange(1), default=200_000, show_default=True)
@click.option("--chunks", type=click.IntRange(1), default=48, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True)
@click.option("--url", default="", help="Measure in your own bucket: s3://bucket/prefix.")
@address_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the results.")
@click.option(
    "--declarations", "lists", is_flag=True, help="List which adapters do, and why others not."
)
def command(  # noqa: PLR0913, PLR0917 (the options)
    labels: tuple[str, ...],
    rows: int,
    chunks: int,
    repeats: int,
    url: str,
    endpoint: str,
    region: str,
    out: Path | None,
    lists: bool,  # noqa: FBT001 (a switch)
) -> None:
    """Save and read on an object server, at 0 and 20 ms latency.

    Prints requests, bytes and the shortest time of the repeats, and keeps them as records with --out;
    `part` is two columns of the table, or a chunk of the array. The server is built by
    format-bench build object-server.

    With --url, measures in a new folder there, which is removed afterwards. Credentials are those of the
    environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN), or of the profile
    AWS_PROFILE. Requests to an endpoint http:// are counted, and delayed by 20 ms besides the way there;
    those by https:// are neither.

    \b
    Example:
      format-bench study object-stores Parquet Zarr.dir --url s3://my-bucket/tmp --rows 100000
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    if lists:
        click.echo(declarations())
        return
    trials = trials_of(labels, rows, chunks)
    costs: list[StepCost] = []
    run_id = uuid.uuid4().hex
    if out:
        out.mkdir(parents=True, exist_ok=True)
    with user_place(users_address(url, endpoint, region)) if url else own_place() as place:
        round_trips_ms = ROUND_TRIPS_MS if place.proxy else ROUND_TRIPS_MS[:1]
        for trial in trials:
            for cost in trial.costs(place, round_trips_ms, repeats):
                costs.append(cost)
                if out:
                    for each in records_of(cost, trial, url or S3, run_id):
                        records.append(out / RESULTS, each)
            click.echo(shown(trial.family, trial.label), err=True)
    click.echo(tables(costs))
