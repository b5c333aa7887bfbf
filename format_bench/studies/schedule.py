"""Study of the dispatcher of clusters: a simulated run of thousands of cells with failures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from adapter_core.errors import ClusterError
from format_bench.clusters.simulation import Setting, Simulation
from format_bench.results.display.markdown import table_lines

if TYPE_CHECKING:
    from format_bench.clusters.simulation import Outcome


def lines(setting: Setting, outcome: Outcome) -> Iterator[str]:
    """Yield the lines of a Markdown table of what happened in a simulated run."""
    hosts = setting.workers - setting.shared_hosts
    rows = [
        ("cells", setting.cases * setting.rounds * setting.machines),
        ("workers", setting.workers),
        ("hosts", hosts),
        ("kinds of machines", setting.machines),
        ("workers that died while they measured", outcome.deaths),
        ("workers that could not measure", outcome.broken),
        ("slow cells", outcome.slow),
        ("cells given to another worker", outcome.requeued),
        ("kills of the client", outcome.client_kills),
        ("results kept for a killed client", outcome.kept),
        ("cells that outlived a client and were adopted", outcome.adopted),
        ("**recorded**", outcome.recorded),
        ("**failed, since every worker died of them**", outcome.abandoned),
        ("**later rounds of failed cells, left out**", outcome.left_out),
        ("**lost**", outcome.lost),
        ("**finished twice**", outcome.measured_twice),
        ("**violations of the rules**", len(outcome.wrong)),
        ("simulated hours", f"{outcome.simulated_seconds / 3600:.2f}"),
        ("share of the hosts' time in cells", f"{_share(hosts, outcome):.2f}"),
    ]
    yield from table_lines(["of a simulated run", ""], [[name, _text(value)] for name, value in rows])


def _share(hosts: int, outcome: Outcome) -> float:
    return outcome.busy_seconds / (hosts * outcome.simulated_seconds)


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


@click.command
@click.option("--cells", type=click.IntRange(8), default=Setting.cells, show_default=True)
@click.option("--workers", type=click.IntRange(10), default=Setting.workers, show_default=True)
@click.option("--seed", type=int, default=Setting.seed, show_default=True)
def command(cells: int, workers: int, seed: int) -> None:
    """Simulate a run on a cluster whose workers die, by the dispatcher of real runs.

    Prints a Markdown table. There are two kinds of machines, and every tenth worker shares a host.
    2 % of the cells kill their worker, 3 % are slow, two cases kill every worker, and the client is
    killed four times. Times are simulated.

    \b
    Example:
      format-bench study schedule --cells 10000 --workers 500
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    setting = Setting(cells=cells, workers=workers, shared_hosts=workers // 10, seed=seed)
    start = time.process_time()
    outcome = Simulation(setting).run()
    click.echo("\n".join(lines(setting, outcome)))
    seconds = time.process_time() - start
    click.echo(f"\n{outcome.events:,} events in {seconds:.1f} seconds of CPU time.", err=True)
    if outcome.wrong or outcome.lost or outcome.measured_twice:
        what = "; ".join(outcome.wrong[:3]) or "cells were lost, or finished twice"
        raise ClusterError(f"the dispatcher broke its rules: {what}")
