"""Run on a cluster, from the request to the records, and its plan: cells, workers and expected hours."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidRequestError
from format_bench.clusters.connection import connect
from format_bench.display.text import plural
from format_bench.metadata.fingerprint import described
from format_bench.results.load import RESULTS
from format_bench.runner import cluster_log, folders
from format_bench.runner.cluster_ledger import ClusterRun, MachineLedger
from format_bench.runner.cluster_session import ClusterSession
from format_bench.runner.plan import RunRequest, plan, steps_of
from format_bench.runner.session import limits_of
from format_bench.runner.timing import in_words

if TYPE_CHECKING:
    from format_bench.results.records import Record


@contextmanager
def session_of(  # noqa: PLR0913 (a request, a cluster, and who follows the run)
    request: RunRequest,
    where: str,
    machines: tuple[str, ...],
    say: Callable[[str], None],
    on_record: Callable[[Record], None] = lambda _: None,
    *,
    plan_only: bool = False,
) -> Iterator[ClusterSession]:
    """Give the session of a request on a cluster; the folder of results is locked for as long.

    Parameters
    ----------
    request : RunRequest
        The run as the user asks for it. Its scratch folder is one of the workers.
    where : str
        The cluster, as `format_bench.clusters.connection.connect` takes it.
    machines : tuple of str
        Beginnings of the fingerprints of machines that take part; none for all.
    say : callable
        Called with lines on the progress.
    on_record : callable
        Called with each record when it is on disk.
    plan_only : bool
        Leave the folder of results as it is.

    Raises
    ------
    FormatBenchError
        If that cannot be, in one line.
    """
    if request.user_data is not None:
        raise InvalidRequestError("--data with --cluster: workers generate their data; name --datasets")
    if plan_only and request.fresh:
        raise InvalidRequestError("--plan with --fresh: a plan discards nothing")
    if request.media:
        raise InvalidRequestError(
            "--cluster takes one --scratch without a name, a folder of the workers"
        )
    if not math.isinf(request.time_budget_seconds):
        raise InvalidRequestError("--time-budget with --cluster: there is none; end the run with Ctrl-C")
    made = plan(request)
    for sentence in made.left_out:
        say(f"left out: {sentence}")
    steps = frozenset(steps_of(request, made.cases))
    out, limits = request.out, limits_of(request)

    def session(run_id: str) -> ClusterSession:
        run = ClusterRun(run_id, made.cases, limits, steps, out, request.scratch, machines)
        return ClusterSession(client, run, say, on_record)

    with connect(where) as client:
        if plan_only:
            is_new = not (out / RESULTS).exists() and not (out / folders.CLUSTER_ID).exists()
            yield session("plan" if is_new else folders.cluster_id(out))
            return
        # Only now: --fresh must not remove results for a cluster that does not answer.
        folders.open_results(out, fresh=request.fresh)
        with folders.only_run(out):
            yield session(folders.cluster_id(out))


def plan_lines(session: ClusterSession) -> Iterator[str]:
    """Yield the lines of the plan of a run: the cells left on each kind of machine, and their duration.

    The expected time is that of the log of earlier runs in the folder: the cells that have been
    measured there, on machines of the same kind or else of any, divided by the hosts. Data are not
    generated, and nothing is measured.
    """
    session.describe_all()
    run, roster = session.run, session.roster
    hosts = roster.hosts_by_machine
    rounds = run.limits.rounds
    cases, cells = plural(len(run.cases), "case"), plural(len(run.cases) * rounds, "cell")
    yield f"{cases} in {plural(rounds, 'round')}, {cells} on each kind of machine"
    known = cluster_log.measured_seconds(run.out / folders.CLUSTER_LOG)
    for mark, workers in sorted(roster.workers_by_machine.items()):
        ledger, what = session.ledgers[mark], described(roster.descriptions[mark].metadata)
        yield f"machine {mark}: {what}; {_on(workers, hosts[mark])}"
        yield f"  {expected(ledger, rounds, known, hosts[mark])}"
    for address, reason in roster.left_out.items():
        yield f"left out: {address}: {reason}"


def expected(
    ledger: MachineLedger,
    rounds: int,
    known: Mapping[tuple[str, str], list[float]],
    hosts: int,
) -> str:
    """Return how many cells are left on machines of one kind, and how long they are expected to take.

    Parameters
    ----------
    ledger : MachineLedger
        Records measured there.
    rounds : int
        Rounds of each case.
    known : mapping
        As `cluster_log.measured_seconds` returns them.
    hosts : int
        Number of such machines.
    """
    seconds, unknown, cells = 0.0, 0, 0
    for case, number in ledger.next_rounds().items():
        times = rounds - number + 1
        cells += times
        name = cluster_log.name_of(asdict(ledger.cases[case]))
        samples = known.get((ledger.fingerprint, name)) or known.get(("", name))
        if samples:
            seconds += times * statistics.fmean(samples)
        else:
            unknown += times
    text = f"{plural(cells, 'cell')} left"
    if seconds:
        text += (
            f"; {in_words(seconds)} of measuring, {in_words(seconds / hosts)} on {plural(hosts, 'host')}"
        )
    return text + (f"; never measured here: {plural(unknown, 'cell')}" if unknown else "")


def _on(workers: int, hosts: int) -> str:
    return f"{plural(workers, 'worker')} on {plural(hosts, 'host')}"
