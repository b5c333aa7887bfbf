"""The command `run --cluster`: its plan, or a table and a report for each kind of machine."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from format_bench.cli import summaries
from format_bench.results.load import RESULTS
from format_bench.runner.cluster_run import plan_lines, session_of
from format_bench.runner.progress import columns_of
from format_bench.runner.session import RunSummary
from format_bench.runner.timing import MeasuredShare

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.results.records import Record
    from format_bench.runner.cluster_ledger import MachineLedger
    from format_bench.runner.plan import RunRequest


@dataclass(frozen=True)
class ClusterOptions:
    """Options of `run` that are about a cluster or the output."""

    where: str
    machines: tuple[str, ...]
    plan_only: bool
    report: bool
    as_json: bool


def run_on_cluster(request: RunRequest, options: ClusterOptions, shown: Console) -> None:
    """Measure on a cluster, or print the plan; results are those of each kind of machine alone.

    Raises
    ------
    FormatBenchError
        If that cannot be, in one line.
    """

    def say(line: str) -> None:
        shown.print(line, soft_wrap=True)

    def on_record(record: Record) -> None:
        if options.as_json:
            click.echo(json.dumps(asdict(record)))

    where, machines = options.where, options.machines
    plan_only = options.plan_only
    with session_of(request, where, machines, say, on_record, plan_only=plan_only) as session:
        if plan_only:
            for line in plan_lines(session):
                click.echo(line)
            return
        try:
            session.measure()
        except BaseException:
            say(f"what is measured is in {request.out / RESULTS}, and the same command goes on")
            raise
    for mark, ledger in sorted(session.ledgers.items()):
        if not options.as_json:
            _show(ledger, request)
        if options.report:
            say(f"report: {summaries.write(request.out, mark)}")


def _show(ledger: MachineLedger, request: RunRequest) -> None:
    """Print the tables of machines of one kind."""
    click.echo(f"machine {ledger.fingerprint}\n")
    columns = columns_of(ledger.cases[0].suite, cold=request.cold)
    found = RunSummary(tuple(ledger.cases), columns, ledger.records, MeasuredShare(()))
    summaries.show(found, request.out)
