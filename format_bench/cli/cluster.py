"""The command `run --cluster`: its plan, or a table and a report for each kind of machine."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from format_bench.cli import summaries
from format_bench.results.display.text import plural
from format_bench.results.load import RESULTS
from format_bench.runner import time_budget
from format_bench.runner.cluster_run import measured, plan_lines, session_of
from format_bench.runner.progress import MeasuredShare, columns_of
from format_bench.runner.session import RunSummary

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.families.cases import Case
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
    """Measure on a cluster, or print the plan; each kind of machine has its own results.

    Raises
    ------
    FormatBenchError
        If that cannot be, in one line.
    """

    def say(line: str) -> None:
        shown.print(line, soft_wrap=True)

    with session_of(
        request,
        options.where,
        options.machines,
        say,
        on_own=lambda own: None if options.as_json else summaries.describe(own),
        on_record=lambda record: click.echo(json.dumps(asdict(record))) if options.as_json else None,
        plan_only=options.plan_only,
    ) as session:
        if options.plan_only:
            for line in plan_lines(session):
                click.echo(line)
            return
        try:
            done = measured(session)
        except BaseException:
            say(f"results so far are in {request.out / RESULTS}; the same command resumes")
            raise
    for mark, ledger in sorted(done.ledgers.items()):
        left = len(ledger.next_rounds())
        if not options.as_json:
            click.echo(f"machine {mark}\n")
            samples = done.run.samples if left else ()
            summaries.show(_summary(ledger, session.run.cases, samples, request), request.out)
        if left:
            say(f"machine {mark}: {plural(left, 'case')} left; the same command resumes")
        if options.report:
            say(f"report: {summaries.write(request.out, mark)}")


def _summary(
    ledger: MachineLedger, cases: tuple[Case, ...], samples: tuple[Case, ...], request: RunRequest
) -> RunSummary:
    """Return the outcome of a run on machines of one kind, with the samples of an unfinished one."""
    asked = request.questions.by_name if request.questions else ()
    columns = columns_of(cases[0].suite, cold=request.cold, questions=asked)
    budget_seconds = request.time_budget_seconds
    not_run = "" if math.isinf(budget_seconds) else time_budget.spent(budget_seconds)
    return RunSummary(cases, columns, ledger.records, MeasuredShare(()), samples, not_run)
